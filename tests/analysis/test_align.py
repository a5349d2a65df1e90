from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from shared_data import shared

import isogloss as ig
from isogloss.analysis.alignment import score_layers
from isogloss.analysis.embedding_alignment import embedding_links
from isogloss.core.errors import InputError, UnknownName, UsageError
from isogloss.corpora.corpus import Corpus
from isogloss.corpora.kinds.alignment import Alignment
from isogloss.corpora.kinds.bitext import AlignedPair
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.training.adjustment.pairs import encode_pairs
from isogloss.training.adjustment.settings import PairOptions

Tiny = Callable[[str], LoadedModel]


@pytest.fixture(scope="module")
def gold() -> Corpus:
    return ig.Laboratory().bitext("qla", "qlb", 12)


def links(bitext: Corpus) -> list[list[tuple[int, int]]]:
    return [[link[:2] for link in pair.alignment.links] for pair in bitext]


def test_a_parallel_set_and_a_bitext_give_the_same(tiny: Tiny, gold: Corpus) -> None:
    model = tiny("bert")
    parallel = ig.Laboratory().parallel(["qla", "qlb"], 12, split="train")
    found = ig.align(gold, model=model)
    assert ig.align(parallel, model=model).items == found.items
    assert (found.lang, found.format.name) == ("qla>qlb", "aligned-jsonl")
    assert links(found) == embedding_links(model, gold)[2]
    assert links(found) != links(gold)


def test_the_best_layer_is_the_one_of_lowest_error(tiny: Tiny, gold: Corpus) -> None:
    model = tiny("bert")
    scores = score_layers(model, gold)
    assert list(scores) == [0, 1, 2, 3]
    found = ig.align(gold, model=model, layer="best", gold=gold)
    assert ig.score_alignment(found, gold).aer == min(score.aer for score in scores.values())
    for layer, score in scores.items():
        assert ig.score_alignment(ig.align(gold, model=model, layer=layer), gold) == score


def test_files_of_two_directions(tmp_path: Path) -> None:
    bitext = ig.ParallelSet(
        {"en": ("a b", "c"), "fr": ("x y", "z")},
        ids=("1", "2"),
        tokens={"en": (("a", "b"), ("c",)), "fr": (("x", "y"), ("z",))},
    )
    (tmp_path / "forward").write_text("0-0 1-0\n0-0\n")
    (tmp_path / "reverse").write_text("0-0 0-1\n\n")
    files = {"forward": tmp_path / "forward", "reverse": tmp_path / "reverse"}
    assert links(ig.align(bitext, "pharaoh", **files)) == [[(0, 0)], []]
    assert links(ig.align(bitext, "pharaoh", **files, symmetrise="union")) == [[(0, 0), (0, 1), (1, 0)], [(0, 0)]]
    assert links(ig.align(bitext, "pharaoh", forward=files["reverse"])) == [[(0, 0), (0, 1)], []]
    with pytest.raises(InputError, match=r"forward:1: expected links such as 1-2"):
        ig.align(bitext, "pharaoh", **files, base=1)
    (tmp_path / "one").write_text("2-2\n1-1\n")
    assert links(ig.align(bitext, "pharaoh", forward=tmp_path / "one", base=1)) == [[(1, 1)], [(0, 0)]]
    assert links(ig.align(bitext, "pharaoh", forward=tmp_path / "one")) == [[(1, 1)], [(0, 0)]], "detected"
    with pytest.raises(InputError, match=r"one:1: expected links within 2 and 2 words, got one from word 2 to word 2,"):
        ig.align(bitext, "pharaoh", forward=tmp_path / "one", base=0)
    (tmp_path / "short").write_text("0-0\n")
    with pytest.raises(InputError, match="expected 2 lines, one per sentence pair, got 1"):
        ig.align(bitext, "pharaoh", forward=tmp_path / "short")


def test_pieces_take_the_place_of_words_by_any_method(tiny: Tiny, gold: Corpus, tmp_path: Path) -> None:
    """And adjustment reads them."""
    model, gold = tiny("bert"), gold[:3]
    (tmp_path / "links").write_text("0-0 1-1\n" * len(gold))
    pytest.importorskip("eflomal")
    ways = {"embedding": {}, "eflomal": {}, "pharaoh": {"forward": tmp_path / "links"}}
    for method, options in ways.items():
        found = ig.align(gold, method, model=model, unit="piece", **options)
        for pair, words in zip(found, gold, strict=True):
            for pieces, side in ((pair.source, words.source), (pair.target, words.target)):
                assert list(pieces) == model.tokenizer.tokenize(" ".join(side))
        assert any(links(found))
        assert encode_pairs(model, [found], PairOptions(words="pieces"))
    assert max(len(pair.source) for pair in found) > max(len(pair.source) for pair in gold)


def test_filters(tiny: Tiny, gold: Corpus) -> None:
    found = ig.align(gold, model=tiny("bert"), symmetrise="union", one_to_one=True, drop_identical=True, max_words=6)
    assert 0 < len(found) < len(gold)
    for pair in found:
        assert max(len(pair.source), len(pair.target)) <= 6
        found_links = pair.alignment.sure
        assert all(pair.source[s] != pair.target[t] for s, t in found_links)
        assert len({s for s, _ in found_links}) == len({t for _, t in found_links}) == len(found_links)


def test_a_pair_too_long_for_the_method_may_be_left_out(gold: Corpus) -> None:
    pytest.importorskip("eflomal")
    long = AlignedPair(("a",) * 2000, ("b",), Alignment())
    with pytest.raises(UsageError, match="pair 13"):
        ig.align(gold.with_items([*gold, long]), "eflomal")
    found = ig.align(gold.with_items([*gold, long]), "eflomal", max_words=64)
    assert [pair.source for pair in found] == [pair.source for pair in gold]


@pytest.mark.slow
def test_real_gold_links() -> None:
    """English-French of the Canadian parliament: measured once, and what a user of the documentation will get."""
    names = [shared(f"data/alignment/awesome/enfr.{name}.xz") for name in ("src-tgt", "gold")]
    gold = ig.read_bitext(*names, base=None)
    model = ig.load_model(shared("models/mini-mlm-11"), device="cpu")
    plain, centred = (ig.score_alignment(ig.align(gold, model=model, centre=c), gold).aer for c in (False, True))
    assert plain == pytest.approx(0.167, abs=0.002)
    assert centred < plain - 0.01


def test_what_makes_no_sense_is_told(tiny: Tiny, gold: Corpus) -> None:
    model = tiny("bert")
    with pytest.raises(UnknownName, match="did you mean 'eflomal'"):
        ig.align(gold, "efmaral")
    with pytest.raises(UsageError, match=r"layer= \(--layer\) is for the method 'embedding', not for 'eflomal'"):
        ig.align(gold, "eflomal", layer=2)
    for options in ({"model": model}, {"unit": "piece"}, {"model": model, "unit": "subword"}):
        with pytest.raises(UsageError, match="'eflomal' needs both unit='piece' and model=, or neither"):
            ig.align(gold, "eflomal", **options)
    with pytest.raises(UsageError, match="gold links are between words"):
        ig.align(gold, model=model, unit="piece", layer="best", gold=gold)
    with pytest.raises(UnknownName, match="unknown symmetrisation for the method 'eflomal' 'itermax'"):
        ig.align(gold, "eflomal", symmetrise="itermax")
    with pytest.raises(UsageError, match="needs model="):
        ig.align(gold)
    with pytest.raises(UsageError, match="compares them all"):
        ig.align(gold, model=model, unit="subword", subword="first")
    with pytest.raises(UsageError, match="needs forward="):
        ig.align(gold, "pharaoh")
    with pytest.raises(UsageError, match="go together"):
        ig.align(gold, model=model, layer="best")
    with pytest.raises(UsageError, match="go together"):
        ig.align(gold, model=model, layer=2, gold=gold)
    with pytest.raises(UsageError, match="expected two languages, got 3"):
        ig.align(ig.Laboratory().parallel(["qla", "qlb", "qlc"], 2), model=model)
    text = ig.ParallelSet({"en": ("A dog.",), "fr": ("Un chien.",)}, ids=("1",))
    with pytest.raises(UsageError, match="words=True"):
        ig.align(text, model=model)
