"""The whole way from a model folder and parallel sentences to curves, held against the single indexes."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import tiny_models
from shared_data import shared

import isogloss as ig
from isogloss.core.errors import UnknownName, UsageError
from isogloss.corpora.parallel import ParallelSet
from isogloss.models.states.hidden_states import sentence_states

TEXT = [f"{one} {two}" for one in tiny_models.SENTENCES for two in tiny_models.SENTENCES[:6]]  # 54 sentences


@pytest.fixture(scope="module", autouse=True)
def control_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Controls in a temporary folder, shared by these tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


def parallel_set() -> ParallelSet:
    """Three "languages": the sentences, the same in capitals, and a shuffled text that is parallel to nothing."""
    order = np.random.default_rng(0).permutation(len(TEXT))
    texts = {"en": tuple(TEXT), "fr": tuple(text.upper() for text in TEXT), "ru": tuple(TEXT[i] for i in order)}
    return ParallelSet(texts, ids=tuple(map(str, range(len(TEXT)))))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_models.build("bert", tmp_path_factory.mktemp("bert"))


def test_every_row_equals_the_index_of_the_two_sets_of_vectors(folder: Path) -> None:
    model, text = ig.load_model(folder), parallel_set()
    curves = ig.similarity(model, text, source="en", indexes=["cka", "anc", "matching", "svcca(keep=3)"])
    states = {lang: sentence_states(model, text.sentences(lang)).collect() for lang in text.languages}
    functions = {
        "cka": ig.cka,
        "anc": ig.anc,
        "matching": ig.matching_accuracy,
        "svcca(keep=3)": lambda x, y: ig.svcca(x, y, keep=3),
    }
    assert curves.frame.height == 2 * 4 * len(functions)
    for row in curves.frame.iter_rows(named=True):
        x, y = states["en"][row["layer"]], states[row["target"]][row["layer"]]
        assert row["value"] == pytest.approx(functions[row["index"]](x, y), abs=1e-9)
        assert row["low"] <= row["value"] <= row["high"]
        assert row["n"] == len(TEXT)


def test_all_pairs_without_a_source_and_none_of_a_language_with_itself(folder: Path) -> None:
    curves = ig.similarity(folder, parallel_set(), indexes=["cka"], bootstrap=0)
    assert set(curves.frame.select("source", "target").iter_rows()) == {("en", "fr"), ("en", "ru"), ("fr", "ru")}
    assert curves.frame["low"].null_count() == curves.frame.height


def test_translations_are_more_alike_than_shuffled_sentences(folder: Path) -> None:
    text = parallel_set()
    texts = {**text.texts, "fr": tuple(sentence + " x" for sentence in text.sentences("en"))}
    curves = ig.similarity(folder, ParallelSet(texts, text.ids), source="en")
    for _, rows in curves.frame.group_by("index", "layer"):
        values = dict(zip(rows["target"], rows["value"], strict=True))
        assert values["fr"] > values["ru"] + 0.1


def test_batch_size_and_storage_do_not_change_the_result(folder: Path, tmp_path: Path) -> None:
    one, other = (
        ig.similarity(folder, parallel_set(), source="en", budget=budget, scratch=scratch)
        for budget, scratch in ((40, None), (4000, tmp_path))
    )
    difference = (one.frame["value"] - other.frame["value"]).abs().max()
    assert isinstance(difference, float)
    assert difference < 1e-5
    assert list(tmp_path.iterdir()) == [], "the vectors on disk go away with the work"


def test_repeated_sentences_are_measured_once_and_counted(folder: Path) -> None:
    """Each sentence three times in another order, as the premises of XNLI; one translation also with another source."""
    text, model = parallel_set().pair("en", "fr"), ig.load_model(folder)
    order = np.random.default_rng(1).permutation(np.repeat(np.arange(len(text)), 3))
    tripled = ParallelSet(
        {lang: tuple(text.texts[lang][i] for i in order) for lang in text.texts}, ids=tuple(map(str, range(len(order))))
    )
    once = ig.similarity(model, text, source="en", indexes=["cka", "matching"]).frame
    with pytest.warns(UserWarning, match="108 of 162 sentences repeat another and are left out; 54 are measured"):
        collapsed = ig.similarity(model, tripled, source="en", indexes=["cka", "matching"]).frame
    assert set(collapsed["n"]) == {54}
    assert all("108 of 162 sentences repeat another" in note for note in collapsed["note"])
    np.testing.assert_allclose(collapsed["value"], once["value"], atol=1e-5)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*repeat another")
        kept = ig.similarity(model, tripled, source="en", indexes=["cka", "matching"], keep_repeats=True).frame
    assert set(kept["n"]) == {162}
    np.testing.assert_allclose(kept["value"], once["value"], atol=1e-5)


def test_text_that_the_model_cannot_read_gets_no_verdict(folder: Path) -> None:
    """The vocabulary has no capitals, in which the sentences of "fr" are written."""
    model, text = ig.load_model(folder), parallel_set()
    with pytest.warns(UserWarning, match=r"fr: .* cannot read it: 57 % of the tokens are unknown; .* transliterate it"):
        curves = ig.similarity(model, text, indexes=["cka"], control=False)
    unknown = {}
    for lang in text.languages:
        ids = [id for line in text.sentences(lang) for id in model.tokenizer.encode(line, add_special_tokens=False)]
        unknown[lang] = ids.count(model.tokenizer.unk_token_id) / len(ids)
    assert dict(curves.texts.select("language", "unknown").iter_rows()) == pytest.approx(unknown)
    assert curves.texts.filter(~pl.col("readable"))["language"].to_list() == ["fr"]
    for row in curves.shapes.iter_rows(named=True):
        if "fr" in (row["source"], row["target"]):
            assert (row["verdict"], row["reason"]) == ("withheld", "fr: 57 % of the tokens are unknown")
        else:
            assert row["verdict"] != "withheld"
    for row in curves.frame.iter_rows(named=True):
        assert (row["source_unknown"], row["target_unknown"]) == (unknown[row["source"]], unknown[row["target"]])


def test_the_same_translation_of_two_sentences_is_correct_for_both(folder: Path) -> None:
    text = parallel_set().pair("en", "fr")
    target = text.texts["fr"][:-1] + text.texts["fr"][:1]  # the last sentence has the translation of the first
    same = ParallelSet({"en": (*text.texts["en"][:-1], text.texts["en"][0] + " !"), "fr": target}, ids=text.ids)
    rows = ig.similarity(ig.load_model(folder), same, source="en", indexes=["matching"]).frame
    assert set(rows["n"]) == {54}
    assert all("1 repeated sentences" in note for note in rows["note"])
    states = [sentence_states(ig.load_model(folder), same.texts[lang]).collect() for lang in ("en", "fr")]
    for x, y, value in zip(*states, rows["value"], strict=True):
        cosine = (x / np.linalg.norm(x, axis=1)[:, None]) @ (y / np.linalg.norm(y, axis=1)[:, None]).T
        correct = np.array([[one == other for other in target] for one in target])
        # the model gives some different sentences the same tokens: a tie, and a miss
        hits = np.where(correct, cosine, -1).max(1) > np.where(correct, -1, cosine).max(1) + 1e-6
        assert value == pytest.approx(np.mean(hits))


def test_the_final_norm_is_told_apart_from_the_last_block(tmp_path: Path) -> None:
    curves = ig.similarity(tiny_models.build("llama", tmp_path), parallel_set(), source="en", indexes=["cka"])
    last = curves.frame.filter((pl.col("layer") == 3) & (pl.col("target") == "fr"))
    assert last["stage"].to_list() == ["block", "final norm"]
    assert abs(last["value"][0] - last["value"][1]) > 1e-6
    assert curves.table("cka").columns[-2:] == ["3", "3+norm"]
    assert curves.frame.filter(pl.col("layer") == 0)["stage"].unique().to_list() == ["embedding"]


def test_neurons_add_up_to_anc(folder: Path) -> None:
    curves = ig.similarity(folder, parallel_set(), source="en", indexes=["anc"])
    mean = curves.neurons.group_by("target", "layer").agg(pl.col("correlation").abs().mean().alias("mean"))
    joined = curves.frame.join(mean, on=["target", "layer"])
    assert joined.height == curves.frame.height
    assert np.allclose(joined["value"], joined["mean"], atol=1e-9)
    top = curves.language_neutral(2).filter(pl.col("layer") == 1)
    assert top["rank"].to_list() == [1, 2, 15, 16]
    assert top["mean"].is_sorted(descending=True)


def test_models_are_compared_by_adding_their_curves(folder: Path) -> None:
    one = ig.similarity(folder, parallel_set(), source="en", indexes=["cka"], name="before", bootstrap=0)
    two = ig.similarity(folder, parallel_set(), source="en", indexes=["cka"], name="after", bootstrap=0)
    both = one + two
    assert both.frame["model"].unique(maintain_order=True).to_list() == ["before", "after"]
    means = both.mean().filter(pl.col("layer") == 2)
    assert means["pairs"].to_list() == [2, 2]
    expected = one.frame.filter(pl.col("layer") == 2)["value"]
    assert means["mean"][0] == pytest.approx(expected.mean())
    assert means["spread"][0] == pytest.approx(expected.std())


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"source": "xx"}, UnknownName, "unknown language"),
        ({"indexes": ["ckaa"]}, UnknownName, "did you mean 'cka'"),
        ({"indexes": ["cka(3)"]}, UsageError, "takes no options"),
        ({"indexes": ["matching(center)"]}, UnknownName, "direction"),
        ({"pool": "sum"}, UnknownName, "unknown pooling"),
        ({"layers": [7]}, UsageError, "layers 0 … 3"),
        ({"indexes": ["cca"]}, UsageError, "10 samples are too few"),
    ],
)
def test_wrong_arguments_are_told_in_one_line(
    folder: Path, options: dict, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        ig.similarity(folder, parallel_set()[:10], **options)


@pytest.fixture(scope="module")
def real_curves() -> ig.Curves:
    files = {
        lang: shared(f"data/ud/UD_{name}-PUD/{lang}_pud-ud-test.conllu.xz")
        for lang, name in (("en", "English"), ("fr", "French"), ("es", "Spanish"))
    }
    model = ig.load_model(shared("models/mini-mlm-11"))
    return ig.similarity(model, ig.read_parallel(files), source="en", indexes=["cka", "matching(centre)"])


@pytest.mark.slow
def test_the_real_encoder_shows_the_measured_rise_and_fall(real_curves: ig.Curves) -> None:
    """Against the curves of the model's own card, measured independently on the same sentences (two digits)."""
    card = {
        "cka": [0.75, 0.64, 0.62, 0.62, 0.68, 0.75, 0.73, 0.74, 0.79, 0.79, 0.78, 0.74, 0.63],
        "matching(centre)": [0.57, 0.61, 0.62, 0.60, 0.60, 0.58, 0.60, 0.61, 0.63, 0.63, 0.62, 0.62, 0.58],
    }
    for index, expected in card.items():
        rows = real_curves.frame.filter((pl.col("index") == index) & (pl.col("target") == "fr"))
        assert np.allclose(rows["value"], expected, atol=0.02), index
    shapes = real_curves.shapes.filter(pl.col("index") == "cka")
    assert (shapes["effect"] > 0).all()
    assert (shapes["p"] < 0.05).all()


@pytest.mark.slow
def test_matching_peaks_in_the_upper_middle(real_curves: ig.Curves) -> None:
    shapes = real_curves.shapes.filter(pl.col("index") == "matching(centre)")
    assert shapes["peak"].is_between(7, 11).all()
