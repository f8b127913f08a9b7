"""Ways to find chunks: dense, sparse, both fused, and one that falls back to another."""
