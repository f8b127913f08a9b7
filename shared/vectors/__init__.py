"""Vectors in Qdrant: one port, adapters for a server and for the in-process engine, BM25 for both."""
