"""Transliteration: one file per script, each a `Scheme` made of tables and rules."""
