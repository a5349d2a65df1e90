"""Interventions (model → model). A new one is one file here, whose function returns an `Intervention`."""
