"""Pretrained models: loading them, what their layers hold, and changing them."""
