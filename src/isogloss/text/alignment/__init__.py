"""Word alignment: eflomal, similarity links, symmetrisation, scores."""
