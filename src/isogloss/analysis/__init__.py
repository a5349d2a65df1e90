"""What is measured of models and of results: similarity by layer, word distances, alignment, gap prediction."""
