"""Tables as text cells, their formats and colours."""
