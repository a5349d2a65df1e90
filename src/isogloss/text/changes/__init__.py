"""Text changes: corpus → corpus, annotation kept."""
