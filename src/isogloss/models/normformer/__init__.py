"""Post-LN, pre-LN and NormFormer networks of one family."""
