"""How good retrieval is, measured on judged question sets over the bus, as any client sees it."""
