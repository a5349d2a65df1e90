"""Differences to the baseline, tests of significance, means over targets."""
