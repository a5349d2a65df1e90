"""Fine-tuning on a task, zero-shot evaluation, transfer."""
