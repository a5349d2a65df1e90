"""The training engine: one loop, one step, one checkpoint format."""
