"""Transliteration: one module per script, each with a `Scheme` of tables and rules."""
