"""Word alignment on gold sets: the vectors of a small real encoder against eflomal, which learns from the same pairs.

Error rates (AER, %), the encoder by mutual argmax ("argmax") and iterative maximum at its default layer, with the
sentence's mean taken away ("centred"), at the layer that is best on the very gold links (a bound, not a method), and by
sub-words; eflomal by intersection and by grow-diag-final-and, the mean of some runs, as it takes no seed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import isogloss as ig
from benchmarks.timing import SHARED
from isogloss.analysis.alignment import best_layer, score_layers
from isogloss.analysis.embedding_alignment import default_layer
from isogloss.corpora.corpus import Corpus
from isogloss.corpora.kinds.bitext import AlignedPair
from isogloss.models.loading.loaded_model import LoadedModel

ENCODER = SHARED / "models/mini-mlm-11"
GOLD = SHARED / "data/alignment"
MOST = 450  # pairs of a set: "a few hundred", as many as the smaller sets have
RUNS = 3  # of eflomal
COLUMNS = ("argmax", "itermax", "sub-words", "centred", "centred, best", "eflomal ∩", "eflomal gdfa")


def gold_sets() -> dict[str, Callable[[], Corpus[AlignedPair]]]:
    def pharaoh(name: str) -> Corpus[AlignedPair]:
        return ig.read_bitext(GOLD / f"awesome/{name}.src-tgt.xz", GOLD / f"awesome/{name}.gold.xz", base=None)

    def lines(pair: str, name: str) -> Corpus[AlignedPair]:
        parts = [ig.read_bitext(path, repair=True) for path in sorted(GOLD.glob(f"multi/*/{pair}/{name}.jsonl.xz"))]
        return parts[0].with_items(item for part in parts for item in part)

    return {
        "en-fr Hansards": lambda: pharaoh("enfr"),
        "en-es": lambda: lines("en-es", "es_golden"),
        "en-fr PUD": lambda: ig.read_bitext(GOLD / "pud/en-fr", repair=True),
        "en-ru PUD": lambda: ig.read_bitext(GOLD / "pud/en-ru", repair=True),
        "en-ar PUD": lambda: ig.read_bitext(GOLD / "pud/en-ar", repair=True),
        "en-hi": lambda: lines("en-hi", "hindi"),
        "en-sv (sv not in the model)": lambda: lines("en-sv", "swedish"),
        "zh-en (zh not in the model)": lambda: pharaoh("zhen"),
    }


def run(quick: bool = False) -> None:
    if not (Path(ENCODER).exists() and GOLD.exists()):
        print("the gold sets and the encoder are not here (set ISOGLOSS_SHARED to a folder that holds them)")
        return
    model = ig.load_model(ENCODER)
    sets = gold_sets()
    print(f"{ENCODER.name}, layer {default_layer(model)} of {model.layers} unless best; eflomal: mean of {RUNS} runs")
    print(f"{'AER, %':28} {'pairs':>5}", *(f"{name:>13}" for name in COLUMNS), "  seconds: encoder, eflomal")
    for name, read in list(sets.items())[: 2 if quick else None]:
        gold = read()[: 60 if quick else MOST]
        start = time.perf_counter()
        cells = encoder_cells(model, gold)
        middle = time.perf_counter()
        cells += eflomal_cells(gold, 1 if quick else RUNS)
        times = middle - start, time.perf_counter() - middle
        print(f"{name:28} {len(gold):5}", *(f"{cell:>13}" for cell in cells), *(f"{t:8.0f}" for t in times), flush=True)


def encoder_cells(model: LoadedModel, gold: Corpus[AlignedPair]) -> list[str]:
    layer = [default_layer(model)]
    ways = ({}, {"symmetrisation": "itermax"}, {"unit": "subword"})
    cells = [percent(score_layers(model, gold, layer, **options)[layer[0]].aer) for options in ways]
    centred = score_layers(model, gold, centre=True)
    best = best_layer(centred)
    return [*cells, percent(centred[layer[0]].aer), f"{percent(centred[best].aer)} ({best})"]


def eflomal_cells(gold: Corpus[AlignedPair], runs: int) -> list[str]:
    cells = []
    for method in ("intersection", "grow-diag-final-and"):
        found = [ig.align(gold, "eflomal", symmetrise=method) for _ in range(runs)]
        cells.append(percent(sum(ig.score_alignment(one, gold).aer for one in found) / runs))
    return cells


def percent(share: float) -> str:
    return f"{100 * share:.1f}"
