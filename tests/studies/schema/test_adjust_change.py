"""A study file may name adjustment: it is done once, kept, and is what the library does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from test_run_study import SETTINGS, never, run, study

import isogloss as ig
from isogloss.core.errors import InputError, UsageError
from isogloss.studies.execution import run_job as work
from isogloss.studies.execution.corpora import read_bitexts
from isogloss.training.adjustment import adjust

LINKED = "lab:qla,qlb/train/20"
QUICK = {"batch": 8, "learning_rate": 1e-3, "reduction": "mean"}


@pytest.fixture(autouse=True)
def _fresh_memory() -> None:
    work._worker_context.cache_clear()


def adjusted(bert: Path, bitext: object, seeds: int = 1, **more: Any) -> dict[str, Any]:
    change = {"adjust": {"bitext": bitext, "settings": QUICK, **more}}
    return study(bert, changes={"REF": [], "adjusted": [change]}, seeds=seeds)


def test_it_gives_what_the_library_gives(bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    results = run(adjusted(bert, LINKED, seeds=2, layers=2), tmp_path)
    assert not results.failed
    lab = ig.Laboratory()
    model = ig.adjust(ig.load_model(bert, device="cpu"), lab.bitext("qla", "qlb", 20), layers=2, **QUICK)
    test = {lang: lab.treebank(lang, "test", n) for lang, n in (("qla", 9), ("qlb", 7))}
    banks = lab.treebank("qla", "train", 16), lab.treebank("qla", "dev", 8)
    told = ig.transfer(model, "pos", *banks, test, seeds=range(2), **SETTINGS)
    compared = ["target", "split", "seed", "value"]
    rows = results.frame.filter(pl.col("changes") == "adjusted")
    assert rows.select(compared).equals(told.frame.select(compared))
    monkeypatch.setattr(adjust, "train", never)
    assert run(adjusted(bert, LINKED, seeds=2, layers=2), tmp_path).frame.equals(results.frame)


def test_the_bitext_is_part_of_its_identity(bert: Path, tmp_path: Path) -> None:
    pairs = ig.Laboratory().bitext("qla", "qlb", 20)
    pairs.write(tmp_path / "pairs.jsonl")
    plans = [str(tmp_path / "pairs.jsonl"), LINKED, [LINKED, "lab:qla,qlc/train/20"]]
    stages = []
    for bitext in plans:
        results = run(adjusted(bert, bitext), tmp_path / "store")
        assert not results.failed
        stages.append(len(list((tmp_path / "store").rglob("model-*"))))
    assert stages[0] < stages[1] < stages[2]
    pairs[:10].write(tmp_path / "pairs.jsonl")
    run(adjusted(bert, plans[0]), tmp_path / "store")
    assert len(list((tmp_path / "store").rglob("model-*"))) > stages[2]


def test_a_bitext_has_two_languages(bert: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="two languages"):
        read_bitexts(["lab:qla/train/5"])
    with pytest.raises(InputError, match="language of the laboratory"):
        run(adjusted(bert, "lab:qla,qlx/train/5"), tmp_path)
