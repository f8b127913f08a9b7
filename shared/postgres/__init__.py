"""Postgres, the one authority on what is live: migrations as SQL files, and pools."""
