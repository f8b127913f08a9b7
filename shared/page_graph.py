"""What ingest, which keeps the page graph (table `edges`), and retrieval, which walks it, must agree on (DESIGN §6)."""

from __future__ import annotations

LINK_WEIGHT = 3.0
"""Of a direct link, per direction. Retrieval counts links of pages whose edges are not settled yet by itself."""

DEGREE_LIMIT = 64
"""A page with more linked pages than this lists others: that two pages are both in the list says little."""

GENERATED_STEMS = ("index", "log", "overview")
"""File stems of pages that tools write to list others."""
