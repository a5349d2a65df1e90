"""The laboratory: artificial languages generated from one meaning grammar, where every answer is known."""
