"""Adapters on disk: `adapter.json` says what they are and for which model, `adapter.safetensors` holds the weights.

A whole model with adapters inside can be saved too, as any other: its configuration tells of them (see `restore`).
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from isogloss import __version__
from isogloss.core.errors import InputError, UsageError
from isogloss.core.files import atomic_write
from isogloss.core.hashing import file_hash, hasher
from isogloss.core.registry import check_name
from isogloss.models.adapters.hooks import NAME, PLACEMENTS, ROLES, Placement, stack_of
from isogloss.models.adapters.lora import inject_lora
from isogloss.models.adapters.weights import LORA, Shape, description, fill, lora_weights, member_weights, train_only
from isogloss.models.loading.loaded_model import LoadedModel

NOTE, WEIGHTS = "adapter.json", "adapter.safetensors"


@dataclass(frozen=True)
class SavedAdapter:
    """An adapter as it lies in a folder; `options` are those of its bottlenecks, or of LoRA."""

    folder: str
    role: str
    placement: Placement
    lang: str
    options: dict[str, Any]
    model: dict[str, Any]
    weights: dict[str, Tensor]


def save_adapter(
    model: LoadedModel, folder: str | os.PathLike[str], *, role: str | None = None, lang: str = ""
) -> None:
    """Write the adapter of a role: of the one that was trained, unless told. The note comes last."""
    told = description(model.body)
    role = role or told.get("trained")
    if role is None or not told.get(check_name(role, [*ROLES, LORA], "role of an adapter")):
        raise UsageError(f"there is no {role or 'trained'} adapter to save")
    if role != LORA and len(told[role]) > 1:
        raise UsageError("an ensemble is not saved: its members are in their own folders")
    weights = lora_weights(model.body) if role == LORA else member_weights(model.body, role)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    save_file({name: tensor.detach().contiguous() for name, tensor in weights.items()}, folder / f".{WEIGHTS}.part")
    os.replace(folder / f".{WEIGHTS}.part", folder / WEIGHTS)
    note = {
        "isogloss": __version__,
        "role": role,
        "placement": told.get("placement", PLACEMENTS[0]),
        "lang": lang,
        "options": told[role] if role == LORA else told[role][0],
        "model": _mark(model),
    }
    with atomic_write(folder / NOTE) as file:
        json.dump(note, file, ensure_ascii=False, indent=1)


def read_adapter(folder: str | os.PathLike[str], model: LoadedModel) -> SavedAdapter:
    """A saved adapter, checked against the model that it is for."""
    saved, own = _read_note(Path(folder)), _mark(model)
    for what in ("model_type", "layers", "hidden_size"):
        if saved.model[what] != own[what]:
            expected = f"an adapter for a model whose {what} is {own[what]}"
            raise InputError(saved.folder, expected, str(saved.model[what]))
    if saved.model["weights"] != own["weights"]:
        warnings.warn(f"{folder}: trained in other weights ({saved.model['name']}) than the model's", stacklevel=2)
    try:
        weights = load_file(Path(folder) / WEIGHTS)
    except Exception as error:  # a damaged file makes the reader beneath raise anything
        raise InputError(Path(folder) / WEIGHTS, "the weights of an adapter", f"{type(error).__name__}") from None
    return SavedAdapter(**{**vars(saved), "weights": weights})


def adapters_in(folder: str | os.PathLike[str]) -> Iterator[SavedAdapter]:
    """All adapters below a folder, without their weights."""
    if not Path(folder).is_dir():
        raise InputError(folder, "a folder with adapters", "nothing there")
    return (_read_note(note.parent) for note in sorted(Path(folder).rglob(NOTE)))


def weights_hash(folder: str | os.PathLike[str]) -> str:
    """Of an adapter's weights as they lie on the disk."""
    try:
        return file_hash(Path(folder) / WEIGHTS)
    except OSError:
        raise InputError(folder, f"the folder of an adapter, with {WEIGHTS}", "none there") from None


def restore_adapters(model: LoadedModel, folder: Path) -> LoadedModel:
    """The model as just read from a folder, with the adapters that its configuration tells of, and their weights."""
    told = description(model.body)
    if not told:
        return model
    if not folder.is_dir():
        raise UsageError(f"'{model.name}' has adapters inside; download it and give its folder")
    if LORA in told:
        inject_lora(model, told[LORA])
    for role in ROLES:
        if told.get(role):
            fill(model, role, told["placement"], [Shape(**shape) for shape in told[role]])
    _load(model, folder)
    return train_only(model, told.get("trained"))


def _load(model: LoadedModel, folder: Path) -> None:
    """The weights of adapters out of a whole model's files."""
    own: dict[str, Tensor] = dict(lora_weights(model.body))
    if stack := stack_of(model.body):
        own |= {f"{NAME}.{name}": tensor for name, tensor in stack.state_dict().items()}
    prefix = f"{getattr(model.body, 'base_model_prefix', '')}."
    for path in sorted(folder.glob("*.safetensors")):
        with safe_open(path, "pt") as file, torch.no_grad():
            for name in file.keys():  # noqa: SIM118, it is no mapping
                tensor = own.pop(name.removeprefix(prefix), None)
                if tensor is not None:
                    tensor.copy_(file.get_tensor(name))
    if own:
        raise InputError(folder, "the weights of its adapters", f"none for {', '.join(sorted(own)[:3])}")


def _read_note(folder: Path) -> SavedAdapter:
    path = folder / NOTE
    try:
        note = json.loads(path.read_text(encoding="utf-8"))
        kept = {name: note[name] for name in ("role", "placement", "lang", "options", "model")}
        check_name(kept["role"], [*ROLES, LORA], "role")
        check_name(kept["placement"], PLACEMENTS, "placement")
        assert {"model_type", "layers", "hidden_size", "weights", "name"} <= kept["model"].keys()
    except OSError:
        raise InputError(folder, f"the folder of an adapter, with {NOTE}", "none there") from None
    except (ValueError, KeyError, TypeError, AttributeError, AssertionError) as error:
        raise InputError(path, "the description of an adapter", f"{type(error).__name__}: {error}") from None
    return SavedAdapter(folder=os.fspath(folder), weights={}, **kept)


def _mark(model: LoadedModel) -> dict[str, Any]:
    """What an adapter says of its model; the hash is over its biases and norms, which any training changes."""
    config: Any = model.body.config
    return {
        "name": model.name,
        "model_type": config.model_type,
        "layers": model.layers,
        "hidden_size": model.hidden_size,
        "weights": _hash(model.body),
    }


def _hash(body: nn.Module) -> str:
    digest = hasher(8)
    for name, tensor in sorted(body.state_dict().items()):
        if tensor.ndim == 1 and tensor.is_floating_point() and not name.startswith(f"{NAME}."):
            rounded = tensor.detach().cpu().to(torch.bfloat16)  # the same whether read in bf16 or in fp32
            digest.update(rounded.contiguous().view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()
