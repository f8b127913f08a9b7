"""How well a text answers a query, judged by a model that reads both together."""
