from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_models import SENTENCES, build
from tokenizers import normalizers

from isogloss.models.loading.load import load_model
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.tokenization.training import train_tokenizer
from isogloss.training.language_modeling import word_tokens
from isogloss.training.language_modeling.word_tokens import text_encoder, tokenizes_by_word

# spaces of several kinds, control characters, marks that combine, a special token, letters of several scripts
PIECES = [*"aé ́ \t\n\x1c\u00a0\u3000\u200b\0Ж日.'-", "  ", "[MASK]", "[MA", "house", "##s", "Å", "A\u030a", "x" * 120]
TEXTS = st.lists(st.lists(st.sampled_from(PIECES), max_size=12).map("".join), max_size=8)
TRAINED = train_tokenizer([*SENTENCES, "aé Ж日.'- A\u030a"] * 3, "wordpiece", 300)
LOWER = train_tokenizer([*SENTENCES, "a ж 日 . ' -"] * 3, "wordpiece", 300)
LOWER.backend_tokenizer.normalizer = normalizers.BertNormalizer()  # no accents, no capitals, Chinese set apart


@given(TEXTS)
@settings(max_examples=100)
def test_words_give_the_tokens_of_whole_texts(bert: LoadedModel, texts: list[str]) -> None:
    for tokenizer in (bert.tokenizer, TRAINED, LOWER):
        assert tokenizes_by_word(tokenizer.backend_tokenizer)
        encode = text_encoder(tokenizer)
        for part in (texts[:3], texts[3:], texts):  # what is known grows
            whole = [one.ids for one in tokenizer.backend_tokenizer.encode_batch(part, add_special_tokens=False)]
            found = encode(part)
            assert found.sizes.tolist() == [len(ids) for ids in whole]
            assert found.ids.tolist() == [token for ids in whole for token in ids]


def test_words_are_forgotten_where_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_tokens, "MAX_CACHED_CHARACTERS", 30)
    encode: Any = text_encoder(TRAINED)
    for text in (*SENTENCES, *SENTENCES[::-1]):
        before = encode.characters
        assert encode([text]).ids.tolist() == TRAINED(text, add_special_tokens=False)["input_ids"]
        assert sum(map(len, encode.numbers)) == encode.characters <= min(before, 30) + len(text)


@pytest.mark.parametrize("family", ["llama", "xlm-roberta"])
def test_other_kinds_read_whole_texts(tmp_path: Path, family: str) -> None:
    tokenizer = load_model(build(family, tmp_path), device="cpu").tokenizer
    assert not tokenizes_by_word(tokenizer.backend_tokenizer)
    found = text_encoder(tokenizer)(SENTENCES)
    whole = [tokenizer(text, add_special_tokens=False)["input_ids"] for text in SENTENCES]
    assert found.ids.tolist() == [token for ids in whole for token in ids]
    assert found.sizes.tolist() == [len(ids) for ids in whole]


def test_what_looks_across_spaces_is_no_matter_of_words() -> None:
    tokenizer = train_tokenizer(SENTENCES, "wordpiece", 300).backend_tokenizer
    assert tokenizes_by_word(tokenizer)
    tokenizer.add_tokens(["New York"])
    assert not tokenizes_by_word(tokenizer)
    other = train_tokenizer(SENTENCES, "wordpiece", 300).backend_tokenizer
    other.normalizer = normalizers.Replace("a b", "c")
    assert not tokenizes_by_word(other)
