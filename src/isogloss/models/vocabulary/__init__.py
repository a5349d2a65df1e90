"""Vocabulary extension: new sub-words and their embeddings."""
