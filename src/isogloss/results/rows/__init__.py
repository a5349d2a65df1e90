"""Results as rows: scores, curves, distances, and the files that hold them."""
