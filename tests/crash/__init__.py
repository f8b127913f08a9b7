"""Real processes, killed at random."""
