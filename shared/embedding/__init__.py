"""Embedders behind one protocol: bundled offline default, OpenAI-compatible HTTP, Ollama, hashing."""
