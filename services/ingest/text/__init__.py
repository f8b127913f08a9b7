"""From bytes to chunks and links: pure."""
