"""Tests of the ingest service on fakes."""
