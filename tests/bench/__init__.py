"""How fast and how big the product is: `python -m tests.bench`, never part of the suite.

Drives a whole stack (`citebus up`, a process of its own) from outside, over NATS and through the watched folder.
"""
