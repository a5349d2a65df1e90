"""One training loop, and what is done with it: fine-tuning, transfer, search over settings."""
