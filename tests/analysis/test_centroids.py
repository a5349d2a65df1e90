"""Nearness of languages from texts that are no translations: by hand, and what it must not depend on."""

from __future__ import annotations

import numpy as np
import pytest
from tiny_models import build

import isogloss as ig
from isogloss.analysis.language_centroids import centroid_similarity
from isogloss.core.errors import UsageError
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.states.hidden_states import sentence_states

TEXTS = {
    "en": ["The cat sat on the mat.", "She told him"],
    "fr": ["Le chat dort.", "Le"],
    "ru": ["Мы живём в большом городе", "рынок"],
}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    return ig.load_model(build("bert", tmp_path_factory.mktemp("bert")), device="cpu")


def test_by_hand(model: LoadedModel) -> None:
    found = centroid_similarity(model, TEXTS, "en")
    means = {lang: sentence_states(model, lines).collect().mean(axis=1) for lang, lines in TEXTS.items()}
    middle = sum(means.values()) / 3
    for lang in ("fr", "ru"):
        pairs = zip(means["en"] - middle, means[lang] - middle, strict=True)
        cosines = [a @ b / np.sqrt((a @ a) * (b @ b)) for a, b in pairs]
        assert found[lang] == pytest.approx(np.mean(cosines), abs=1e-5)


def test_the_same_text_is_nearest(model: LoadedModel) -> None:
    found = centroid_similarity(model, {**TEXTS, "sco": TEXTS["en"]}, "en")
    assert found["sco"] == pytest.approx(1, abs=1e-6)
    assert max(found, key=lambda lang: found[lang]) == "sco"


def test_two_languages_tell_nothing(model: LoadedModel) -> None:
    with pytest.raises(UsageError, match="expected 'en' and at least 2 other languages, got en, fr"):
        centroid_similarity(model, {"en": ["a"], "fr": ["b"]}, "en")
    with pytest.raises(UsageError, match="expected 'de'"):
        centroid_similarity(model, TEXTS, "de")
