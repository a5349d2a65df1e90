"""Diagnoses of the laboratory's three unseen languages: are they what their declarations ask for?

All systems with the laboratory's settings: nine minutes for all three languages on two quiet cores. The model and the
BiLSTM with settings that are searched: does each system's best chance change who is better?
"""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import isogloss as ig
from isogloss.corpora.lab.languages import LANGUAGES
from isogloss.diagnosis.verdict import Verdict

UNSEEN = {role: next(code for code, one in LANGUAGES.items() if one.role == role)
          for role in ("easy", "intermediate", "hard")}  # fmt: skip
pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]  # beside others two cores are not quiet


@pytest.fixture(scope="module", params=UNSEEN)
def diagnosis(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Verdict]:
    """The role of a language, and its verdict."""
    role = request.param
    remedies, out = ["transliterate"] if role == "hard" else [], tmp_path_factory.mktemp(role)
    verdict = ig.diagnose("laboratory", lang=UNSEEN[role], remedies=remedies, tune=False, out=out, device="cpu")
    return role, verdict


def test_languages_are_what_they_were_built_for(diagnosis: tuple[str, Verdict]) -> None:
    role, verdict = diagnosis
    assert verdict.level == role.capitalize(), verdict.systems
    assert verdict.repaired
    if role == "hard":
        assert verdict.sure, verdict.differences
        assert verdict.best == "transliterated + adapted"
        assert verdict.remedies["outcome"].to_list() == ["best so far"]


@pytest.mark.parametrize(("role", "level"), [("easy", "Easy"), ("hard", "Undecided")])
def test_tuning_does_not_change_who_is_better(role: str, level: str, tmp_path: Path) -> None:
    """Without raw text only Easy can be decided; a language that is not Easy is Undecided."""
    verdict = ig.diagnose("laboratory", lang=UNSEEN[role], text=(), remedies=[], out=tmp_path, device="cpu")
    assert verdict.level == level, verdict.systems
    assert verdict.selection.startswith("by 3-fold cross-validation")
    chosen = verdict.tuning.filter("chosen")
    assert chosen["system"].to_list() == ["fine-tuned", "BiLSTM"]
    tried = verdict.tuning.filter(pl.col("dev").is_not_null())
    for system, score in chosen.select("system", "dev").iter_rows():
        assert score == tried.filter(system=system)["dev"].max()
