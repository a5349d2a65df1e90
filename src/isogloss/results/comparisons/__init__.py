"""Differences to the reference, significance tests, means over targets."""
