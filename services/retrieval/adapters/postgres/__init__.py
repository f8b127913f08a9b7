"""Live pages, read from Postgres."""
