"""Tables for people: cells, formats, colours."""
