"""Loading of any Hugging Face text model by name or folder.

Weights are read from safetensors unless pickles are allowed, and remote code does not run unless requested. Of an
encoder-decoder model the encoder is loaded, of a multimodal model the text part.
"""

from __future__ import annotations

import inspect
import os
from dataclasses import replace
from pathlib import Path
from typing import Literal, cast

import torch
import transformers
from torch import Tensor, nn
from transformers import PreTrainedConfig, PreTrainedModel
from transformers.models.auto import modeling_auto

import isogloss.models.normformer.create  # noqa: F401, registers the isogloss networks with the Auto classes
from isogloss.core.bundled import SHIPPED
from isogloss.core.errors import InputError, UsageError
from isogloss.core.registry import check_name
from isogloss.models.adapters.files import restore_adapters
from isogloss.models.loading.library_messages import quiet_library, readable_errors
from isogloss.models.loading.loaded_model import LoadedModel, wrap_network
from isogloss.models.loading.placement import MemoryLimits, placement_options, resolve_device

POOLER_PREFIX = "pooler."
HEAD_CLASSES = {"mlm": "AutoModelForMaskedLM", "clm": "AutoModelForCausalLM"}
DTYPES = ("float32", "float16", "bfloat16")
TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json", "vocab.*", "*.model", "*.tiktoken")


def load_model(
    name_or_folder: str | os.PathLike[str],
    *,
    head: Literal["mlm", "clm"] | None = None,
    dtype: str = "float32",
    device: str | torch.device | None = None,
    device_map: str | None = None,
    max_memory: MemoryLimits | None = None,
    offload_folder: str | os.PathLike[str] | None = None,
    allow_pickle: bool = False,
    trust_remote_code: bool = False,
) -> LoadedModel:
    """Load a model from a folder or from the Hugging Face hub.

    Args:
        name_or_folder: A folder, a name on the hub, or "laboratory" for the model in this package.
        head: Load the masked ("mlm") or causal ("clm") language-model head, too, for training.
        dtype: "float32", "float16" or "bfloat16".
        device: The device; a GPU if there is one by default.
        device_map: "auto" distributes a model larger than one GPU over all GPUs, then main memory, then disk.
        max_memory: Memory for weights by device with `device_map`: `{0: "20GB", "cpu": "60GB"}`.
        offload_folder: A folder for weights on disk; needed if they are not in safetensors or need conversion.
        allow_pickle: Read weights from pickles (`*.bin`), which can run code.
        trust_remote_code: Run the code of the repository for architectures that transformers lacks.
    """
    name = os.fspath(name_or_folder)
    source = os.fspath(SHIPPED.get(name, name))
    if device is not None and device_map is not None:
        raise UsageError("device and device_map exclude each other; pass one of them")
    device_options = placement_options(device_map, max_memory, offload_folder)
    target = None if device_options else resolve_device(device)
    check_folder(source, allow_pickle)
    check_name(dtype, DTYPES, "dtype")
    remote = {"trust_remote_code": trust_remote_code}
    with quiet_library(), readable_errors(name):
        config = transformers.AutoConfig.from_pretrained(source, **remote)
        tokenizer = transformers.AutoTokenizer.from_pretrained(source, **remote)
        options = {"dtype": getattr(torch, dtype), "use_safetensors": None if allow_pickle else True, **device_options}
        network, pooler = _read_weights(source, config, head, {**options, **remote})
    body = text_stack(cast(PreTrainedModel, network.base_model) if head else network)
    if target is not None:
        nn.Module.to(network, target)
    model = replace(wrap_network(name, network if head else body, body, tokenizer), pooler=pooler)
    return restore_adapters(model, Path(name))


def check_folder(name: str, allow_pickle: bool) -> None:
    """Raise an error if a folder lacks files, before transformers opens it."""
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


def _read_weights(
    name: str, config: PreTrainedConfig, head: str | None, options: dict[str, object]
) -> tuple[PreTrainedModel, dict[str, Tensor]]:
    """The network and the weights of its pooler, if there are any.

    Weights that are not in the files would be random, so this is an error; only the pooler may be missing.
    """
    auto_class = HEAD_CLASSES[check_name(head, HEAD_CLASSES, "head")] if head else auto_class_of(config)
    load = getattr(transformers, auto_class).from_pretrained
    with torch.random.fork_rng(devices=[]):  # a missing pooler is initialised at random
        network, loading_info = load(name, output_loading_info=True, **options)
    missing = set(loading_info["missing_keys"])
    pooler = {}
    if not head and "add_pooling_layer" in inspect.signature(type(network)).parameters:  # the pooler is optional
        pooler, network.pooler = _pooler(network, missing), None
        missing = {key for key in missing if not key.startswith(POOLER_PREFIX)}
    if missing:
        shown = ", ".join(sorted(missing)[:3]) + (f" and {len(missing) - 3} more" if len(missing) > 3 else "")
        raise InputError(name, "all weights of its configuration", f"none for {shown}")
    return network, pooler


def auto_class_of(config: PreTrainedConfig) -> str:
    """The name of the class of transformers that loads the model without head: of a pair, the encoder alone."""
    model_class = modeling_auto.MODEL_MAPPING.get(type(config), None)
    encoder_class = modeling_auto.MODEL_FOR_TEXT_ENCODING_MAPPING.get(type(config), model_class)
    return "AutoModel" if encoder_class is model_class else "AutoModelForTextEncoding"


def _pooler(network: PreTrainedModel, missing: set[str]) -> dict[str, Tensor]:
    """The weights of the pooler; none unless all of them are in the files and on a device."""
    weights = {name: weight for name, weight in network.state_dict().items() if name.startswith(POOLER_PREFIX)}
    return {} if missing & weights.keys() or any(weight.is_meta for weight in weights.values()) else weights


def text_stack(network: PreTrainedModel) -> PreTrainedModel:
    """The module that computes the states of text: the text part of a multimodal model, the encoder of a pair."""
    if isinstance(text_part := getattr(network, "language_model", None), PreTrainedModel):
        network = text_part
    if getattr(network.config, "is_encoder_decoder", False) and hasattr(network, "decoder"):
        return cast(PreTrainedModel, network.get_encoder())
    return network
