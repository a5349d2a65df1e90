"""Cross-lingual adjustment on word-aligned bitext, and its replay during fine-tuning."""
