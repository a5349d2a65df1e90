"""Bottleneck adapters and LoRA: modules, placement, files."""
