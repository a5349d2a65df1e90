"""The page on adjustment names what is there."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import isogloss as ig
from isogloss.training.adjustment.pairs import TOKEN_CHOICES
from isogloss.training.adjustment.settings import AdjustmentSettings, LossOptions, PairOptions

PAGE = (Path(__file__).parents[3] / "docs" / "adjustment.md").read_text(encoding="utf-8")


def test_public_names_exist() -> None:
    names = set(re.findall(r"\big\.(\w+)", PAGE))
    assert len(names) > 8
    assert names <= set(dir(ig))


def test_options_and_defaults_are_those_of_the_code() -> None:
    known = {
        field.name: field.default for kind in (AdjustmentSettings, LossOptions, PairOptions) for field in fields(kind)
    }
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in PAGE.splitlines() if line.startswith("| `")]
    told = {name: row[1] for row in rows for name in re.findall(r"`(\w+)`", row[0])}
    assert set(told) - {"layers"} <= set(known)
    for name in ("words", "tokens", "regularise", "reduction"):
        assert told[name].startswith(f"`{known[name]}`")
    assert told["batch"] == ", ".join(f"{known[name]:g}" for name in ("epochs", "batch")) + ", 5e-5, 0.1"
    assert (known["learning_rate"], known["warmup"]) == (5e-5, 0.1)
    assert all(f"`{name}" in PAGE for name in TOKEN_CHOICES)
