"""Interventions: model → model, applied before fine-tuning or evaluation."""
