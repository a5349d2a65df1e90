"""Reading English-EWT train (12,544 sentences): isogloss compared with the package `conllu`."""

from __future__ import annotations

import tempfile
from pathlib import Path

import conllu

import isogloss as ig
from benchmarks.timing import SHARED, best_times, report

EWT = SHARED / "data/ud/UD_English-EWT/en_ewt-ud-train.conllu.xz"


def treebank() -> ig.Corpus:
    """The real treebank if it is available next to the checkout; otherwise as many sentences of the laboratory."""
    if EWT.exists():
        return ig.read_treebank(EWT)
    return ig.Laboratory(seed=0).treebank("qla", "train", 12_544)


def run(quick: bool = False) -> None:
    bank = treebank()[: 1000 if quick else None]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bank.conllu"
        bank.write(path)

        def with_conllu() -> int:
            with open(path, encoding="utf-8") as file:
                return sum(1 for _ in conllu.parse_incr(file))

        print(f"{len(bank)} sentences of {Path(bank.origin).name or 'the laboratory'}")
        report(best_times({"isogloss": lambda: len(ig.read_treebank(path)), "conllu": with_conllu}), ours="isogloss")
