"""The family of a network: from the registry, or inferred from its modules if it is not listed.

For an unlisted family the block list is the only list of identical modules that is as long as the configuration says.
The parts of a block stay unknown.
"""

from __future__ import annotations

from torch import nn
from transformers import PreTrainedModel
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING, MODEL_FOR_MASKED_LM_MAPPING

from isogloss.core.errors import UsageError
from isogloss.models.families import FAMILIES
from isogloss.models.families.family import Family


def family_of(body: PreTrainedModel) -> Family:
    """The family of a text stack: from the list, or inferred from its modules."""
    model_type = body.config.model_type
    return FAMILIES[model_type].for_config(body.config) if model_type in FAMILIES else discover_family(body)


def discover_family(body: PreTrainedModel) -> Family:
    """The declaration of an unlisted family: blocks, final norm, embeddings and direction of attention."""
    config = body.config
    blocks = _block_list(body, getattr(config, "num_hidden_layers", None), str(config.model_type))
    prefix = blocks.rpartition(".")[0]
    norms = [
        name
        for name, module in body.get_submodule(prefix).named_children()
        if "norm" in type(module).__name__.lower() and "emb" not in name
    ]
    if len(norms) > 1:
        raise UsageError(_unknown_layout(config.model_type, f"its final norm may be any of {', '.join(norms)}"))
    masked, causal = type(config) in MODEL_FOR_MASKED_LM_MAPPING, type(config) in MODEL_FOR_CAUSAL_LM_MAPPING
    encoder_decoder = bool(getattr(config, "is_encoder_decoder", False))
    return Family(
        blocks=blocks,
        final_norm=".".join(filter(None, (prefix, norms[0]))) if norms else None,
        embeddings=next(name for name, module in body.named_modules() if module is body.get_input_embeddings()),
        causal=causal and not masked and not encoder_decoder,
        encoder_decoder=encoder_decoder,
    )


def _block_list(body: nn.Module, layers: int | None, model_type: str) -> str:
    """The name of the only outermost list of `layers` modules of one class."""
    sizes: dict[str, int] = {}
    for name, module in body.named_modules():
        nested = any(name.startswith(outer + ".") for outer in sizes)
        if isinstance(module, nn.ModuleList) and len({type(block) for block in module}) == 1 and not nested:
            sizes[name] = len(module)
    candidates = [name for name, size in sizes.items() if size == layers]
    if len(candidates) == 1:
        return candidates[0]
    lists = ", ".join(f"{name} of {size}" for name, size in sizes.items()) or "none"
    raise UsageError(_unknown_layout(model_type, f"expected one list of {layers} blocks, found {lists}"))


def _unknown_layout(model_type: str, reason: str) -> str:
    return f"the model family '{model_type}' is not in models/families and cannot be inferred: {reason}"
