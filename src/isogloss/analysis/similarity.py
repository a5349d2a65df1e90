"""Similarity of languages inside a model: every index at every layer, for all pairs, from one pass per language.

Sentence vectors of all layers are written to disk during the forward pass and read back by layer, so that memory holds
only the moments of one layer and a block of rows.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import polars as pl

from isogloss.analysis.curve_verdicts import LayerMeasurement, verdict_frame
from isogloss.core.errors import UsageError
from isogloss.core.registry import check_name
from isogloss.corpora.parallel import ParallelSet
from isogloss.indexes.anc import neuron_correlations
from isogloss.indexes.battery import against, all_pairs, compare
from isogloss.indexes.moments import Pair
from isogloss.indexes.named import named_index
from isogloss.languages.codes import canonical
from isogloss.models.loading.load import load_model
from isogloss.models.loading.loaded_model import FINAL, Layer, LoadedModel
from isogloss.models.loading.placement import is_offloaded
from isogloss.models.states.hidden_states import sentence_states
from isogloss.models.states.state_files import LayerRows, StateStore
from isogloss.results.rows.curves import CURVE_COLUMNS, FINAL_NORM, NEURON_COLUMNS, Curves

DEFAULT_INDEXES = ("cka", "anc", "matching")
LayerStage = tuple[int, str]  # layer and stage
Progress = Callable[[str, int, int], None]  # description, steps done, total steps


def similarity(
    model: LoadedModel | str | os.PathLike[str],
    parallel: ParallelSet,
    *,
    source: str | None = None,
    indexes: Sequence[str] = DEFAULT_INDEXES,
    pool: str = "mean",
    specials: bool = False,
    layers: Sequence[Layer] | None = None,
    bootstrap: int = 100,
    confidence: float = 0.95,
    seed: int = 0,
    name: str | None = None,
    budget: int | None = None,
    scratch: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Curves:
    """The similarity of the states of parallel sentences by layer, with confidence intervals.

    With the index "anc" the result has the correlation of every neuron, too (`Curves.neurons`).

    Args:
        model: A model, its name or folder.
        parallel: Parallel sentences of at least two languages.
        source: Compare this language with every other; all pairs by default.
        indexes: Names from `isogloss ls indexes`, optionally with options: "matching(centre, csls)", "svcca(keep=20)".
        pool: "mean", "max" or "last" over the tokens of a sentence, or "cls".
        specials: Include special tokens in the pooling.
        layers: The layers; all by default, with the output of the final norm for pre-LN families.
        bootstrap: The number of bootstrap samples; 0 for no intervals.
        confidence: The coverage of the intervals.
        seed: The seed of the bootstrap.
        name: The name of the model in the rows; the last part of its folder or name by default.
        budget: Tokens per batch. It changes speed and memory, not the result.
        scratch: A folder for the vectors (4 bytes · languages · layers · sentences · units).
        progress: Called with a description, the steps done and the total.
    """
    loaded = model if isinstance(model, LoadedModel) else load_model(model)
    pairs = _pairs(parallel, source)
    chosen = tuple(layers) if layers is not None else loaded.layer_names
    measures = [named_index(index) for index in indexes]
    report = progress or (lambda *_: None)
    with StateStore(scratch) as store:
        for lang in dict.fromkeys(lang for pair in pairs for lang in pair):
            states = sentence_states(
                loaded,
                parallel.sentences(lang),
                pool=pool,
                specials=specials,
                layers=chosen,
                budget=budget,
                progress=lambda done, total, lang=lang: report(f"reading {lang}", done, total),  # type: ignore[misc]
            )
            store.write(lang, states)
        label = name or os.path.basename(os.path.normpath(loaded.name))
        on_gpu = loaded.device.type == "cuda" and not is_offloaded(loaded.body)
        device = loaded.device if on_gpu else None  # of the moments
        measure = partial(
            compare, pairs=pairs, indexes=measures, bootstrap=bootstrap, confidence=confidence, seed=seed, device=device
        )
        rows: list[LayerMeasurement] = []
        neurons = [pl.DataFrame(schema=NEURON_COLUMNS)]
        for step, layer in enumerate(chosen, 1):
            views = {lang: store.layer(lang, layer) for lang in store.languages}
            layer_and_stage = _layer_stage(layer, loaded.layers)
            measured = measure(views=views, where=f"layer {layer}")
            rows += [LayerMeasurement(*layer_and_stage, measurement) for measurement in measured]
            if "anc" in indexes:
                neurons += [_neuron_frame(label, layer_and_stage, pair, views) for pair in pairs]
            report("comparing layers", step, len(chosen))
    curves = [
        (label, row.source, row.target, row.index, layer, stage, row.value, row.low, row.high, row.n, row.note)
        for layer, stage, row in rows
    ]
    frame = pl.DataFrame(curves, schema=CURVE_COLUMNS, orient="row")
    return Curves(frame, pl.concat(neurons), verdict_frame(label, rows))


def _layer_stage(layer: Layer, layers: int) -> LayerStage:
    """The number of the layer and the stage: the raw output of the last block differs from that of the final norm."""
    if layer == FINAL:
        return layers, FINAL_NORM
    return int(layer), "block" if layer else "embedding"


def _pairs(parallel: ParallelSet, source: str | None) -> list[Pair]:
    if len(parallel.languages) < 2:
        raise UsageError(f"expected at least two languages to compare, got {', '.join(parallel.languages)}")
    if source is None:
        return all_pairs(parallel.languages)
    return against(
        check_name(canonical(source), parallel.languages, "language of this parallel set"), parallel.languages
    )


def _neuron_frame(model: str, place: LayerStage, pair: Pair, views: Mapping[str, LayerRows]) -> pl.DataFrame:
    correlations = neuron_correlations(views[pair[0]], views[pair[1]])
    labels = (model, *pair, *place)
    rows = [(*labels, neuron, value) for neuron, value in enumerate(correlations.tolist())]
    return pl.DataFrame(rows, schema=NEURON_COLUMNS, orient="row")
