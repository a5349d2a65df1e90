"""A page about results: findings, tables, charts, examples of errors, provenance. It reads `results` only."""
