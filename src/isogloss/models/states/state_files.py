"""Sentence vectors on disk, one raw float32 file per language and layer, read back block by block."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

from isogloss.core.errors import InputError, UsageError
from isogloss.core.registry import check_name
from isogloss.models.loading.loaded_model import Layer
from isogloss.models.states.hidden_states import SentenceStates
from isogloss.models.states.pooling import FloatArray


class LayerRows:
    """The vectors of one language at one layer: `rows[10:20]` reads these ten sentences and nothing else.

    Files are mapped for the time of a read only, so that memory holds what was asked for.
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
        return np.array(_mapped(self._path, "r", self.shape)[rows])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return self[:] if dtype is None else self[:].astype(dtype, copy=False)


class StateStore:
    """Vectors too many for memory, in a fresh folder under `directory`, which goes away when the store is closed.

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
        """Runs the model over the sentences and keeps their vectors, batch by batch, in the sentences' order."""
        if language in self._layers:
            raise UsageError(f"the store already holds '{language}'")
        _, sentences, units = states.shape
        folder = Path(self._folder.name) / str(len(self._layers))
        folder.mkdir(exist_ok=True)
        layers = {layer: LayerRows(folder / f"{layer}.f32", (sentences, units)) for layer in states.layers}
        for layer in layers:
            self._reserve(folder / f"{layer}.f32", sentences * units * 4)
        for indices, batch in states:
            for layer, vectors in zip(layers, batch, strict=True):
                _mapped(folder / f"{layer}.f32", "r+", (sentences, units))[indices] = vectors
        self._layers[language] = layers

    def layer(self, language: str, layer: Layer) -> LayerRows:
        """The vectors of a language at a layer, `(sentences, units)`, still on disk."""
        held = self._layers[check_name(language, self._layers, "language")]
        if layer not in held:
            raise UsageError(f"the store holds the layers {', '.join(map(str, held))} of '{language}', not {layer!r}")
        return held[layer]

    def close(self) -> None:
        self._folder.cleanup()

    def __enter__(self) -> StateStore:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _reserve(self, path: Path, size: int) -> None:
        """The file at its full size, its room on disk taken now: a full disk under a mapped file is a crash."""
        try:
            with open(path, "wb") as file:
                if size and hasattr(os, "posix_fallocate"):
                    os.posix_fallocate(file.fileno(), 0, size)
                else:
                    file.truncate(size)
        except OSError as error:
            advice = "give StateStore a directory with more room"
            raise InputError(path, f"{size} free bytes", error.strerror or str(error), advice=advice) from None


def _mapped(path: Path, mode: Any, shape: tuple[int, int]) -> np.memmap:
    return np.memmap(path, dtype=np.float32, mode=mode, shape=shape)
