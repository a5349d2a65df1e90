"""Encoded corpora, kept: in memory for the runs of one worker, and where encoding took a while on disk for all others.

EWT's training set (12,544 sentences) takes 2 s to encode and 0.2 s to read back.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from isogloss.core.hashing import digest
from isogloss.corpora.corpus import AnyCorpus
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.tokenization.subword_dropout import DroppingTokenizer
from isogloss.store.entries import Damaged
from isogloss.studies.execution.jobs import Site
from isogloss.tasks.examples import Example
from isogloss.tasks.task import Labels, Task

VERSION = 1  # raised when the same corpus would be encoded in another way
WORTH = 0.5  # seconds of encoding that are worth a file
FILE = "examples.npz"
Arrays = dict[str, npt.NDArray[Any]]


def remembering(task: Task, names: dict[int, str], site: Site) -> Task:
    """The task with an `encode` that remembers; `names` has the identity of each corpus by its Python id."""

    def encode(model: LoadedModel, corpus: AnyCorpus, labels: Labels) -> list[Example]:
        if id(corpus) not in names or isinstance(model.tokenizer, DroppingTokenizer):  # another one in every epoch
            return task.encode(model, corpus, labels)
        told = {name: list(values) for name, values in labels.items()}
        frame = (model.prefix, model.suffix, model.max_length, str(model.family))
        key = f"encoded-{digest(VERSION, task.name, _tokenizer(model, site), frame, names[id(corpus)], told)}"
        return site.memory.get("examples", key, lambda: _stored(key, site, lambda: task.encode(model, corpus, labels)))

    return replace(task, encode=encode)


def _stored(key: str, site: Site, encode: Any) -> list[Example]:
    """From the store, or encoded now; nobody waits for another process that is at the same."""
    try:
        entry = site.store.get(key)
        if entry is not None:
            return unpacked(entry.file(FILE))
    except Damaged as damaged:
        site.store.set_aside(key, str(damaged))
    begun = time.perf_counter()
    examples: list[Example] = encode()
    lock = site.store.lock(key) if time.perf_counter() - begun > WORTH else None
    if lock is not None:
        save: Any = np.savez
        try:
            with site.store.making(key, {"kind": "encoded"}) as folder:
                save(folder / FILE, **packed(examples))
        finally:
            lock.release()
    return examples


def packed(examples: Sequence[Example]) -> Arrays:
    """Examples as a few long arrays: values end to end, and how many belong to each."""
    parts: dict[str, list[npt.NDArray[Any]]] = {"windows": [], "segments": []}
    for example in examples:
        parts["windows"] += example.windows
        parts["segments"] += example.segments
    arrays: Arrays = {"number.windows": np.array([len(one.windows) for one in examples])}
    arrays["number.segments"] = np.array([len(one.segments) for one in examples])
    for name in examples[0].arrays:
        parts[f"array.{name}"] = [one.arrays[name] for one in examples]
    for name, several in parts.items():
        arrays[f"length.{name}"] = np.array([len(one) for one in several], dtype=np.int64)
        arrays[f"values.{name}"] = np.concatenate(several) if several else np.empty(0, np.int32)
    return arrays


def unpacked(path: Path) -> list[Example]:
    """Examples as they were before `packed`."""
    with np.load(path, allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    names = [name.partition(".")[2] for name in arrays if name.startswith("values.")]
    parts = {name: _split(arrays[f"values.{name}"], arrays[f"length.{name}"]) for name in names}
    windows, segments = (_grouped(parts[name], arrays[f"number.{name}"]) for name in ("windows", "segments"))
    own = [name for name in names if name.startswith("array.")]
    return [
        Example(windows[i], segments[i], {name.removeprefix("array."): parts[name][i] for name in own})
        for i in range(len(windows))
    ]


def _split(values: npt.NDArray[Any], lengths: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
    return np.split(values, np.cumsum(lengths)[:-1]) if len(lengths) else []


def _grouped(parts: list[npt.NDArray[Any]], numbers: npt.NDArray[Any]) -> list[tuple[npt.NDArray[Any], ...]]:
    ends = np.cumsum(numbers).tolist()
    return [tuple(parts[end - number : end]) for end, number in zip(ends, numbers.tolist(), strict=True)]


def _tokenizer(model: LoadedModel, site: Site) -> str:
    """A tokenizer by its content, which is read once for each that is in memory."""
    tokenizer: Any = model.tokenizer

    def found() -> tuple[Any, str]:
        content = tokenizer.backend_tokenizer.to_str() if tokenizer.is_fast else tokenizer.get_vocab()
        return tokenizer, digest(content)  # the tokenizer is held so that its id stays its own

    return site.memory.get("tokenizer", id(tokenizer), found)[1]
