"""Errors, files, hashes, names, seeds: what every other package uses. Imports no other package of isogloss."""
