"""Unit tests of the vector store's parts."""
