"""Model families: where each keeps its blocks, norms and embeddings. A new family is one entry of `table.py`."""
