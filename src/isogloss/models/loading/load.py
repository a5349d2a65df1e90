"""Any Hugging Face text model by name or folder: its text stack, its tokenizer and what is known of both.

Weights come from safetensors unless pickles are allowed, and no code of the repository runs unless asked
for. An encoder-decoder model is loaded as its encoder, a model with several inputs as its text part.
"""

from __future__ import annotations

import inspect
import os
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, cast

import torch
import transformers
from torch import Tensor, nn
from transformers import PreTrainedModel
from transformers.models.auto import modeling_auto

import isogloss.models.normformer.create  # noqa: F401, registers the isogloss networks with the Auto classes
from isogloss.core.bundled import SHIPPED
from isogloss.core.errors import InputError, UsageError
from isogloss.core.registry import check_name
from isogloss.models.adapters.files import restore_adapters
from isogloss.models.loading.library_messages import quiet_library, readable_errors
from isogloss.models.loading.loaded_model import LoadedModel, wrap_network
from isogloss.models.loading.placement import Limits, placement, resolve_device

POOLER = "pooler."
HEADS = {"mlm": "AutoModelForMaskedLM", "clm": "AutoModelForCausalLM"}
TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json", "vocab.*", "*.model", "*.tiktoken")


def load_model(
    name_or_folder: str | os.PathLike[str],
    *,
    head: Literal["mlm", "clm"] | None = None,
    dtype: str = "float32",
    device: str | torch.device | None = None,
    device_map: str | None = None,
    max_memory: Limits | None = None,
    offload_folder: str | os.PathLike[str] | None = None,
    allow_pickle: bool = False,
    trust_remote_code: bool = False,
) -> LoadedModel:
    """A model from a folder or the Hugging Face hub; "laboratory" is the one in this package.

    `head`: with its masked ("mlm") or causal ("clm") language-model head, for training. `device`: a GPU if
    there is one, unless said otherwise. `device_map="auto"` spreads a model larger than one GPU over all, and over main
    memory and disk where these are full; `max_memory` limits what weights may take there: `{0: "20GB", "cpu": "60GB"}`.
    `offload_folder` is needed where weights that go to disk are in no safetensors, or stored in another shape there.
    """
    name = os.fspath(name_or_folder)
    source = os.fspath(SHIPPED.get(name, name))
    if device is not None and device_map is not None:
        raise UsageError("device and device_map exclude each other; give one")
    places = placement(device_map, max_memory, offload_folder)
    place = None if places else resolve_device(device)
    _check_folder(source, allow_pickle)
    remote = {"trust_remote_code": trust_remote_code}
    with quiet_library(), readable_errors(name):
        config = transformers.AutoConfig.from_pretrained(source, **remote)
        tokenizer = transformers.AutoTokenizer.from_pretrained(source, **remote)
        options = {"dtype": _dtype(dtype), "use_safetensors": None if allow_pickle else True, **places}
        network, pooler = _read_weights(source, config, head, {**options, **remote})
    body = _text_stack(network.base_model if head else network)
    if place is not None:
        nn.Module.to(network, place)
    model = replace(wrap_network(name, network if head else body, body, tokenizer), pooler=pooler)
    return restore_adapters(model, Path(name))


def _check_folder(name: str, allow_pickle: bool) -> None:
    """What can be said of a folder before any library opens it, in one clear line."""
    folder = Path(name)
    if not folder.is_dir():
        if folder.exists() or folder.is_absolute() or name.startswith((".", "~")):
            raise InputError(name, "a model folder or a Hugging Face model name", "no such folder")
        return
    if not (folder / "config.json").is_file():
        raise InputError(name, "a model folder with config.json", "none")
    if not any(any(folder.glob(pattern)) for pattern in TOKENIZER_FILES):
        raise InputError(name, "a tokenizer beside the model (tokenizer.json)", "none")
    if any(folder.glob("*.safetensors")):
        return
    if not any(folder.glob("*.bin")):
        raise InputError(name, "weights (*.safetensors)", "none")
    if not allow_pickle:
        advice = "allow_pickle=True (--allow-pickle) reads them, if you trust whoever made them"
        raise InputError(name, "weights as *.safetensors", "pickles (*.bin), which can run code", advice=advice)


def _dtype(name: str) -> torch.dtype:
    check_name(name, ["float32", "float16", "bfloat16"], "dtype")
    dtype: torch.dtype = getattr(torch, name)
    return dtype


def _read_weights(name: str, config: Any, head: str | None, options: dict[str, Any]) -> tuple[Any, dict[str, Tensor]]:
    """The network with all its weights, and those of its pooler, if there are any.

    One that is not in the files would be random, so it is an error; only the pooler is often absent.
    """
    whole: Any = modeling_auto.MODEL_MAPPING.get(type(config), None)
    encoder: Any = modeling_auto.MODEL_FOR_TEXT_ENCODING_MAPPING.get(type(config), whole)
    auto: Any = transformers.AutoModel
    if head:
        auto = getattr(transformers, HEADS[check_name(head, HEADS, "head")])
    elif encoder is not whole:
        auto = transformers.AutoModelForTextEncoding
    with torch.random.fork_rng(devices=[]):  # a pooler that is absent is drawn
        network, loaded = auto.from_pretrained(name, output_loading_info=True, **options)
    missing = set(loaded["missing_keys"])
    pooler = {}
    if not head and "add_pooling_layer" in inspect.signature(type(network)).parameters:  # it can do without one
        pooler, network.pooler = _pooler(network, missing), None
        missing = {key for key in missing if not key.startswith(POOLER)}
    if missing:
        shown = ", ".join(sorted(missing)[:3]) + (f" and {len(missing) - 3} more" if len(missing) > 3 else "")
        raise InputError(name, "all the weights that its configuration names", f"none for {shown}")
    return network, pooler


def _pooler(network: Any, missing: set[str]) -> dict[str, Tensor]:
    """The weights of the pooler; none unless all of them come from the files and are on a device."""
    weights = {name: weight for name, weight in network.state_dict().items() if name.startswith(POOLER)}
    return {} if missing & weights.keys() or any(weight.is_meta for weight in weights.values()) else weights


def _text_stack(network: PreTrainedModel) -> PreTrainedModel:
    """The module that computes the states of text: the text part of a multimodal model, the encoder of a pair."""
    if isinstance(text_part := getattr(network, "language_model", None), PreTrainedModel):
        network = text_part
    if getattr(network.config, "is_encoder_decoder", False) and hasattr(network, "decoder"):
        return cast(PreTrainedModel, network.get_encoder())
    return network
