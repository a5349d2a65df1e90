"""Encoded corpora are cached: in memory for the runs of one worker, and in the store if encoding took a while.

EWT's training set (12,544 sentences) takes 2 s to encode and 0.2 s to read back.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from transformers import PreTrainedTokenizerBase

from isogloss.core.hashing import digest
from isogloss.corpora.corpus import AnyCorpus
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.tokenization.subword_dropout import DroppingTokenizer
from isogloss.store.entries import Damaged
from isogloss.studies.execution.worker_context import WorkerContext
from isogloss.tasks.examples import Example
from isogloss.tasks.task import Labels, Task
from isogloss.training.engine.identity import tokenizer_identity

ENCODING_VERSION = 1  # raised when the same corpus would be encoded differently
MIN_CACHE_SECONDS = 0.5  # of encoding before the result is stored
EXAMPLES_FILE = "examples.npz"
IntArray = npt.NDArray[Any]


def with_encoding_cache(task: Task, identities: dict[int, str], context: WorkerContext) -> Task:
    """The task with a cached `encode`; `identities` has the identity of each corpus by its Python id."""

    def encode(model: LoadedModel, corpus: AnyCorpus, labels: Labels) -> list[Example]:
        if id(corpus) not in identities or isinstance(model.tokenizer, DroppingTokenizer):  # differs in every epoch
            return task.encode(model, corpus, labels)
        plain_labels = {name: list(values) for name, values in labels.items()}
        layout = (model.prefix, model.suffix, model.max_length, str(model.family))
        tokenizer = _tokenizer_hash(model.tokenizer, context)
        parts = (ENCODING_VERSION, task.name, tokenizer, layout, identities[id(corpus)], plain_labels)
        key = f"encoded-{digest(*parts)}"
        return context.cache.get(
            "examples", key, lambda: _read_or_encode(key, context, lambda: task.encode(model, corpus, labels))
        )

    return replace(task, encode=encode)


def _read_or_encode(key: str, context: WorkerContext, encode: Callable[[], list[Example]]) -> list[Example]:
    """Examples from the store, or encoded now; does not wait for another process that encodes the same."""
    try:
        entry = context.store.get(key)
        if entry is not None:
            return unpack_examples(entry.file(EXAMPLES_FILE))
    except Damaged as damaged:
        context.store.quarantine(key, str(damaged))
    start = time.perf_counter()
    examples = encode()
    lock = context.store.lock(key) if time.perf_counter() - start > MIN_CACHE_SECONDS else None
    if lock is not None:
        try:
            with context.store.making(key, {"kind": "encoded"}) as folder:
                save: Callable[..., None] = np.savez
                save(folder / EXAMPLES_FILE, **pack_examples(examples))
        finally:
            lock.release()
    return examples


def pack_examples(examples: Sequence[Example]) -> dict[str, IntArray]:
    """Examples as a few long arrays: the concatenated values, and the length of each part."""
    parts: dict[str, list[IntArray]] = {"windows": [], "segments": []}
    for example in examples:
        parts["windows"] += example.windows
        parts["segments"] += example.segments
    arrays: dict[str, IntArray] = {"number.windows": np.array([len(example.windows) for example in examples])}
    arrays["number.segments"] = np.array([len(example.segments) for example in examples])
    for name in examples[0].arrays:
        parts[f"array.{name}"] = [example.arrays[name] for example in examples]
    for name, values in parts.items():
        arrays[f"length.{name}"] = np.array([len(part) for part in values], dtype=np.int64)
        arrays[f"values.{name}"] = np.concatenate(values) if values else np.empty(0, np.int32)
    return arrays


def unpack_examples(path: Path) -> list[Example]:
    """The examples that `pack_examples` packed."""
    with np.load(path, allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    names = [name.partition(".")[2] for name in arrays if name.startswith("values.")]
    parts = {name: _split(arrays[f"values.{name}"], arrays[f"length.{name}"]) for name in names}
    windows, segments = (_grouped(parts[name], arrays[f"number.{name}"]) for name in ("windows", "segments"))
    labels = [name for name in names if name.startswith("array.")]
    return [
        Example(windows[i], segments[i], {name.removeprefix("array."): parts[name][i] for name in labels})
        for i in range(len(windows))
    ]


def _split(values: IntArray, lengths: IntArray) -> list[IntArray]:
    return np.split(values, np.cumsum(lengths)[:-1]) if len(lengths) else []


def _grouped(parts: list[IntArray], numbers: IntArray) -> list[tuple[IntArray, ...]]:
    ends = np.cumsum(numbers).tolist()
    return [tuple(parts[end - number : end]) for end, number in zip(ends, numbers.tolist(), strict=True)]


def _tokenizer_hash(tokenizer: PreTrainedTokenizerBase, context: WorkerContext) -> str:
    """A tokenizer's identity, computed once for each tokenizer in memory."""

    def compute() -> tuple[PreTrainedTokenizerBase, str]:
        return tokenizer, digest(tokenizer_identity(tokenizer))  # the reference keeps its Python id unique

    return context.cache.get("tokenizer", id(tokenizer), compute)[1]
