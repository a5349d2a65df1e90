"""Every index for every pair of languages at every layer of a model, from one pass over each language.

Sentence vectors of all layers are written to disk during the forward pass and read back by layer, so that memory holds
only the moments of one layer and a block of rows.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from isogloss.corpora.parallel import ParallelSet
from isogloss.indexes.battery import Measurement, compare
from isogloss.indexes.index import Index
from isogloss.indexes.moments import Pair
from isogloss.models.loading.loaded_model import FINAL, Layer, LoadedModel
from isogloss.models.loading.placement import is_offloaded
from isogloss.models.states.hidden_states import sentence_states
from isogloss.models.states.state_files import LayerRows, StateStore
from isogloss.results.rows.curves import FINAL_NORM

LayerStage = tuple[int, str]  # layer and stage
Progress = Callable[[str, int, int], None]  # description, steps done, total steps


@dataclass(frozen=True)
class CurveInputs:
    """What is compared, and how: all that decides a curve besides the model.

    `budget` (tokens per batch) and `scratch` (the folder for vectors) do not change the result.
    """

    parallel: ParallelSet
    pairs: tuple[Pair, ...]
    indexes: tuple[Index, ...]
    pool: str
    specials: bool
    layers: tuple[Layer, ...]
    budget: int | None = None
    scratch: str | os.PathLike[str] | None = None

    @property
    def languages(self) -> list[str]:
        return list(dict.fromkeys(lang for pair in self.pairs for lang in pair))


class MeasuredLayer(NamedTuple):
    """The measurements of one layer, and the vectors of each language, which can be read until the next layer."""

    place: LayerStage
    measurements: list[Measurement]
    views: Mapping[str, LayerRows]


def measure_layers(
    model: LoadedModel,
    inputs: CurveInputs,
    *,
    bootstrap: int = 0,
    confidence: float = 0.95,
    seed: int = 0,
    progress: Progress | None = None,
) -> Iterator[MeasuredLayer]:
    """Layer by layer, the indexes of every pair; without intervals if `bootstrap` is 0."""
    report = progress or (lambda *_: None)
    on_gpu = model.device.type == "cuda" and not is_offloaded(model.body)
    with StateStore(inputs.scratch) as store:
        for lang in inputs.languages:
            states = sentence_states(
                model,
                inputs.parallel.sentences(lang),
                pool=inputs.pool,
                specials=inputs.specials,
                layers=inputs.layers,
                budget=inputs.budget,
                progress=lambda done, total, lang=lang: report(f"reading {lang}", done, total),  # type: ignore[misc]
            )
            store.write(lang, states)
        for step, layer in enumerate(inputs.layers, 1):
            views = {lang: store.layer(lang, layer) for lang in store.languages}
            measurements = compare(
                views,
                inputs.pairs,
                inputs.indexes,
                bootstrap=bootstrap,
                confidence=confidence,
                seed=seed,
                device=model.device if on_gpu else None,  # of the moments
                where=f"layer {layer}",
                sentences=inputs.parallel.texts,
            )
            yield MeasuredLayer(_layer_stage(layer, model.layers), measurements, views)
            report("comparing layers", step, len(inputs.layers))


def _layer_stage(layer: Layer, layers: int) -> LayerStage:
    """The number of the layer and the stage: the raw output of the last block differs from that of the final norm."""
    if layer == FINAL:
        return layers, FINAL_NORM
    return int(layer), "block" if layer else "embedding"
