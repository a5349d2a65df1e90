"""Charts of curves, scores and distances."""
