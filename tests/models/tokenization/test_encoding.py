"""Token ids are those of the model's own tokenizer, special tokens once, words where their characters are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_models import CONFIGS, SENTENCES, tokenizer_of

from isogloss.core.errors import InputError
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.tokenization.encoding import SPECIAL_TOKEN, encode_sentences, encode_words

Tiny = Callable[[str], LoadedModel]


@pytest.mark.parametrize("family", CONFIGS)
def test_ids_are_the_tokenizers_own(tiny: Tiny, family: str) -> None:
    model = tiny(family)
    for text, encoded in zip(SENTENCES, encode_sentences(model, SENTENCES), strict=True):
        ids = model.tokenizer(text)["input_ids"]
        if family == "gemma3_text":
            assert model.tokenizer.bos_token_id not in ids, "Gemma's tokenizer does not add BOS by itself"
            ids = [model.tokenizer.bos_token_id, *ids]
        assert encoded.ids.tolist() == ids
        specials = [i for i, word in enumerate(encoded.word) if word == SPECIAL_TOKEN]
        assert len(specials) == len(ids) - len(model.tokenizer(text, add_special_tokens=False)["input_ids"])
        special_ids = {*model.prefix, *model.suffix}
        assert {int(encoded.ids[i]) for i in specials} == special_ids


@pytest.mark.parametrize("family", CONFIGS)
def test_words_hold_the_tokens_of_their_characters(tiny: Tiny, family: str) -> None:
    """Every token's text lies in its word: decoding a word's tokens gives the word."""
    model = tiny(family)
    for text in SENTENCES:
        words = text.split()
        (encoded,) = encode_words(model, [words])
        assert encoded.word[encoded.word != SPECIAL_TOKEN].tolist() == sorted(
            encoded.word[encoded.word != SPECIAL_TOKEN]
        )
        for number, word in enumerate(words):
            tokens = encoded.ids[encoded.word == number].tolist()
            decoded = model.tokenizer.decode(tokens).replace(" ", "").replace("▁", "")
            assert decoded == word


@settings(max_examples=40)
@given(
    st.lists(st.text(st.sampled_from("abcé我ش.-\u200d\u00a0"), max_size=6), max_size=8),
    st.sampled_from(["bert", "xlm-roberta", "modernbert", "llama", "gemma3_text"]),
)
def test_words_are_numbered_in_order_and_in_range(tiny: Tiny, words: list[str], family: str) -> None:
    (encoded,) = encode_words(tiny(family), [words])
    numbers = encoded.word[encoded.word != SPECIAL_TOKEN].tolist()
    assert numbers == sorted(numbers)
    assert all(0 <= number < len(words) for number in numbers)
    assert len(encoded.ids) == len(encoded.word)


def test_words_may_contain_spaces(tiny: Tiny) -> None:
    for family in ("bert", "xlm-roberta", "llama"):
        (encoded,) = encode_words(tiny(family), [["the cat", "sat"]])
        (joined,) = encode_sentences(tiny(family), ["the cat sat"])
        assert encoded.ids.tolist() == joined.ids.tolist()
        assert set(encoded.word.tolist()) - {SPECIAL_TOKEN} == {0, 1}


def test_many_texts_are_encoded_in_order(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    import isogloss.models.tokenization.encoding as encoding

    model = tiny("bert")
    whole = encode_sentences(model, SENTENCES)
    words = encode_words(model, [text.split() for text in SENTENCES])
    monkeypatch.setattr(encoding, "TEXTS_PER_CALL", 2)
    for a, b in zip(whole, encode_sentences(model, SENTENCES), strict=True):
        assert a.ids.tolist() == b.ids.tolist()
    for a, b in zip(words, encode_words(model, [text.split() for text in SENTENCES]), strict=True):
        assert a.ids.tolist() == b.ids.tolist()
        assert a.word.tolist() == b.word.tolist()


def test_a_foreign_tokenizer_is_found_out(tiny: Tiny) -> None:
    model = replace(tiny("xlm-roberta"), tokenizer=tokenizer_of("qwen2"))
    with pytest.raises(InputError, match=r"token ids below 116.*belongs to another model"):
        encode_sentences(model, SENTENCES)


def test_a_sentence_exactly_as_long_as_the_model_is_not_cut(tiny: Tiny, recwarn: pytest.WarningsRecorder) -> None:
    model = tiny("bert")
    room = model.max_length - 2
    whole, cut = encode_sentences(model, ["cat " * room, "x"])[0], encode_sentences
    assert len(whole) == model.max_length
    assert not recwarn.list
    with pytest.warns(UserWarning, match="1 of 1"):
        assert np.array_equal(cut(model, ["cat " * (room + 1)])[0].ids, whole.ids)
