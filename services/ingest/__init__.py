"""The ingest service: watcher, worker and embedder, from a saved file to searchable chunks."""
