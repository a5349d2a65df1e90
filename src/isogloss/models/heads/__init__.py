"""Task heads on a model's body."""
