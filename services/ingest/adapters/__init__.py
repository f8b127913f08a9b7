"""Adapters of the ingest service, by technology."""
