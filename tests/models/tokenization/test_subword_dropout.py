"""Sub-word dropout: nothing dropped is the tokenizer itself, everything dropped is characters, a seed is a seed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from shared_data import shared
from tiny_models import LISTED, SENTENCES

from isogloss.core.errors import UsageError
from isogloss.models.loading.load import load_model
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.tokenization.encoding import encode_words, tokenize
from isogloss.models.tokenization.subword_dropout import with_subword_dropout

TEXTS = [*SENTENCES, "Ünknown žebra 龍 a\u0301bc  doubled  spaces", "don't!", "", "naïve café"]
KINDS = ["bert", "xlm-roberta", "qwen2", "llama", "gemma3_text", "modernbert", "mt5", "xglm"]


@pytest.mark.parametrize("family", KINDS)
def test_nothing_dropped_is_the_tokenizer_itself(tiny: Callable[[str], LoadedModel], family: str) -> None:
    model = tiny(family)
    plain, dropped = (tokenize(one, TEXTS, offsets=True) for one in (model, with_subword_dropout(model, 0.0, seed=1)))
    assert dropped["input_ids"] == plain["input_ids"]
    assert [list(map(tuple, o)) for o in dropped["offset_mapping"]] == [
        list(map(tuple, o)) for o in plain["offset_mapping"]
    ]


@pytest.mark.parametrize("family", ["bert", "xlm-roberta", "llama", "qwen2"])
def test_pieces_get_smaller_and_say_the_same(tiny: Callable[[str], LoadedModel], family: str) -> None:
    model = tiny(family)
    lengths = []
    for probability in (0.0, 0.3, 0.9):
        ids = tokenize(with_subword_dropout(model, probability, seed=2), SENTENCES)["input_ids"]
        lengths.append(sum(map(len, ids)))
        decode = model.tokenizer.decode
        plain = tokenize(model, SENTENCES)["input_ids"]
        assert [decode(a).replace(" ", "") for a in ids] == [decode(a).replace(" ", "") for a in plain]
    assert lengths[0] < lengths[1] < lengths[2]


def test_the_seed_decides(tiny: Callable[[str], LoadedModel]) -> None:
    model = tiny("bert")
    ids = [tokenize(with_subword_dropout(model, 0.4, seed), SENTENCES)["input_ids"] for seed in (1, 1, 2)]
    assert ids[0] == ids[1] != ids[2]


@pytest.mark.parametrize("family", ["bert", "xlm-roberta", "llama", "qwen2"])
def test_every_word_keeps_its_place(tiny: Callable[[str], LoadedModel], family: str) -> None:
    sentences = [text.split() for text in SENTENCES]
    for encoded, words in zip(
        encode_words(with_subword_dropout(tiny(family), 0.5, seed=3), sentences), sentences, strict=True
    ):
        inside = encoded.word[encoded.word >= 0]
        assert (np.diff(inside) >= 0).all()
        assert set(inside) == set(range(len(words)))


def test_the_rate_of_dropped_merges_is_the_one_asked_for(tiny: Callable[[str], LoadedModel]) -> None:
    """A word whose only merge is one: `ab` from a, b."""
    from isogloss.models.tokenization.subword_dropout import bpe

    cut = bpe({"merges": [["a", "b"]], "vocab": {"a": 0, "b": 1, "ab": 2}})
    from isogloss.core.seeds import Chance

    chance = Chance(5)
    split = sum(len(cut("ab", lambda: chance.happens(0.25))) == 2 for _ in range(4000))
    assert abs(split / 4000 - 0.25) < 0.03


def test_what_cannot_be_dropped_is_told(tiny: Callable[[str], LoadedModel]) -> None:
    model = tiny("bert")
    with pytest.raises(UsageError, match="expected a probability from 0 to below 1, got 1"):
        with_subword_dropout(model, 1.0, seed=0)
    slow = replace(model, tokenizer=SimpleNamespace(is_fast=False))  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="needs a fast tokenizer"):
        with_subword_dropout(slow, 0.1, seed=0)


@pytest.mark.slow
def test_a_real_tokenizer_with_nothing_dropped() -> None:
    model = load_model(shared("models/mini-mlm-11"))
    from isogloss.corpora.readers import read_treebank

    for name in ("English-PUD/en", "Turkish-PUD/tr", "Chinese-PUD/zh", "Arabic-PUD/ar"):
        folder, lang = name.split("/")
        bank = read_treebank(shared(f"data/ud/UD_{folder}/{lang}_pud-ud-test.conllu.xz"))[:300]
        texts = [tree.text for tree in bank]
        again = tokenize(with_subword_dropout(model, 0.0, seed=0), texts, offsets=True)
        plain = tokenize(model, texts, offsets=True)
        assert again["input_ids"] == plain["input_ids"]
        assert [list(map(tuple, o)) for o in again["offset_mapping"]] == [
            list(map(tuple, o)) for o in plain["offset_mapping"]
        ]


def test_families_are_covered() -> None:
    assert set(KINDS) <= set(LISTED)
