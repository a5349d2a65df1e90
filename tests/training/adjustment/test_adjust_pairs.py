"""Sentence pairs as adjustment reads them, checked by hand."""

from __future__ import annotations

from itertools import chain

import numpy as np
import pytest
from aligned_toy import WORDS, bitext

import isogloss as ig
from isogloss.core.errors import UnknownName, UsageError
from isogloss.corpora.corpus import Corpus
from isogloss.corpora.formats.aligned_jsonl import FORMAT
from isogloss.corpora.formats.pharaoh import parse
from isogloss.corpora.kinds.bitext import AlignedPair
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.tasks.examples import IGNORE_INDEX
from isogloss.training.adjustment.pairs import TOKEN_CHOICES, encode_pairs
from isogloss.training.adjustment.settings import PairOptions


def one(source: str, target: str, links: str) -> Corpus[AlignedPair]:
    alignment = parse(links, base=0)
    assert not isinstance(alignment, str)
    return Corpus((AlignedPair(tuple(source.split()), tuple(target.split()), alignment),), "en-fr", FORMAT)


def test_units_by_hand(bert: LoadedModel) -> None:
    """[CLS] The cat [SEP] | [CLS] Le ch ##at d ##ort [SEP], whatever the tokenizer makes of the words."""
    (example,) = encode_pairs(bert, [one("The cat", "Le chat dort", "0-0 1-1 1?2")], PairOptions())
    pieces = [bert.tokenizer(word, add_special_tokens=False)["input_ids"] for word in ("Le", "chat", "dort")]
    lengths = list(map(len, pieces))
    assert example.windows[1].tolist() == [*bert.prefix, *chain(*pieces), *bert.suffix]
    assert example.arrays["target_unit"].tolist() == [3, *np.repeat([0, 1, 2], lengths), 4]
    assert example.arrays["pair_source"].tolist() == [0, 1, 2, 3]
    assert example.arrays["pair_target"].tolist() == [0, 1, 3, 4]
    assert example.arrays["regularised"].tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize(("words", "place"), [("first", 0), ("last", -1)])
def test_one_sub_word_for_a_word(bert: LoadedModel, words: str, place: int) -> None:
    (example,) = encode_pairs(bert, [one("uyuyor", "chat", "0-0")], PairOptions(words=words, tokens="words"))
    inner = example.arrays["source_unit"][1:-1]
    assert len(inner) > 1
    assert inner[place] == 0 and (inner != IGNORE_INDEX).sum() == 1


def test_a_bitext_may_link_sub_words(bert: LoadedModel) -> None:
    """The tokens are those of the words that they make up, and each is a unit of its own."""
    words = ("Le chat dort", "The cat")
    pieces = [" ".join(bert.tokenizer.tokenize(text)) for text in words]
    count = [len(one.split()) for one in pieces]
    assert count[0] > 3
    linked = one(*pieces, f"0-0 {count[0] - 1}-{count[1] - 1}")
    (example,) = encode_pairs(bert, [linked], PairOptions(words="pieces"))
    (whole,) = encode_pairs(bert, [one(*words, "0-0 2-1")], PairOptions())
    assert [ids.tolist() for ids in example.windows] == [ids.tolist() for ids in whole.windows]
    assert example.arrays["source_unit"].tolist() == [count[0], *range(count[0]), count[0] + 1]
    assert example.arrays["pair_source"].tolist() == [0, count[0] - 1, count[0], count[0] + 1]
    assert example.arrays["pair_target"].tolist() == [0, count[1] - 1, count[1], count[1] + 1]
    assert example.arrays["regularised"].tolist() == [1] * (count[0] + 2)
    with pytest.raises(UsageError, match="got 'Lechat', which its tokenizer does not have"):
        encode_pairs(bert, [one("Lechat", "The", "0-0")], PairOptions(words="pieces"))
    with pytest.warns(UserWarning, match="1 of 1 sentences truncated"):
        encode_pairs(bert, [one(" ".join(pieces[0].split()[:1] * 600), pieces[1], "0-0")], PairOptions(words="pieces"))


@pytest.mark.parametrize(
    ("tokens", "regularise", "pairs", "regularised"),
    [
        ("words", "words", 2, [1, 1, 0, 0]),
        ("words", "all", 2, [1, 1, 1, 1]),
        ("cls", "words", 1, [1, 1, 1, 0]),
        ("cls+sep", "words", 2, [1, 1, 1, 1]),
        ("all", "words", 4, [1, 1, 1, 1]),
        ("words+specials", "all", 4, [1, 1, 1, 1]),
    ],
)
def test_which_tokens_take_part(
    bert: LoadedModel, tokens: str, regularise: str, pairs: int, regularised: list[int]
) -> None:
    options = PairOptions(tokens=tokens, regularise=regularise)
    (example,) = encode_pairs(bert, [one("The cat", "Le chat", "0-0 1-1")], options)
    assert len(example.arrays["pair_source"]) == pairs
    assert example.arrays["regularised"].tolist() == regularised


def test_pairs_without_links_are_left_out_unless_only_special_tokens_count(bert: LoadedModel) -> None:
    corpus = one("The cat", "Le chat", "0?0").with_items([*one("x", "x", "0?0"), *one("The cat", "Le chat", "1-1")])
    assert len(encode_pairs(bert, [corpus], PairOptions())) == 1
    assert len(encode_pairs(bert, [corpus], PairOptions(tokens="cls"))) == 2
    with pytest.raises(UsageError, match="nothing to adjust on"):
        encode_pairs(bert, [corpus[:1]], PairOptions())


def test_words_beyond_the_model_are_left_out(bert: LoadedModel) -> None:
    long = one(" ".join(["The"] * 400), "Le chat", "0-0 399-1")
    with pytest.warns(UserWarning, match="truncated to"):
        (example,) = encode_pairs(bert, [long], PairOptions(tokens="words"))
    assert example.arrays["pair_target"].tolist() == [0]


def test_filters_and_bitexts(bert: LoadedModel) -> None:
    corpora = [one("The x", "Le x", "0-0 0-1 1-1"), one("cat x", "chat x", "0-0 1-1")]
    both = encode_pairs(bert, corpora, PairOptions(tokens="words"))
    assert [example.arrays["bitext"].tolist() for example in both] == [[0], [1]]
    strict = encode_pairs(bert, corpora, PairOptions(tokens="words", one_to_one=True, drop_identical=True))
    assert [example.arrays["pair_source"].tolist() for example in strict] == [[0]]
    with pytest.raises(UsageError, match="nothing to adjust on"):
        encode_pairs(bert, corpora, PairOptions(max_words=1))


def test_every_unit_has_a_token_and_every_pair_a_unit(bert: LoadedModel) -> None:
    for tokens in TOKEN_CHOICES:
        for example in encode_pairs(bert, [bitext(30)], PairOptions(tokens=tokens)):
            for side, window in zip(("source", "target"), example.windows, strict=True):
                unit = example.arrays[f"{side}_unit"]
                assert len(unit) == len(window)
                present = set(unit.tolist()) - {IGNORE_INDEX}
                assert present == set(range(len(present)))
                assert set(example.arrays[f"pair_{side}"].tolist()) <= present
            assert len(example.arrays["regularised"]) == example.arrays["source_unit"].max() + 1


def test_what_is_no_bitext_is_told(bert: LoadedModel) -> None:
    for wrong, said in (([], "no bitext"), ([ig.Laboratory(0).text("qla", 2)], "got text"), ([WORDS], "got list")):
        with pytest.raises(UsageError, match=said):
            encode_pairs(bert, wrong, PairOptions())  # type: ignore[arg-type]
    for options in ({"words": "men"}, {"tokens": "word"}, {"regularise": "al"}):
        with pytest.raises(UnknownName, match="did you mean"):
            PairOptions(**options)
