"""Masked and causal language modelling: pretraining and adaptation."""
