"""Model FLOP utilisation: the share of a GPU's peak arithmetic that training uses."""

from __future__ import annotations

import torch

from isogloss.models.loading.loaded_model import LoadedModel

# bf16 matrix operations per second without sparsity, by the vendor's data sheets
PEAK_FLOPS = {"H200": 989e12, "H100": 989e12, "A100": 312e12, "L40S": 362e12, "L4": 121e12, "4090": 165e12, "T4": 65e12}


def flops_per_token(model: LoadedModel, length: int, predicted_share: float) -> float:
    """Operations of a training step per token read, the backward pass twice the forward pass.

    Two for each weight of a block's matrices, `4·length·width` for attention, and two for each weight of the head
    for the share of tokens that is predicted. Norms, embeddings and the like are not counted, as is usual.
    """
    blocks = sum(p.numel() for block in model.blocks for p in block.parameters() if p.ndim == 2)
    vocabulary = model.network.get_output_embeddings().get_parameter("weight").numel()
    forward = 2 * blocks + 4 * model.layers * length * model.hidden_size + 2 * vocabulary * predicted_share
    return 3 * float(forward)


def peak_flops(device: torch.device) -> float | None:
    """Peak operations per second of a known GPU."""
    if device.type != "cuda":
        return None
    name = torch.cuda.get_device_name(device)
    return next((peak for mark, peak in PEAK_FLOPS.items() if mark in name), None)
