"""Adapters of the chat port: one wire format per module, and one conduct (time, size, usage, errors) for all."""
