"""How well a model serves a language it did not see in pretraining, and what improves it."""
