"""Text with its annotation: kinds of corpora, file formats, the Hugging Face hub, and the artificial languages."""
