"""Languages: their codes, scripts and families, and which models were pretrained on them."""
