"""Turns and grounding pages in Postgres."""
