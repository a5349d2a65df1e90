"""Saving models: folders that transformers and `load_model` read, and that are written atomically."""

from __future__ import annotations

import contextlib
import copy
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from transformers import PreTrainedTokenizerBase

from isogloss.models.loading.library_messages import quiet_library
from isogloss.models.loading.loaded_model import LoadedModel


def save_model(model: LoadedModel, folder: str | os.PathLike[str], *, half: bool = False) -> None:
    """Write network, pooler and tokenizer to a folder that `load_model` and plain transformers read.

    Args:
        model: The model. Weights of its pooler, which the body does not have, are written with the others.
        folder: The target. Files of the same name are replaced; other files in it stay.
        half: Write the weights in fp16.
    """
    network = copy.deepcopy(model.network).half() if half else model.network
    prefix = "" if model.network is model.body else f"{network.base_model_prefix}."
    pooler = {prefix + name: weight for name, weight in model.pooler.items()}
    weights = {**network.state_dict(), **pooler} if pooler else None
    with atomic_folder(folder) as part, quiet_library():
        network.save_pretrained(part, state_dict=weights)
        model.tokenizer.save_pretrained(part)


def save_tokenizer(tokenizer: PreTrainedTokenizerBase, folder: str | os.PathLike[str]) -> None:
    with atomic_folder(folder) as part:
        tokenizer.save_pretrained(part)


@contextlib.contextmanager
def atomic_folder(folder: str | os.PathLike[str], *, replace: bool = False) -> Iterator[Path]:
    """A temporary folder whose files are moved to `folder` when the block ends without an error.

    A folder that does not exist appears as a whole. Into one that exists the files are moved one by one, `config.json`
    last, without which nothing reads the folder as a model; with `replace` the existing folder is removed instead.
    """
    folder = Path(folder)
    merge = folder.exists() and not replace
    part = folder / ".model.part" if merge else folder.with_name(f".{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    try:
        yield part
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
    if merge:
        for file in sorted(part.iterdir(), key=lambda file: file.name == "config.json"):
            os.replace(file, folder / file.name)
        part.rmdir()
    else:
        shutil.rmtree(folder, ignore_errors=True)
        part.rename(folder)
