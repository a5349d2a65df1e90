"""The laboratory's three unseen languages are what their declarations say: Easy, Intermediate, and Hard until
transliterated. Ten minutes on two cores."""

from __future__ import annotations

from pathlib import Path

import pytest

import isogloss as ig
from isogloss.corpora.lab.languages import LANGUAGES

UNSEEN = {role: next(code for code, one in LANGUAGES.items() if one.role == role)
          for role in ("easy", "intermediate", "hard")}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("role", UNSEEN)
def test_verdict_on_the_laboratory(role: str, tmp_path: Path) -> None:
    remedies = ["transliterate"] if role == "hard" else []
    verdict = ig.diagnose("laboratory", lang=UNSEEN[role], seeds=2, remedies=remedies, out=tmp_path, device="cpu")
    assert verdict.level == role.capitalize(), verdict.systems
    assert verdict.repaired
    if role == "hard":
        assert verdict.best == "transliterated + adapted"
        assert verdict.remedies["outcome"].to_list() == ["best so far"]
