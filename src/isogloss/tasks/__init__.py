"""How a corpus becomes a loss, a prediction and a score: one file per task."""
