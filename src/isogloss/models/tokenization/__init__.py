"""Text as token ids: encoding, batches, tokenizer training and statistics."""
