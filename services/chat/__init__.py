"""Streams answers with citations beside the text, and keeps conversations."""
