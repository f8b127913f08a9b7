"""Answers searches in a vault with passages and citations; reads Postgres and the vector store, writes nothing."""
