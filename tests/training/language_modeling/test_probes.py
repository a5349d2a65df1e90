from __future__ import annotations

import pytest
from language_toy import with_head
from tiny_models import SENTENCES

from isogloss.analysis.similarity import similarity
from isogloss.corpora.parallel import ParallelSet
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.training.language_modeling.evaluation import alignment_rows


@pytest.fixture
def model(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    return with_head("bert", tmp_path_factory.mktemp("bert"))


def test_a_probe_is_what_similarity_measures(model: LoadedModel) -> None:
    turned = (*SENTENCES[1:], SENTENCES[0])
    parallel = ParallelSet({"en": tuple(SENTENCES), "fr": turned}, tuple(map(str, range(len(SENTENCES)))))
    curves = similarity(model, parallel, source="en", indexes=["cka", "matching"], bootstrap=0).frame
    expected = {(r["layer"], r["index"]): r["value"] for r in curves.iter_rows(named=True)}
    rows = alignment_rows(model, parallel)
    assert {(row["source"], row["target"]) for row in rows} == {("en", "fr")}
    assert {(row["layer"], row["index"]): row["value"] for row in rows} == pytest.approx(expected, rel=1e-6)


def test_a_language_matches_itself(model: LoadedModel) -> None:
    parallel = ParallelSet({lang: tuple(SENTENCES) for lang in ("en", "fr")}, tuple(map(str, range(len(SENTENCES)))))
    for row in alignment_rows(model, parallel, source="fr"):
        assert row["target"] == "en"
        assert row["value"] == pytest.approx(1.0)
