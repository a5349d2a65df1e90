"""Sentence vectors on disk, one raw float32 file per language and layer, read back block by block."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from isogloss.core.errors import InputError, UsageError
from isogloss.core.registry import check_name
from isogloss.models.loading.loaded_model import Layer
from isogloss.models.states.hidden_states import SentenceStates
from isogloss.models.states.pooling import FloatArray


class LayerRows:
    """The vectors of one language at one layer: `rows[10:20]` reads only these ten sentences.

    Files are memory-mapped only during a read, so that memory holds only the requested rows.
    """

    dtype = np.dtype(np.float32)
    ndim = 2

    def __init__(self, path: Path, shape: tuple[int, int]):
        self._path, self.shape = path, shape

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: int | slice | Sequence[int] | npt.NDArray[np.integer]) -> FloatArray:
        if not len(self):
            return np.empty(self.shape, dtype=np.float32)[rows]
        return np.array(_memory_map(self._path, "r", self.shape)[rows])

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[np.generic]:
        return self[:] if dtype is None else self[:].astype(dtype, copy=False)


class StateStore(AbstractContextManager["StateStore"]):
    """Vectors that do not fit in memory, in a temporary folder under `directory`, deleted when the block ends.

    >>> with StateStore() as store:
    ...     store.languages
    []
    """

    def __init__(self, directory: str | os.PathLike[str] | None = None):
        self._folder = tempfile.TemporaryDirectory(prefix="isogloss-states-", dir=directory)
        self._layers: dict[str, dict[Layer, LayerRows]] = {}

    @property
    def languages(self) -> list[str]:
        return list(self._layers)

    def write(self, language: str, states: SentenceStates) -> None:
        """Run the model over the sentences and write their vectors in the order of the sentences."""
        if language in self._layers:
            raise UsageError(f"the store already has vectors of '{language}'")
        _, sentences, units = states.shape
        folder = Path(self._folder.name) / str(len(self._layers))
        folder.mkdir(exist_ok=True)
        layers = {layer: LayerRows(folder / f"{layer}.f32", (sentences, units)) for layer in states.layers}
        for layer in layers:
            self._reserve(folder / f"{layer}.f32", sentences * units * 4)
        for indices, batch in states:
            for layer, vectors in zip(layers, batch, strict=True):
                _memory_map(folder / f"{layer}.f32", "r+", (sentences, units))[indices] = vectors
        self._layers[language] = layers

    def layer(self, language: str, layer: Layer) -> LayerRows:
        """The vectors of a language at a layer, `(sentences, units)`, on disk."""
        layers = self._layers[check_name(language, self._layers, "language")]
        if layer not in layers:
            raise UsageError(f"the store has the layers {', '.join(map(str, layers))} of '{language}', not {layer!r}")
        return layers[layer]

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()

    def _reserve(self, path: Path, size: int) -> None:
        """Allocate the file at its full size: a disk that fills up under a memory-mapped file crashes the process."""
        try:
            with open(path, "wb") as file:
                if size and hasattr(os, "posix_fallocate"):
                    os.posix_fallocate(file.fileno(), 0, size)
                else:
                    file.truncate(size)
        except OSError as error:
            advice = "pass StateStore a directory with more free space"
            raise InputError(path, f"{size} free bytes", error.strerror or str(error), advice=advice) from None


def _memory_map(path: Path, mode: Literal["r", "r+"], shape: tuple[int, int]) -> np.memmap:
    return np.memmap(path, dtype=np.float32, mode=mode, shape=shape)
