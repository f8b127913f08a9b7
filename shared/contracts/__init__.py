"""Messages on the bus: what their fields mean, with units and bounds. Pydantic and the standard library only."""
