"""Stages computed by workers on a backend, with a store behind them."""
