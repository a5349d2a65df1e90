"""Scores as counts that add with `+`, and what differences between scores mean. Fractions from 0 to 1."""
