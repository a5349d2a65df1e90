"""Any Hugging Face text model: its files, its family, its placement on devices."""
