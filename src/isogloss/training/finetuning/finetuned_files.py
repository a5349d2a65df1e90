"""Fine-tuned networks on disk, in folders that plain `transformers` loads if it has the class.

`isogloss.json` holds the task, its labels and the class. A network of a transformers class is saved as a whole
(safetensors); of other networks (the parser, heads that transformers lacks) the body is, with the head beside it.
"""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TypedDict, cast

import torch
import transformers
from safetensors.torch import load_file, save_file
from torch import nn
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from isogloss import __version__
from isogloss.core.errors import InputError, UsageError
from isogloss.models.adapters.files import restore_adapters
from isogloss.models.bilstm.baseline import WordVectors, wrap_bilstm
from isogloss.models.heads.task_head import body_of
from isogloss.models.loading.library_messages import quiet_library
from isogloss.models.loading.loaded_model import wrap_network
from isogloss.models.loading.save import atomic_folder, save_model
from isogloss.models.normformer.create import AUTO_CLASSES
from isogloss.tasks import TASKS
from isogloss.tasks.bilstm import task_for_model
from isogloss.tasks.task import Task
from isogloss.training.finetuning.finetune import FineTuned

METADATA_FILE, HEAD_FILE, BODY_PREFIX = "isogloss.json", "head.safetensors", "body."
Metadata = TypedDict("Metadata", {"task": str, "labels": dict[str, list[str]], "class": str, "whole": bool})


def save_finetuned(tuned: FineTuned, folder: str | os.PathLike[str]) -> None:
    """Write network, tokenizer and task to a folder, atomically."""
    network = tuned.network
    saved = network if isinstance(network, PreTrainedModel) else body_of(network)
    is_whole = saved is network
    metadata = {
        "isogloss": __version__,
        "task": tuned.task.name,
        "labels": {name: list(values) for name, values in tuned.labels.items()},
        "class": class_path(type(saved)),
        "whole": is_whole,
        "made_from": tuned.model.name,
    }
    with atomic_folder(folder, replace=True) as part:
        save_model(replace(tuned.model, network=saved, pooler={}), part)
        if not is_whole:
            head = {k: v.contiguous() for k, v in network.state_dict().items() if not k.startswith(BODY_PREFIX)}
            save_file(head, part / HEAD_FILE)
        (part / METADATA_FILE).write_text(json.dumps(metadata, ensure_ascii=False, indent=1), encoding="utf-8")


def load_finetuned(
    folder: str | os.PathLike[str], *, device: str | torch.device | None = None, task: Task | None = None
) -> FineTuned:
    """The network that `save_finetuned` wrote; `task` only if it is not registered."""
    folder = Path(folder)
    metadata = _read_metadata(folder)
    task = task or TASKS[metadata["task"]]
    labels = {name: tuple(values) for name, values in metadata["labels"].items()}
    target_device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    saved, tokenizer = _read_network(folder, _network_class(folder, metadata["class"]))
    body = body_of(saved) if metadata["whole"] else saved
    if isinstance(body, WordVectors):
        model = wrap_bilstm(str(folder), body, tokenizer)
    else:
        model = wrap_network(str(folder), body, body, tokenizer)
    task = task_for_model(restore_adapters(model, folder), task)
    network = saved if metadata["whole"] else _load_head(task.network(model, labels), folder / HEAD_FILE)
    return FineTuned(task, model, labels, network.to(target_device).eval())


def _read_network(
    folder: Path, network_class: type[PreTrainedModel]
) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """Network and tokenizer. Missing weights, which would be random, are an error."""
    try:
        with quiet_library():
            tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
            has_pooler = "add_pooling_layer" in inspect.signature(network_class).parameters
            options = {"add_pooling_layer": False} if has_pooler else {}  # a body without head has none
            read = cast(
                Callable[..., tuple[PreTrainedModel, Mapping[str, Sequence[str]]]], network_class.from_pretrained
            )
            network, loading_info = read(
                folder, dtype=torch.float32, use_safetensors=True, output_loading_info=True, **options
            )
    except Exception as error:  # damaged files raise errors of many kinds
        raise InputError(folder, "a loadable network", f"{type(error).__name__}: {error}".splitlines()[0]) from None
    if missing := sorted(loading_info["missing_keys"]):
        raise InputError(folder, "all the weights of its network", f"none for {', '.join(missing[:3])}")
    return network, tokenizer


def _load_head(network: nn.Module, path: Path) -> nn.Module:
    try:
        head = load_file(path)
    except Exception as error:
        raise InputError(path, "the weights of a head", f"{type(error).__name__}: {error}") from None
    expected = {name for name in network.state_dict() if not name.startswith(BODY_PREFIX)}
    if head.keys() != expected:
        raise InputError(path, f"the weights {', '.join(sorted(expected))}", ", ".join(sorted(head)) or "none")
    network.load_state_dict(head, strict=False)
    return network


def _read_metadata(folder: Path) -> Metadata:
    path = folder / METADATA_FILE
    try:
        metadata: Metadata = json.loads(path.read_text(encoding="utf-8"))
    except OSError:
        advice = "only models that `isogloss transfer --out` saved can predict"
        raise InputError(folder, f"a fine-tuned model with {METADATA_FILE}", "none there", advice=advice) from None
    except ValueError as error:
        raise InputError(path, "JSON", str(error)) from None
    missing = Metadata.__required_keys__ - metadata.keys() if isinstance(metadata, dict) else {"task"}
    if missing:
        raise InputError(path, "task, labels, class and whole", f"no {', '.join(sorted(missing))}")
    return metadata


def class_path(network_class: type[nn.Module]) -> str:
    return f"{network_class.__module__}:{network_class.__name__}"


ISOGLOSS_CLASSES = {class_path(network_class): network_class for network_class in (WordVectors, *AUTO_CLASSES.values())}


def _network_class(folder: Path, name: str) -> type[PreTrainedModel]:
    """A class of transformers or of isogloss; no others, because a file must not choose what code runs."""
    if name in ISOGLOSS_CLASSES:
        return ISOGLOSS_CLASSES[name]
    module, _, attribute = name.partition(":")
    if not module.startswith("transformers.models."):
        raise UsageError(f"{folder}: '{name}' is not a class of the transformers package, so it is not loaded")
    try:
        network_class: object = getattr(import_module(module), attribute)
    except (ImportError, AttributeError):
        network_class = None
    if isinstance(network_class, type) and issubclass(network_class, PreTrainedModel):
        return network_class
    got = f"no {name} in transformers {transformers.__version__}"
    raise InputError(folder / METADATA_FILE, "a class that the installed transformers has", got)
