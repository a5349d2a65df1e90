"""The laboratory: artificial languages generated from one meaning grammar, where every answer is known."""

LABORATORY_VERSION = 1  # raised when the same seed gives other items
