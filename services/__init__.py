"""The services of citebus; each is independent of the others."""
