"""Similarity of languages inside a model: every index at every layer, for all pairs, and the verdict on each curve."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict

import polars as pl

from isogloss.analysis.curve_verdicts import LayerMeasurement, verdict_frame
from isogloss.analysis.layer_measurements import CurveInputs, LayerStage, Progress, measure_layers
from isogloss.analysis.untrained_control import DEFAULT_CONTROL_DRAWS, untrained_control
from isogloss.core.errors import UsageError
from isogloss.core.registry import check_name
from isogloss.corpora.parallel import ParallelSet
from isogloss.indexes.anc import neuron_correlations
from isogloss.indexes.battery import against, all_pairs
from isogloss.indexes.moments import Pair
from isogloss.indexes.named import named_index
from isogloss.languages.codes import canonical
from isogloss.models.loading.load import load_model
from isogloss.models.loading.loaded_model import Layer, LoadedModel
from isogloss.models.states.state_files import LayerRows
from isogloss.models.tokenization.readability import readability, warn_if_unreadable
from isogloss.results.rows.curves import CURVE_COLUMNS, NEURON_COLUMNS, TEXT_COLUMNS, Curves
from isogloss.results.rows.readability import Readability

DEFAULT_INDEXES = ("cka", "anc", "matching")


def similarity(
    model: LoadedModel | str | os.PathLike[str],
    parallel: ParallelSet,
    *,
    source: str | None = None,
    indexes: Sequence[str] = DEFAULT_INDEXES,
    pool: str = "mean",
    specials: bool = False,
    keep_repeats: bool = False,
    layers: Sequence[Layer] | None = None,
    bootstrap: int = 100,
    confidence: float = 0.95,
    seed: int = 0,
    name: str | None = None,
    budget: int | None = None,
    scratch: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    control: bool | None = None,
    control_draws: int = DEFAULT_CONTROL_DRAWS,
    control_cache: str | os.PathLike[str] | None = None,
) -> Curves:
    """The similarity of the states of parallel sentences by layer, with confidence intervals.

    `Curves.shapes` has the verdict on every curve: does it rise to an inner layer and fall after it (first align, then
    predict), more than in untrained networks of the same architecture? With the index "anc" the result has the
    correlation of every neuron, too (`Curves.neurons`).

    Args:
        model: A model, its name or folder.
        parallel: Parallel sentences of at least two languages.
        source: Compare this language with every other; all pairs by default.
        indexes: Names from `isogloss ls indexes`, optionally with options: "matching(both, centre)", "svcca(keep=20)".
        pool: "mean", "max" or "last" over the tokens of a sentence, or "cls".
        specials: Include special tokens in the pooling.
        keep_repeats: Keep sentences that repeat another in every language. By default one of them is measured.
        layers: The layers; all by default, with the output of the final norm for pre-LN families.
        bootstrap: The number of bootstrap samples; 0 for no intervals.
        confidence: The coverage of the intervals.
        seed: The seed of the bootstrap.
        name: The name of the model in the rows; the last part of its folder or name by default.
        budget: Tokens per batch. It changes speed and memory, not the result.
        scratch: A folder for the vectors (4 bytes · languages · layers · sentences · units).
        progress: Called with a description, the steps done and the total.
        control: Compare with untrained networks; by default if there is a bootstrap and the model has at most 150
            million parameters (1 billion on a GPU). No verdict is "yes" without it.
        control_draws: The number of untrained networks.
        control_cache: The folder in which controls are stored; isogloss/controls in the user's cache by default.
    """
    loaded = model if isinstance(model, LoadedModel) else load_model(model)
    parallel, repeats_note = (parallel, "") if keep_repeats else _distinct(parallel)
    inputs = CurveInputs(
        parallel,
        tuple(_pairs(parallel, source)),
        tuple(named_index(index) for index in indexes),
        pool,
        specials,
        tuple(layers) if layers is not None else loaded.layer_names,
        budget,
        scratch,
    )
    label = name or os.path.basename(os.path.normpath(loaded.name))
    texts = _texts(loaded, parallel, inputs.pairs)
    rows: list[LayerMeasurement] = []
    neurons = [pl.DataFrame(schema=NEURON_COLUMNS)]
    for place, measurements, views in measure_layers(
        loaded, inputs, bootstrap=bootstrap, confidence=confidence, seed=seed, progress=progress
    ):
        rows += [LayerMeasurement(*place, measurement) for measurement in measurements]
        if "anc" in indexes:
            neurons += [_neuron_frame(label, place, pair, views) for pair in inputs.pairs]
    unknown = {lang: text.unknown if text else None for lang, text in texts.items()}
    curves = [
        (label, row.source, row.target, row.index, layer, stage, row.value, row.low, row.high, row.n,
         "; ".join(filter(None, (row.note, repeats_note))), unknown[row.source], unknown[row.target])
        for layer, stage, row in rows
    ]  # fmt: skip
    frame = pl.DataFrame(curves, schema=CURVE_COLUMNS, orient="row")
    withheld = {lang: f"{lang}: {text.problem}" for lang, text in texts.items() if text and text.problem}
    if control is None and (not bootstrap or all(withheld.keys() & set(pair) for pair in inputs.pairs)):
        control = False  # there is no verdict that a control would change
    untrained = untrained_control(loaded, inputs, control, control_draws, cache=control_cache, progress=progress)
    shapes = verdict_frame(label, rows, untrained.curves, no_control=untrained.missing, withheld=withheld)
    text_rows = [{"model": label, "language": lang, **asdict(text)} for lang, text in texts.items() if text]
    return Curves(frame, pl.concat(neurons), shapes, pl.DataFrame(text_rows, schema=TEXT_COLUMNS))


def _texts(model: LoadedModel, parallel: ParallelSet, pairs: Sequence[Pair]) -> dict[str, Readability | None]:
    """How the tokenizer splits the sentences of each language, with a warning where the model cannot read them."""
    languages = dict.fromkeys(lang for pair in pairs for lang in pair)
    texts = {lang: readability(model, parallel.sentences(lang)) for lang in languages}
    for lang, text in texts.items():
        warn_if_unreadable(model, text, lang)
    return texts


def _distinct(parallel: ParallelSet) -> tuple[ParallelSet, str]:
    """The set without repeated rows, and a note on what was left out."""
    distinct = parallel.distinct()
    if len(distinct) == len(parallel):
        return parallel, ""
    note = f"{len(parallel) - len(distinct):,} of {len(parallel):,} sentences repeat another and are left out"
    warnings.warn(f"{parallel.origin or 'parallel text'}: {note}; {len(distinct):,} are measured", stacklevel=3)
    return distinct, note


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
