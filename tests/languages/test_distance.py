from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from isogloss.core.errors import UnknownName
from isogloss.languages import distance
from isogloss.languages.distance import language_distance, syntax_features


@pytest.fixture
def uriel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A package that carries features as lang2vec does, for three languages."""
    data = np.array([[1, 0, 1, 1], [1, 0, 0, 0], [1, 0, 1, 0]], dtype=np.float32)[:, :, None]
    folder = tmp_path / "lang2vec" / "data"
    folder.mkdir(parents=True)
    names = {"langs": np.array(["eng", "fra", "rus"]), "feats": np.array(["S_SVO", "S_SOV", "S_ADP", "P_TONE"])}
    np.savez(folder / "feature_predictions.npz", data=data, sources=np.array(["predicted"]), **names)
    (tmp_path / "lang2vec" / "__init__.py").write_text("import pkg_resources_is_gone", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    syntax_features.cache_clear()
    yield
    syntax_features.cache_clear()


def test_genealogy_counts_the_shared_line_of_descent() -> None:
    far = {code: language_distance("en", code)["genealogy"] for code in ("en", "sco", "de", "sv", "fr", "ru", "tr")}
    assert far["en"] == 0 and far["tr"] == 1
    assert 0 < far["sco"] < far["de"] <= far["sv"] < far["fr"] < 1
    assert far["fr"] == far["ru"]


def test_scripts_are_the_same_or_not() -> None:
    assert [language_distance("ru", code)["script"] for code in ("uk", "pl", "sr")] == [0, 1, 0]


@pytest.mark.usefixtures("uriel")
def test_syntax_is_the_cosine_distance_of_the_syntactic_features() -> None:
    assert language_distance("en", "fr")["syntax"] == pytest.approx(1 - 1 / np.sqrt(2))  # (1, 0, 1) and (1, 0, 0)
    assert language_distance("en", "ru")["syntax"] == pytest.approx(0, abs=1e-12)
    assert "syntax" not in language_distance("en", "tr")


def test_without_uriel_there_is_no_syntax(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distance, "find_spec", lambda name: None)
    syntax_features.cache_clear()
    assert sorted(language_distance("en", "fr")) == ["genealogy", "script"]
    syntax_features.cache_clear()


def test_unknown_languages_are_told() -> None:
    with pytest.raises(UnknownName, match="unknown language 'qqq'"):
        language_distance("en", "qqq")
