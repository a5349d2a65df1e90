"""Changes of text and links between texts: corpus in, corpus out."""
