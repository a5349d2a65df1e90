"""Diagnoses of the laboratory's three unseen languages: are they what their declarations ask for? Nine minutes for all
three on two quiet cores."""

from __future__ import annotations

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
    verdict = ig.diagnose("laboratory", lang=UNSEEN[role], remedies=remedies, out=out, device="cpu")
    return role, verdict


def test_languages_are_what_they_were_built_for(diagnosis: tuple[str, Verdict]) -> None:
    role, verdict = diagnosis
    assert verdict.level == role.capitalize(), verdict.systems
    assert verdict.repaired
    if role == "hard":
        assert verdict.sure, verdict.differences
        assert verdict.best == "transliterated + adapted"
        assert verdict.remedies["outcome"].to_list() == ["best so far"]
