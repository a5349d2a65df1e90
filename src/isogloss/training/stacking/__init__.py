"""Stacked training: several networks of one shape trained as one."""
