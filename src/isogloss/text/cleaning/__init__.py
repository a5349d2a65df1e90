"""Cleaning of raw text and language identification."""
