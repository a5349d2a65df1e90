"""Many indexes for many pairs of languages at one layer, from one pass over each language's vectors.

The scatter of each language and its eigendecomposition are computed once and serve every pair and index; a pair
adds one cross scatter. Indexes that need the vectors themselves (matching, RBF CKA, …) run pair by pair in
blocks. Intervals cost one further pass per pair and index and three products of n·d² for one of CKA or CCA type:
in total four times the time of the values alone on a CPU, 1.5 times on a GPU. Memory: (languages +
pairs)·d² numbers for the moments, a few d² per pair in work, a block of rows per language; O(n) for the intervals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import torch

from isogloss.core.errors import UsageError
from isogloss.indexes import INDEXES
from isogloss.indexes.bootstrap import (
    effective_sentences,
    influence,
    interval,
    proportion_interval,
    replicates,
    sentence_weights,
    standard_error,
)
from isogloss.indexes.index import Index, Sample
from isogloss.indexes.moments import Accumulator, Moments, Pair
from isogloss.indexes.repeats import repeated_sentences
from isogloss.indexes.vectors import (
    BLOCK_ROWS,
    InvalidVectors,
    Vectors,
    as_tensor,
    check_parallel,
    rescaled,
    spans,
    take,
)

MIN_RECOMPUTED_REPLICATES = 50  # for a standard error within 10 %


@dataclass(frozen=True, eq=False)
class Measurement:
    """One index for one pair; the interval is None if `bootstrap` is 0."""

    source: str
    target: str
    index: str
    value: float
    n: int
    error: float | None = None
    low: float | None = None
    high: float | None = None
    note: str = ""
    replicates: np.ndarray | None = None  # joint over pairs, indexes and layers measured with the same seed


def against(source: str, names: Sequence[str]) -> list[Pair]:
    """The pairs of one source with every other language.

    >>> against("en", ["en", "fr", "ru"])
    [('en', 'fr'), ('en', 'ru')]
    """
    return [(source, name) for name in names if name != source]


def all_pairs(names: Sequence[str]) -> list[Pair]:
    """Every language with every later one."""
    return list(combinations(names, 2))


def compare(
    views: Mapping[str, Vectors],
    pairs: Sequence[Pair],
    indexes: Sequence[str | Index] = ("cka", "anc", "matching"),
    *,
    bootstrap: int = 100,
    confidence: float = 0.95,
    seed: int = 0,
    device: str | torch.device | None = None,
    block: int = BLOCK_ROWS,
    where: str = "",
    sentences: Mapping[str, Sequence[str]] | None = None,
) -> list[Measurement]:
    """Every index for every pair of views, all at one layer; `views` are parallel `(sentences, units)` arrays.

    `bootstrap` is the number of replicates to return (0: no intervals either); `where`, such as "layer 5",
    is named in errors beside the language and the sentence; `sentences` are the texts of the rows, by which copies of a
    sentence are recognised. Rows are ordered by pair.
    """
    resolved_indexes = [INDEXES[index] if isinstance(index, str) else index for index in indexes]
    prefix = f"{where}, " if where else ""
    n = _check(views, pairs, prefix)
    views_on_device = {name: _VectorsOnDevice(name, vectors, device) for name, vectors in views.items()}
    rows: list[Measurement] = []
    try:
        scaled = {name: rescaled(vectors, name) for name, vectors in views_on_device.items()}
        needs_moments = any(index.needs == "moments" for index in resolved_indexes)
        accumulator = _accumulate(scaled, pairs, n, block) if needs_moments else None
        summaries = accumulator.views() if accumulator else {}
        for source, target in pairs:
            samples = []
            if accumulator:
                pair_moments = Moments(summaries[source], summaries[target], accumulator.cross[source, target])
            for index in resolved_indexes:
                if index.needs == "moments":
                    x, y = scaled[source], scaled[target]
                    samples.append(_from_moments(index, pair_moments, x, y, (source, target), bootstrap, seed))
                else:
                    inputs: Mapping[str, Vectors] = scaled if index.free_scale else views_on_device
                    samples.append(_from_vectors(index, inputs, (source, target), sentences))
            rows += _rows((source, target), resolved_indexes, samples, n, bootstrap, confidence, seed)
    except InvalidVectors as error:
        raise error.at(prefix + error.view) from None
    return rows


class _VectorsOnDevice:
    """Vectors whose rows are moved to the device of the computation."""

    def __init__(self, name: str, vectors: Vectors, device: str | torch.device | None):
        self.name, self.vectors, self.device = name, vectors, device
        self.shape = vectors.shape

    def __getitem__(self, rows: slice | np.ndarray) -> np.ndarray | torch.Tensor:
        part = self.vectors[rows]
        return part if self.device is None else as_tensor(part, self.name).to(self.device)


def _check(views: Mapping[str, Vectors], pairs: Sequence[Pair], prefix: str) -> int:
    if not pairs:
        raise UsageError(f"{prefix}expected at least one pair of languages to compare, got none")
    missing = sorted({name for pair in pairs for name in pair} - set(views))
    if missing:
        raise UsageError(f"{prefix}no vectors for {', '.join(missing)}; there are vectors for {', '.join(views)}")
    counts = {check_parallel(views[a], views[b], (prefix + a, prefix + b)) for a, b in pairs}
    if len(counts) > 1:
        raise UsageError(f"{prefix}all languages must have the same sentences, got {sorted(counts)} of them")
    return counts.pop()


def _accumulate(views: Mapping[str, Vectors], pairs: Sequence[Pair], n: int, block: int) -> Accumulator:
    accumulator = Accumulator(pairs)
    for rows in spans(n, block):
        accumulator.add({name: take(views[name], rows, name) for name in accumulator.names})
    return accumulator


def _from_moments(index: Index, m: Moments, x: Vectors, y: Vectors, names: Pair, bootstrap: int, seed: int) -> Sample:
    assert index.of_moments is not None
    assert index.gradient is not None
    value, note = index.of_moments(m), index.note(m) if index.note else ""
    if not bootstrap:
        return Sample(value, m.xx.new_empty(0), note)
    # index by index: a gradient is up to three d×d matrices
    sentence_influence = influence(x, y, m, index.gradient(m), names)
    if index.recompute is None:
        return Sample(value, sentence_influence, note)
    weights = sentence_weights(int(m.n), max(bootstrap, MIN_RECOMPUTED_REPLICATES), seed)
    recomputed = index.recompute(m, x, y, (torch.from_numpy(w).to(m.xx.device) for w in weights))
    return Sample(value, sentence_influence, note, recomputed if len(recomputed) else None)


def _from_vectors(
    index: Index, views: Mapping[str, Vectors], pair: Pair, sentences: Mapping[str, Sequence[str]] | None
) -> Sample:
    assert index.of_vectors is not None
    x, y = (views[name] for name in pair)
    try:
        if index.of_sentences and sentences:
            return index.of_sentences(x, y, repeated_sentences(*(sentences[name] for name in pair)))
        return index.of_vectors(x, y)
    except InvalidVectors as error:
        raise error.at({"X": pair[0], "Y": pair[1]}.get(error.view, f"{pair[0]} or {pair[1]}")) from None


def _rows(
    pair: Pair,
    indexes: Sequence[Index],
    samples: Sequence[Sample],
    n: int,
    bootstrap: int,
    confidence: float,
    seed: int,
) -> list[Measurement]:
    if not bootstrap:
        return [Measurement(*pair, i.name, s.value, n, note=s.note) for i, s in zip(indexes, samples)]
    influences = torch.stack([s.influence for s in samples])
    bootstrap_values = replicates([s.value for s in samples], influences, bootstrap, seed)
    rows = []
    for index, sample, replicate in zip(indexes, samples, bootstrap_values):
        error, freedom = standard_error(sample.influence), effective_sentences(sample.influence)
        if sample.replicates is not None:
            error = max(error, float(sample.replicates.std(ddof=1)))
            replicate = (sample.value + sample.replicates - sample.replicates.mean())[:bootstrap]
        if index.proportion:
            low, high = proportion_interval(sample.value, n, confidence)
        else:
            low, high = interval(sample.value, error, freedom, index.bounds, confidence)
        rows.append(Measurement(*pair, index.name, sample.value, n, error, low, high, sample.note, replicate))
    return rows
