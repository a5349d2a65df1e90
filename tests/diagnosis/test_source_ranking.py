"""The ranking of sources: what decides, and that it says so."""

from __future__ import annotations

from pathlib import Path

import pytest

import isogloss as ig
from isogloss.corpora.lab.distance import lab_distance
from isogloss.diagnosis.source_ranking import distance, measured_similarity, rank_sources
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.loading.pretraining_languages import seen_languages

LAB = ig.Laboratory()


@pytest.fixture(scope="module")
def model(bert: Path) -> LoadedModel:
    loaded: LoadedModel = ig.load_model(bert, device="cpu")
    return loaded


def test_parallel_text_decides(model: LoadedModel) -> None:
    parallel = LAB.parallel(["qla", "qlb", "qlc", "qlh"], 30, "dev")
    found = rank_sources(model, "qlh", ["qla", "qlb", "qlc", "qld"], parallel=parallel)
    curves = ig.similarity(model, parallel, source="qlh", indexes=["debiased_cka"], bootstrap=0)
    means = {lang: curves.frame.filter(target=lang)["value"].mean() for lang in ("qla", "qlb", "qlc")}
    assert found.languages == [*sorted(means, key=lambda lang: -means[lang]), "qld"]  # what has no text stands last
    assert found.frame.filter(language="qla")["similarity"][0] == pytest.approx(means["qla"])
    assert found.frame.filter(language="qld")["similarity"][0] is None
    assert found.basis == "similarity inside the model on 30 parallel sentences (debiased CKA)"
    assert measured_similarity(model, parallel, "qla")["qlh"] == pytest.approx(means["qla"], abs=1e-6)


def test_comparable_text_else(model: LoadedModel) -> None:
    texts = {lang: list(LAB.text(lang, 20)) for lang in ("qla", "qlc", "qlh")}
    found = rank_sources(model, "qlh", ["qla", "qlc"], comparable=texts)
    assert "comparable texts (20 lines each" in found.basis
    assert found.frame["similarity"].is_sorted(descending=True)


def test_descent_and_typology_where_there_is_no_text(model: LoadedModel) -> None:
    found = rank_sources(model, "qlj", ["qla", "qld", "qle", "qlf", "qlj"], seen=frozenset({"qld"}))
    assert found.languages[0] == "qld"  # its parent
    assert "qlj" not in found.languages
    assert found.basis.startswith("genealogy and typology (genealogy, script, syntax")
    assert found.frame.filter(language="qld").select("seen", "writing", "distance").row(0) == (
        True, "Latn", pytest.approx(4 / 9),
    )  # fmt: skip


def test_real_languages(model: LoadedModel) -> None:
    found = rank_sources(model, "ug", ["tr", "en", "uz"])
    assert found.languages[-1] == "en"
    assert found.frame["seen"].to_list() == [None] * 3
    assert distance("ug", "qla") == {}
    unknown = rank_sources(model, "qaf", ["qaa"])
    assert unknown.basis.startswith("nothing")


def test_distances_of_the_laboratory() -> None:
    assert lab_distance("qlh", "qlh") == {"genealogy": 0.0, "script": 0.0, "syntax": 0.0}
    assert lab_distance("qlh", "qlb")["genealogy"] == pytest.approx(1 / 4)  # A, qla, qlb, qlh: all but itself
    assert lab_distance("qlh", "qla")["genealogy"] == pytest.approx(2 / 4)
    assert lab_distance("qlh", "qlk")["genealogy"] == 1
    assert lab_distance("qlj", "qld") | {"genealogy": 0} == {"genealogy": 0, "script": 1.0, "syntax": 0.0}


def test_seen_languages(model: LoadedModel) -> None:
    assert seen_languages(model) is None
    laboratory = seen_languages(ig.load_model("laboratory", device="cpu"))
    assert laboratory is not None and "qla" in laboratory and "qlj" not in laboratory
    model.body.config.vocab_size, before = 119547, model.body.config.vocab_size  # type: ignore[union-attr]
    try:
        known = seen_languages(model)
        assert known is not None and "tr" in known and "ug" not in known
    finally:
        model.body.config.vocab_size = before  # type: ignore[union-attr]
