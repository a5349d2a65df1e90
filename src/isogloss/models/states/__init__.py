"""Hidden states of every layer, pooled over sentences or words."""
