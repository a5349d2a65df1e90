"""Checks of a planned study before anything is computed: its corpora, its budgets, its models."""
