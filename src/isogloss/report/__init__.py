"""A page about results: what was found, tables, charts, examples, and how it all was made. It reads `results` only."""
