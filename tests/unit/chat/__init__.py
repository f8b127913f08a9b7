"""The chat service, in parts."""
