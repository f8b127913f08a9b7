"""Chat providers on loopback: real HTTP, the wire formats of OpenAI, Anthropic and Ollama, and faults by script."""
