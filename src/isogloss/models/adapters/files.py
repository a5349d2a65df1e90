"""Adapters on disk: `adapter.json` describes the adapter and its model, `adapter.safetensors` has the weights.

A whole model with adapters can be saved with `save_model`: its configuration describes them (see `restore_adapters`).
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from isogloss import __version__
from isogloss.core.errors import InputError, UsageError
from isogloss.core.files import atomic_write
from isogloss.core.hashing import file_hash, hasher
from isogloss.core.registry import check_name
from isogloss.models.adapters.hooks import PLACEMENTS, ROLES, STACK_NAME, Placement, stack_of
from isogloss.models.adapters.lora import Lora, inject_lora
from isogloss.models.adapters.weights import (
    LORA,
    AdapterShape,
    Description,
    adapter_description,
    insert_adapters,
    lora_weights,
    member_weights,
    train_only,
)
from isogloss.models.loading.loaded_model import LoadedModel

DESCRIPTION_FILE, WEIGHTS_FILE = "adapter.json", "adapter.safetensors"


@dataclass(frozen=True)
class SavedAdapter:
    """An adapter read from a folder; `options` are those of its bottlenecks or of LoRA."""

    folder: str
    role: str
    placement: Placement
    lang: str
    options: Description
    model: Description
    weights: dict[str, Tensor]


def save_adapter(
    model: LoadedModel, folder: str | os.PathLike[str], *, role: str | None = None, lang: str = ""
) -> None:
    """Write the adapter of a role, by default of the trained one; `adapter.json` is written last."""
    description = adapter_description(model.body)
    role = role or description.get("trained")
    if role is None or not description.get(check_name(role, [*ROLES, LORA], "role of an adapter")):
        raise UsageError(f"there is no {role or 'trained'} adapter to save")
    if role != LORA and len(description[role]) > 1:
        raise UsageError("an ensemble is not saved: its members have folders already")
    weights = lora_weights(model.body) if role == LORA else member_weights(model.body, role)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    save_file(
        {name: tensor.detach().contiguous() for name, tensor in weights.items()}, folder / f".{WEIGHTS_FILE}.part"
    )
    os.replace(folder / f".{WEIGHTS_FILE}.part", folder / WEIGHTS_FILE)
    saved = {
        "isogloss": __version__,
        "role": role,
        "placement": description.get("placement", PLACEMENTS[0]),
        "lang": lang,
        "options": description[role] if role == LORA else description[role][0],
        "model": _model_fingerprint(model),
    }
    with atomic_write(folder / DESCRIPTION_FILE) as file:
        json.dump(saved, file, ensure_ascii=False, indent=1)


def read_adapter(folder: str | os.PathLike[str], model: LoadedModel) -> SavedAdapter:
    """A saved adapter, after a check that it fits the model."""
    saved, fingerprint = _read_description(Path(folder)), _model_fingerprint(model)
    for key in ("model_type", "layers", "hidden_size"):
        if saved.model[key] != fingerprint[key]:
            expected = f"an adapter for a model whose {key} is {fingerprint[key]}"
            raise InputError(saved.folder, expected, str(saved.model[key]))
    if saved.model["weights"] != fingerprint["weights"]:
        warnings.warn(
            f"{folder}: trained with other weights ({saved.model['name']}) than those of the model", stacklevel=2
        )
    try:
        weights = load_file(Path(folder) / WEIGHTS_FILE)
    except Exception as error:  # damaged files raise any exception
        raise InputError(Path(folder) / WEIGHTS_FILE, "the weights of an adapter", f"{type(error).__name__}") from None
    return SavedAdapter(**{**vars(saved), "weights": weights})


def adapters_in(folder: str | os.PathLike[str]) -> Iterator[SavedAdapter]:
    """All adapters below a folder, without weights."""
    if not Path(folder).is_dir():
        raise InputError(folder, "a folder with adapters", "nothing there")
    return (_read_description(description.parent) for description in sorted(Path(folder).rglob(DESCRIPTION_FILE)))


def weights_hash(folder: str | os.PathLike[str]) -> str:
    """The hash of the weights of an adapter on disk."""
    try:
        return file_hash(Path(folder) / WEIGHTS_FILE)
    except OSError:
        raise InputError(folder, f"the folder of an adapter, with {WEIGHTS_FILE}", "none there") from None


def restore_adapters(model: LoadedModel, folder: Path) -> LoadedModel:
    """A model just read from a folder, with the adapters that its configuration describes, if any."""
    description = adapter_description(model.body)
    if not description:
        return model
    if not folder.is_dir():
        raise UsageError(f"'{model.name}' has adapters; download it and pass its folder")
    if LORA in description:
        inject_lora(model, Lora(**description[LORA]))
    for role in ROLES:
        if description.get(role):
            insert_adapters(
                model, role, description["placement"], [AdapterShape(**shape) for shape in description[role]]
            )
    _load_weights(model, folder)
    return train_only(model, description.get("trained"))


def _load_weights(model: LoadedModel, folder: Path) -> None:
    """Load the weights of adapters from the files of a whole model."""
    missing: dict[str, Tensor] = dict(lora_weights(model.body))
    if stack := stack_of(model.body):
        missing |= {f"{STACK_NAME}.{name}": tensor for name, tensor in stack.state_dict().items()}
    prefix = f"{getattr(model.body, 'base_model_prefix', '')}."
    for path in sorted(folder.glob("*.safetensors")):
        with safe_open(path, "pt") as file, torch.no_grad():
            for name in file.keys():  # noqa: SIM118, not a mapping
                tensor = missing.pop(name.removeprefix(prefix), None)
                if tensor is not None:
                    tensor.copy_(file.get_tensor(name))
    if missing:
        raise InputError(folder, "the weights of its adapters", f"none for {', '.join(sorted(missing)[:3])}")


def _read_description(folder: Path) -> SavedAdapter:
    path = folder / DESCRIPTION_FILE
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        fields = {name: content[name] for name in ("role", "placement", "lang", "options", "model")}
        check_name(fields["role"], [*ROLES, LORA], "role")
        check_name(fields["placement"], PLACEMENTS, "placement")
        assert {"model_type", "layers", "hidden_size", "weights", "name"} <= fields["model"].keys()
    except OSError:
        raise InputError(folder, f"the folder of an adapter, with {DESCRIPTION_FILE}", "none there") from None
    except (ValueError, KeyError, TypeError, AttributeError, AssertionError) as error:
        raise InputError(path, "the description of an adapter", f"{type(error).__name__}: {error}") from None
    return SavedAdapter(folder=os.fspath(folder), weights={}, **fields)


def _model_fingerprint(model: LoadedModel) -> Description:
    """The description of an adapter's model; the digest is over biases and norms, which any training changes."""
    return {
        "name": model.name,
        "model_type": model.body.config.model_type,
        "layers": model.layers,
        "hidden_size": model.hidden_size,
        "weights": _weights_digest(model.body),
    }


def _weights_digest(body: nn.Module) -> str:
    digest = hasher(8)
    for name, tensor in sorted(body.state_dict().items()):
        if tensor.ndim == 1 and tensor.is_floating_point() and not name.startswith(f"{STACK_NAME}."):
            rounded = tensor.detach().cpu().to(torch.bfloat16)  # equal for models loaded in bf16 and in fp32
            digest.update(rounded.contiguous().view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()
