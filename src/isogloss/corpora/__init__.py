"""Text with its annotation: one module per file format, and the laboratory's artificial languages."""
