"""Where a model family keeps its blocks, norms and embeddings: one entry per family, no model code of ours.

All paths are sub-module names of the text stack (`LoadedModel.body`) or, for the parts of a block, of one
block. `attention`, `feed_forward` and `norms` together hold every parameter of a block. A family that is not
listed is explored: its block list is the one list of like modules as long as the configuration says.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from isogloss.core.errors import UsageError

if TYPE_CHECKING:  # listing the families loads no torch
    from torch import nn


@dataclass(frozen=True)
class Family:
    """How one family is built.

    A family with a `final_norm` is pre-LN: its last block's output is not normalised until that norm.
    `bos`: prepend the BOS token where the tokenizer does not, because the model was trained with it.
    `padded_positions`: positions count from the padding id + 1, which shortens the longest input.
    `max_length`: the length seen in training, for families without a position table.
    """

    blocks: str
    final_norm: str | None
    embeddings: str
    causal: bool = False
    attention: tuple[str, ...] = ()
    feed_forward: tuple[str, ...] = ()
    norms: tuple[str, ...] = ()
    bos: bool = False
    padded_positions: bool = False
    max_length: int | None = None


BERT = Family(
    blocks="encoder.layer",
    final_norm=None,
    embeddings="embeddings",
    attention=("attention.self", "attention.output.dense"),
    feed_forward=("intermediate", "output.dense"),
    norms=("attention.output.LayerNorm", "output.LayerNorm"),
)
XLM_R = replace(BERT, padded_positions=True)
XLM_R_XL = Family(
    blocks="encoder.layer",
    final_norm="encoder.LayerNorm",
    embeddings="embeddings",
    attention=("attention.self", "attention.output"),
    feed_forward=("intermediate", "output"),
    norms=("attention.self_attn_layer_norm", "LayerNorm"),
    padded_positions=True,
)
XGLM = Family(
    blocks="layers",
    final_norm="layer_norm",
    embeddings="embed_tokens",
    causal=True,
    attention=("self_attn",),
    feed_forward=("fc1", "fc2"),
    norms=("self_attn_layer_norm", "final_layer_norm"),
)
T5_ENCODER = Family(
    blocks="encoder.block",
    final_norm="encoder.final_layer_norm",
    embeddings="shared",
    attention=("layer.0.SelfAttention",),
    feed_forward=("layer.1.DenseReluDense",),
    norms=("layer.0.layer_norm", "layer.1.layer_norm"),
    max_length=512,
)
MT5_ENCODER = replace(T5_ENCODER, max_length=1024)
MODERNBERT = Family(
    blocks="layers",
    final_norm="final_norm",
    embeddings="embeddings",
    attention=("attn",),
    feed_forward=("mlp",),
    norms=("attn_norm", "mlp_norm"),
)
# BOS as the tokenizer does: models of this build differ in what they were trained with, Qwen has no BOS.
LLAMA = Family(
    blocks="layers",
    final_norm="norm",
    embeddings="embed_tokens",
    causal=True,
    attention=("self_attn",),
    feed_forward=("mlp",),
    norms=("input_layernorm", "post_attention_layernorm"),
)
PROJECTIONS = ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj")
QUERY_KEY_NORMS = ("self_attn.q_norm", "self_attn.k_norm")
QWEN3 = replace(LLAMA, attention=PROJECTIONS, norms=(*LLAMA.norms, *QUERY_KEY_NORMS))
GEMMA = Family(
    blocks="layers",
    final_norm="norm",
    embeddings="embed_tokens",
    causal=True,
    attention=("self_attn",),
    feed_forward=("mlp",),
    norms=(
        "input_layernorm",
        "post_attention_layernorm",
        "pre_feedforward_layernorm",
        "post_feedforward_layernorm",
    ),
    bos=True,
)
GEMMA3 = replace(GEMMA, attention=PROJECTIONS, norms=(*GEMMA.norms, *QUERY_KEY_NORMS))
# as pre-LN encoders are built; `family_of` asks the configuration. What a scheme does not have is an empty module.
ISOGLOSS = Family(
    blocks="layers",
    final_norm="final_norm",
    embeddings="embeddings",
    attention=("attention.query", "attention.key", "attention.value", "attention.output"),
    feed_forward=("feed_forward.up", "feed_forward.down"),
    norms=(
        "attention_norm",
        "attention.head_scale",
        "attention.output_norm",
        "feed_forward.norm",
        "residual_scale",
        "feed_forward_norm",
    ),
)

# configuration's model_type → description
FAMILIES = {
    "bert": BERT,
    "roberta": XLM_R,
    "xlm-roberta": XLM_R,
    "xlm-roberta-xl": XLM_R_XL,
    "xglm": XGLM,
    "t5": T5_ENCODER,
    "mt5": MT5_ENCODER,
    "modernbert": MODERNBERT,
    "llama": LLAMA,
    "mistral": LLAMA,
    "qwen2": LLAMA,
    "qwen3": QWEN3,
    "gemma2": GEMMA,
    "gemma3_text": GEMMA3,
    "isogloss": ISOGLOSS,
}


def family_of(body: nn.Module) -> Family:
    """The description of a text stack: from the table, or found by looking."""
    config: Any = body.config
    family = FAMILIES.get(config.model_type) or explore(body)
    if family is ISOGLOSS:
        return replace(family, final_norm=None if config.norm == "post" else family.final_norm, causal=config.causal)
    return family


def explore(body: nn.Module) -> Family:
    """The description of an unlisted family, as far as its modules tell; parts of a block stay unknown."""
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING, MODEL_FOR_MASKED_LM_MAPPING

    config: Any = body.config
    blocks = _block_list(body, getattr(config, "num_hidden_layers", None), str(config.model_type))
    stack = body.get_submodule(blocks.rpartition(".")[0])
    norms = [
        name for name, module in stack.named_children() if "norm" in type(module).__name__.lower() and "emb" not in name
    ]
    if len(norms) > 1:
        raise UsageError(_unclear(config.model_type, f"its final norm may be any of {', '.join(norms)}"))
    prefix = blocks.rpartition(".")[0] + "." if "." in blocks else ""
    masked, causal = type(config) in MODEL_FOR_MASKED_LM_MAPPING, type(config) in MODEL_FOR_CAUSAL_LM_MAPPING
    return Family(
        blocks=blocks,
        final_norm=prefix + norms[0] if norms else None,
        embeddings=_name_of(body, body.get_input_embeddings()),  # type: ignore[operator]
        causal=causal and not masked and not getattr(config, "is_encoder_decoder", False),
    )


def _block_list(body: nn.Module, layers: int | None, model_type: str) -> str:
    """The name of the one outermost list of `layers` modules of one class."""
    from torch import nn

    lists: list[str] = []
    for name, module in body.named_modules():
        inside = any(name.startswith(outer + ".") for outer in lists)
        if isinstance(module, nn.ModuleList) and len({type(block) for block in module}) == 1 and not inside:
            lists.append(name)
    sizes = {name: len(body.get_submodule(name)) for name in lists}  # type: ignore[arg-type]
    fitting = [name for name in lists if sizes[name] == layers]
    if len(fitting) == 1:
        return fitting[0]
    found = ", ".join(f"{name} of {size}" for name, size in sizes.items()) or "none"
    raise UsageError(_unclear(model_type, f"expected one list of {layers} blocks, found {found}"))


def _name_of(body: nn.Module, wanted: nn.Module) -> str:
    return str(next(name for name, module in body.named_modules() if module is wanted))


def _unclear(model_type: str, why: str) -> str:
    described = "models/loading/families.py"
    return f"the model family '{model_type}' is not described in {described} and cannot be explored: {why}"
