"""What answering reaches the outside with: NATS and Postgres."""
