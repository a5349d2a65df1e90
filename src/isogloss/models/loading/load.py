"""Any Hugging Face text model by name or folder: its text stack, its tokenizer and what is known of both.

Weights come from safetensors unless pickles are allowed, and no code of the repository runs unless asked
for. An encoder-decoder model is loaded as its encoder, a model with several inputs as its text part.
"""

from __future__ import annotations

import contextlib
import copy
import inspect
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import torch
import transformers
from torch import Tensor, nn
from transformers.models.auto import modeling_auto
from transformers.utils import logging

import isogloss.models.normformer.create  # noqa: F401, makes our own networks known to the Auto classes
from isogloss.core.bundled import SHIPPED
from isogloss.core.errors import InputError, IsoglossError, MissingExtra, UsageError
from isogloss.core.registry import check_name
from isogloss.models.loading.families import Family, family_of
from isogloss.models.loading.placement import Limits, execution_device, placement

Layer = int | str  # 0 … L, or FINAL
FINAL = "final"  # the last block's output after the final norm (pre-LN families)
NO_LIMIT = 1_000_000  # tokenizers state an absurd length when they know none
DEFAULT_LENGTH = 512
POOLER = "pooler."
HEADS = {"mlm": "AutoModelForMaskedLM", "clm": "AutoModelForCausalLM"}
TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json", "vocab.*", "*.model", "*.tiktoken")


@dataclass(frozen=True, eq=False)
class LoadedModel:
    """A model ready for use, in evaluation mode.

    `network` is what was loaded, with its head if one was asked for; `body` is the text stack inside it.
    `prefix` and `suffix` are the special tokens around every sentence, as in the model's training. `pooler` has the
    weights, where the files hold any, of the layer by which BERT was trained to judge pairs of sentences: no state is
    made with it, so the body is without, but a classifier of texts starts from it.
    """

    name: str
    network: nn.Module
    body: nn.Module
    tokenizer: transformers.PreTrainedTokenizerBase
    family: Family
    layers: int
    hidden_size: int
    max_length: int
    prefix: tuple[int, ...]
    suffix: tuple[int, ...]
    pooler: Mapping[str, Tensor] = field(default_factory=dict)

    @property
    def blocks(self) -> list[nn.Module]:
        return list(self.body.get_submodule(self.family.blocks).children())

    @property
    def final_norm(self) -> nn.Module | None:
        return self.body.get_submodule(self.family.final_norm) if self.family.final_norm else None

    @property
    def layer_names(self) -> tuple[Layer, ...]:
        """0 (embedding output), 1 … L (blocks, raw) and, where there is a final norm, "final"."""
        return (*range(self.layers + 1), *([FINAL] if self.family.final_norm else []))

    @property
    def last_layer(self) -> Layer:
        """What heads read: the last block's output, after the final norm where there is one."""
        return FINAL if self.family.final_norm else self.layers

    @property
    def device(self) -> torch.device:
        """Where inputs go."""
        return execution_device(self.body)


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
    place = None if places else chosen_device(device)
    _check_folder(source, allow_pickle)
    remote = {"trust_remote_code": trust_remote_code}
    with quiet_library(), _clear_errors(name):
        config = transformers.AutoConfig.from_pretrained(source, **remote)
        tokenizer = transformers.AutoTokenizer.from_pretrained(source, **remote)
        options = {"dtype": _dtype(dtype), "use_safetensors": None if allow_pickle else True, **places}
        network, pooler = _read_weights(source, config, head, {**options, **remote})
    body = _text_stack(network.base_model if head else network)
    if place is not None:
        network.to(place)
    model = replace(describe(name, network if head else body, body, tokenizer), pooler=pooler)
    return with_adapters(model)


def with_adapters(model: LoadedModel) -> LoadedModel:
    """A model as just read from its folder, with the adapters that were saved within it, if any were."""
    if not getattr(model.body.config, "isogloss_adapters", None):
        return model
    from isogloss.models.adapters.files import restore  # which builds on this module

    return restore(model, Path(model.name))


def describe(name: str, network: nn.Module, body: nn.Module, tokenizer: Any) -> LoadedModel:
    """A `LoadedModel` around a network at hand: its family, sizes and special tokens."""
    config: Any = body.config
    family = family_of(body)
    if len(tokenizer) <= len(tokenizer.all_special_tokens):
        raise InputError(name, "a tokenizer with a vocabulary", "special tokens only")
    prefix, suffix = _special_tokens(name, tokenizer, family)
    return LoadedModel(
        name=name,
        network=network.eval(),
        body=body,
        tokenizer=tokenizer,
        family=family,
        layers=len(list(body.get_submodule(family.blocks).children())),
        hidden_size=config.get_text_config().hidden_size,
        max_length=_max_length(tokenizer, config, family),
        prefix=prefix,
        suffix=suffix,
    )


def own_copy(model: LoadedModel) -> LoadedModel:
    """The model with weights of its own, to be changed."""
    network, body = copy.deepcopy((model.network, model.body))  # together: one lies within the other
    return replace(model, network=network, body=body)


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


def chosen_device(device: str | torch.device | None) -> torch.device:
    """The device of that name, if it is here; a GPU if there is one where none is named."""
    try:
        chosen = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
    except RuntimeError:
        raise UsageError(f"unknown device '{device}'; known: cpu, cuda, cuda:1 …") from None
    if chosen.type == "cuda" and (chosen.index or 0) >= torch.cuda.device_count():
        raise UsageError(f"device '{chosen}' asked for, but {torch.cuda.device_count()} CUDA devices are here")
    return chosen


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


def _text_stack(network: Any) -> nn.Module:
    """The module that turns token ids into the states of text: an encoder, a decoder, or the text part."""
    if isinstance(getattr(network, "language_model", None), nn.Module):
        network = network.language_model
    stack: nn.Module = network
    if getattr(network.config, "is_encoder_decoder", False) and hasattr(network, "decoder"):
        stack = network.get_encoder()
    return stack


def _special_tokens(name: str, tokenizer: Any, family: Family) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """What the tokenizer puts before and after a text, found by asking it; with BOS where the family needs it."""
    bare = tokenizer("a", add_special_tokens=False)["input_ids"]
    framed = tokenizer("a")["input_ids"]
    starts = [i for i in range(len(framed) - len(bare) + 1) if framed[i : i + len(bare)] == bare]
    if not starts:
        raise InputError(name, "a tokenizer that puts special tokens around the text", f"{bare} within {framed}")
    prefix, suffix = tuple(framed[: starts[0]]), tuple(framed[starts[0] + len(bare) :])
    if family.bos and tokenizer.bos_token_id is None:
        raise InputError(name, "a tokenizer with a BOS token, which this family is trained with", "none")
    if family.bos and tokenizer.bos_token_id not in prefix:
        prefix = (tokenizer.bos_token_id, *prefix)
    return prefix, suffix


def _max_length(tokenizer: Any, config: Any, family: Family) -> int:
    """The longest input in tokens, special ones included."""
    text = config.get_text_config()
    positions = getattr(text, "max_position_embeddings", None)
    if positions and family.padded_positions:
        positions -= text.pad_token_id + 1
    known = [positions or family.max_length, tokenizer.model_max_length]
    return min([n for n in known if n and n < NO_LIMIT], default=DEFAULT_LENGTH)


@contextlib.contextmanager
def quiet_library() -> Iterator[None]:
    """Without the progress bars and reports of the model library; what matters is checked and raised here."""
    library: Any = logging
    verbosity, bars = library.get_verbosity(), library.is_progress_bar_enabled()
    library.set_verbosity_error()
    library.disable_progress_bar()
    try:
        yield
    finally:
        library.set_verbosity(verbosity)
        if bars:
            library.enable_progress_bar()


@contextlib.contextmanager
def _clear_errors(name: str) -> Iterator[None]:
    """The model library's failures as one line that says what to do."""
    try:
        yield
    except ImportError as error:
        if "accelerate" in str(error).lower():
            raise MissingExtra("accelerate", "large") from None
        raise InputError(name, "a model that the installed packages can load", _first_line(error)) from None
    except (IsoglossError, torch.OutOfMemoryError):
        raise
    except Exception as error:  # damaged files make the readers beneath raise anything, even a bare Exception
        advice = ""
        if "trust_remote_code" in str(error):
            advice = "trust_remote_code=True (--trust-remote-code) runs the repository's own code, if you trust it"
        elif "offload_folder" in str(error):
            advice = "offload_folder=… (--offload-folder) names a folder with room for the weights that go to disk"
        elif not Path(name).is_dir():
            advice = "check the name, or download it where there is a network and give the folder"
        raise InputError(name, "a loadable model", _first_line(error), advice=advice) from None


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0] if lines else 'no message'}"
