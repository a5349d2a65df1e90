"""Scores as counts that add with `+`, and significance tests of their differences. Scores are between 0 and 1."""
