"""Whether a tokenizer can represent a text, against plain counts and real tokenizers."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace

import pytest
from shared_data import shared
from tokenizers import Tokenizer, decoders, models
from transformers import PreTrainedTokenizerBase, PreTrainedTokenizerFast

import isogloss as ig
from isogloss.models.tokenization.readability import MAX_TEXTS, corpus_readability, readability
from isogloss.models.tokenization.training import train_tokenizer

LATIN = ["the cat sees a dog and the dog sees the cat"] * 5
CYRILLIC = ["кот видит собаку", "собака видит кота"]


def loaded(tokenizer: PreTrainedTokenizerBase, pretrained: bool = True) -> SimpleNamespace:
    """A model, as far as its tokenizer is concerned."""
    return SimpleNamespace(tokenizer=tokenizer, family=SimpleNamespace(blocks="layers" if pretrained else ""), name="m")


def counts(tokenizer: PreTrainedTokenizerBase, texts: Sequence[str]) -> tuple[float, float, float]:
    """Unknown tokens per token, characters per token, bytes per token: the plain formulas."""
    pieces = [id for text in texts for id in tokenizer.encode(text, add_special_tokens=False)]
    characters, size = sum(map(len, texts)), sum(len(text.encode()) for text in texts)
    return pieces.count(tokenizer.unk_token_id) / len(pieces), characters / len(pieces), size / len(pieces)


@pytest.mark.parametrize("kind", ["wordpiece", "unigram", "characters"])
@pytest.mark.parametrize("texts", [LATIN, CYRILLIC, [*LATIN, *CYRILLIC]])
def test_unknown_tokens_and_lengths(kind: str, texts: list[str]) -> None:
    tokenizer = train_tokenizer(LATIN, kind, vocabulary=300)
    measured = readability(loaded(tokenizer), texts)
    assert measured
    expected = counts(tokenizer, texts)
    assert (measured.unknown, measured.characters_per_token, measured.bytes_per_token) == pytest.approx(expected)
    assert measured.byte_pieces == 0
    assert (measured.unknown == 0) == (texts == LATIN)
    assert measured.readable == (expected[0] <= 0.15)


def test_parts_of_characters_in_byte_level_bpe() -> None:
    """é is two bytes: one token each, unless they were merged."""
    english, french = train_tokenizer(LATIN, "bpe", vocabulary=400), train_tokenizer(["été né"] * 9, "bpe")
    assert english.tokenize("été") == ["Ã", "©", "t", "Ã", "©"]
    measured = readability(loaded(english), ["été"])
    assert measured
    assert measured.byte_pieces == 4 / 5
    assert measured.problem == "80 % of the tokens are parts of characters"
    merged = readability(loaded(french), ["été"])
    assert merged
    assert (merged.byte_pieces, merged.readable) == (0, True)
    cyrillic = readability(loaded(english), CYRILLIC)
    pieces = [piece for line in CYRILLIC for piece in english.tokenize(line)]
    assert cyrillic
    assert cyrillic.byte_pieces == pytest.approx(1 - pieces.count("Ġ") / len(pieces))


def test_byte_tokens_of_sentencepiece() -> None:
    vocabulary = ["<unk>", *(f"<0x{value:02X}>" for value in range(256)), "a", "b", "ab"]
    numbers = {piece: number for number, piece in enumerate(vocabulary)}
    backend = Tokenizer(models.BPE(numbers, [("a", "b")], unk_token="<unk>", byte_fallback=True))
    backend.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Fuse()])
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, unk_token="<unk>")
    assert tokenizer.tokenize("abж\n") == ["ab", "<0xD0>", "<0xB6>", "<0x0A>"]
    measured = readability(loaded(tokenizer), ["abж\n"])
    assert measured
    assert (measured.unknown, measured.byte_pieces) == (0, 2 / 4)  # a line break is a whole character
    assert measured.readable
    thai = readability(loaded(tokenizer), ["ก"])
    assert thai
    assert (thai.byte_pieces, thai.readable) == (1, False)


def test_bytes_are_the_units_of_a_byte_tokenizer() -> None:
    measured = readability(loaded(train_tokenizer(LATIN, "bytes")), CYRILLIC)
    assert measured
    assert measured.byte_pieces > 0.8
    assert (measured.readable, measured.problem) == (True, "")


def test_texts_without_tokens_and_models_without_subwords() -> None:
    tokenizer = train_tokenizer(LATIN, "wordpiece", vocabulary=300)
    assert readability(loaded(tokenizer, pretrained=False), LATIN) is None
    assert readability(loaded(tokenizer), []) is None
    assert readability(loaded(tokenizer), [""]) is None
    spaces = readability(loaded(tokenizer), ["   "])
    assert spaces
    assert not spaces.readable


def test_a_long_corpus_is_sampled_evenly() -> None:
    tokenizer = train_tokenizer(LATIN, "wordpiece", vocabulary=300)
    texts = ["the cat"] * (2 * MAX_TEXTS) + ["кот"] * (2 * MAX_TEXTS)
    measured = readability(loaded(tokenizer), texts)
    assert measured
    assert measured.unknown == pytest.approx(counts(tokenizer, ["the cat", "кот"])[0])


SEEN = ("en", "fr", "es", "de", "ru", "ar", "tr", "fi")
UNSEEN_SCRIPTS = ("ko", "ja", "zh")


def test_real_languages() -> None:
    """The languages of pretraining are readable; scripts that the vocabulary lacks are not."""
    model = ig.load_model(shared("models/mini-mlm-11"))
    names = {path.name.partition("_")[0]: path for path in shared("data/ud").glob("UD_*-PUD/*.conllu.xz")}
    for code in (*SEEN, *UNSEEN_SCRIPTS):
        bank = ig.read_treebank(names[code])[:100]
        measured = corpus_readability(model, bank)
        assert measured
        assert measured.unknown == pytest.approx(counts(model.tokenizer, [tree.text for tree in bank])[0])
        assert measured.readable == (code in SEEN), code
