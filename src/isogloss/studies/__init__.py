"""Experiments as files: a grid of runs is planned, done once, kept in a store and read back as results."""
