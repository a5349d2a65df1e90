from __future__ import annotations

from typing import Any

import pytest

import isogloss as ig
from isogloss.core.errors import UnknownName, UsageError
from isogloss.models.tokenization.training import KINDS, train_tokenizer

TEXT = [*ig.Laboratory(0).text("qla", 120), "Das Haus ist groß.", "Мы живём в городе", "我们 住在 海边。"]


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_text_comes_back_framed_and_whole(kind: str, causal: bool) -> None:
    tokenizer: Any = train_tokenizer(TEXT, kind, 600, causal=causal)
    start, end = ("bos", "eos") if causal else ("cls", "sep")
    for line in (TEXT[0], TEXT[-3], "Das Haus"):
        ids = tokenizer(line)["input_ids"]
        assert ids[0] == getattr(tokenizer, f"{start}_token_id")
        assert ids[-1] == getattr(tokenizer, f"{end}_token_id")
        assert tokenizer.unk_token_id not in ids
        said = tokenizer.decode(ids, skip_special_tokens=True).strip()
        assert said.replace(" ", "") == line.replace(" ", "")
    assert len(tokenizer) <= 600
    assert tokenizer.pad_token_id == 0
    assert (tokenizer.mask_token is None) == causal


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_text_gives_the_same_tokenizer(kind: str) -> None:
    one, other = (train_tokenizer(iter(TEXT), kind, 500).backend_tokenizer.to_str() for _ in range(2))
    assert one == other


@pytest.mark.parametrize("kind", ["wordpiece", "bpe", "unigram"])
def test_frequent_words_have_longer_pieces(kind: str) -> None:
    tokenizer = train_tokenizer([*TEXT, *["reindeer sledges"] * 50], kind, 600)
    assert len(tokenizer.tokenize("reindeer")) <= 4
    assert len(tokenizer.tokenize("sregdeel")) > len(tokenizer.tokenize("reindeer"))


def test_word_pieces_are_no_special_tokens() -> None:
    tokenizer = train_tokenizer(TEXT, "wordpiece", 600)
    assert len(tokenizer.all_special_ids) == 5
    assert "##" not in tokenizer.decode(tokenizer("Das Hausgroß")["input_ids"])


def test_bytes_and_characters_have_no_merges() -> None:
    assert len(train_tokenizer(TEXT, "bytes", 600)) == 261
    pieces = train_tokenizer(TEXT, "characters", 600).get_vocab()
    assert {len(piece) for piece in pieces if not piece.startswith("[")} == {1}
    assert len(train_tokenizer(TEXT, "characters", 20)) == 20


def test_sizes_and_kinds_that_cannot_be_are_refused() -> None:
    with pytest.raises(UnknownName, match="did you mean 'wordpiece'"):
        train_tokenizer(TEXT, "wordpeace")
    with pytest.raises(UsageError, match="at least 261 tokens"):
        train_tokenizer(TEXT, "bpe", 200)
    with pytest.raises(UsageError, match="empty"):
        train_tokenizer([], "wordpiece")


@pytest.mark.parametrize("kind", ["wordpiece", "unigram", "characters"])
def test_letters_that_the_text_lacks(kind: str) -> None:
    """Known in any case where the alphabet names them, at the beginning of a word and within it."""
    without, with_them = (train_tokenizer(TEXT, kind, 600, alphabet=letters) for letters in ("", "ђñ"))
    for word in ("ђ", "ђaђ", "ñañ"):
        assert without.unk_token_id in without(word, add_special_tokens=False)["input_ids"]
        assert with_them.unk_token_id not in with_them(word, add_special_tokens=False)["input_ids"]
