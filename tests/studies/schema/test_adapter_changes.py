"""A study file may name adapters and new sub-words: what is trained once is kept, and all is what the library does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from test_run_study import SETTINGS, run, study
from tiny_models import build_masked

import isogloss as ig
from isogloss.studies.execution import run_job as work

TEXT = "lab:qlb/train/60"
QUICK: dict[str, Any] = {"steps": 3, "settings": {"batch": 8, "length": 32, "learning_rate": 5e-3}}
OPTIONS = {"steps": 3, **QUICK["settings"]}


@pytest.fixture(autouse=True)
def _fresh_memory() -> None:
    work._worker_context.cache_clear()


@pytest.fixture(scope="module")
def masked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_masked(tmp_path_factory.mktemp("masked"))


def test_they_give_what_the_library_gives(masked: Path, tmp_path: Path) -> None:
    trained = {"language_adapter": {"text": TEXT, **QUICK}}
    extended = {"extend_vocabulary": {"text": TEXT, "size": 30}}
    changes: dict[str, Any] = {
        "REF": [],
        "language": [trained],
        "mad-x": [trained, "task_adapter"],
        "words": [extended],
    }
    results = run(study(masked, changes=changes, seeds=1), tmp_path)
    assert not results.failed
    lab = ig.Laboratory()
    text, model = lab.text("qlb", 60), ig.load_model(masked, device="cpu")
    adapted = ig.adapt(model, text, adapter=ig.language_adapter(), **OPTIONS)
    test = {lang: lab.treebank(lang, "test", n) for lang, n in (("qla", 9), ("qlb", 7))}
    banks = lab.treebank("qla", "train", 16), lab.treebank("qla", "dev", 8)
    expected = {
        "language": ig.transfer(adapted, "pos", *banks, test, **SETTINGS),
        "words": ig.transfer(ig.extend_vocabulary(model, text, 30), "pos", *banks, test, **SETTINGS),
    }
    for name, told in expected.items():
        rows = results.frame.filter(pl.col("changes") == name)
        assert rows["value"].to_list() == pytest.approx(told.frame["value"].to_list())
    assert set(results.frame["changes"]) == set(changes)


def test_lora_in_a_study(masked: Path, tmp_path: Path) -> None:
    pytest.importorskip("peft")
    results = run(study(masked, changes={"REF": [], "lora": [{"lora": 2}]}, seeds=1), tmp_path)
    assert not results.failed
