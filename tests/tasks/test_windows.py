"""Every word has its own token, whatever the tokenizer; a long sentence loses none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.core.errors import UnknownName
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.tokenization.encoding import encode_words
from isogloss.tasks.examples import Example
from isogloss.tasks.windows import encode_sentences, most_central, window_starts, word_token_index

Tiny = Callable[[str], LoadedModel]

ODD = ["\u200b", "\u200d", "\u0301", "\ufeff", "\u00ad", "\u2060"]
WORDS = [
    "The",
    "cat",
    "chat",
    "живём",
    "我们",
    "住在海边",
    "القطة",
    "köpek",
    "e\u0301t\u0301",
    "👩\u200d🚀",
    "नमस्ते",
    ".",
]
WORDS += ["x", "--", "3,5", "don't", "ﬁn", "Ω", "ﷺ", *ODD]
FAMILIES = ["bert", "xlm-roberta", "mt5", "llama", "modernbert", "qwen2", "gemma3_text", "xglm"]
SPACE_INSIDE = {"modernbert", "qwen2", "gemma3_text"}  # the space before a word is part of its text


def reference(model: LoadedModel, family: str, words: list[str]) -> tuple[list[int], list[int | None]]:
    """Tokens and their words as the tokenizer itself says of words given one by one."""
    given = [word if i == 0 or family not in SPACE_INSIDE else f" {word}" for i, word in enumerate(words)]
    encoding = model.tokenizer.backend_tokenizer.encode(given, is_pretokenized=True, add_special_tokens=False)
    return encoding.ids, encoding.word_ids


def tokens_of(example: Example) -> list[int]:
    """The token id that stands for each word."""
    places = zip(example.arrays["window"], example.arrays["position"], strict=True)
    return [int(example.windows[window][position]) for window, position in places]


def expected_tokens(model: LoadedModel, ids: list[int], word_ids: list[int | None], n: int, last: bool) -> list[int]:
    """By brute force: the word's first (last) token, or else the one before the word, or else the first of all."""
    row, result = [*model.prefix, *ids, *model.suffix], []
    for word in range(n):
        own = [i for i, w in enumerate(word_ids) if w == word]
        before = [i for i, w in enumerate(word_ids) if w is not None and w < word]
        token = (own[-1] if last else own[0]) if own else max(before, default=-1)
        result.append(row[max(token + len(model.prefix), 0)])
    return result


@pytest.mark.parametrize("subword", ["first", "last"])
@pytest.mark.parametrize("family", FAMILIES)
def test_words_are_where_the_tokenizer_itself_puts_them(tiny: Tiny, family: str, subword: str) -> None:
    model = tiny(family)
    compared = 0
    for i in range(len(WORDS)):
        words = [*WORDS[i:], *WORDS[:i]][:7]
        ids, word_ids = reference(model, family, words)
        (encoded,) = encode_words(model, [words])
        if encoded.ids.tolist() != [*model.prefix, *ids, *model.suffix]:
            continue  # running text has other tokens here than words given one by one
        compared += 1
        (example,) = encode_sentences(model, [words], subword)
        assert tokens_of(example) == expected_tokens(model, ids, word_ids, len(words), subword == "last"), words
    assert compared > len(WORDS) * 0.6


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("words", [["\u200b"], ["", "cat"], ["\u200b", "cat", "\u200b", "\u200b"], [" "], ["cat", ""]])
def test_words_without_subwords_do_no_harm(tiny: Tiny, family: str, words: list[str]) -> None:
    model = tiny(family)
    (example,) = encode_sentences(model, [words])
    assert len(example.arrays["position"]) == len(words)
    assert len(tokens_of(example)) == len(words), "all inside the window"
    if "cat" in words and family in {"bert", "modernbert", "qwen2"}:
        place = example.arrays["position"][words.index("cat")]
        first = model.tokenizer("cat" if words[0] == "cat" or family == "bert" else " cat", add_special_tokens=False)
        assert example.windows[0][place] == first["input_ids"][0]


@settings(max_examples=60)
@given(st.lists(st.integers(0, 9)), st.integers(0, 12))
def test_tokens_of_words_by_brute_force(word: list[int], words: int) -> None:
    word = sorted(w for w in word if w < words)
    first, last = (
        word_token_index(np.array(word, dtype=np.int64), words, which).tolist() for which in ("first", "last")
    )
    for w in range(words):
        own = [i for i, other in enumerate(word) if other == w]
        before = max((i for i, other in enumerate(word) if other < w), default=-1)
        assert first[w] == (own[0] if own else before)
        assert last[w] == (own[-1] if own else before)


@settings(max_examples=80)
@given(st.integers(0, 300), st.integers(1, 40), st.data())
def test_windows_cover_every_token_and_the_most_central_is_chosen(tokens: int, size: int, data: st.DataObject) -> None:
    step = data.draw(st.integers(1, size))
    starts = window_starts(tokens, size, step)
    assert sorted({t for s in starts for t in range(s, min(s + size, tokens))}) == list(range(tokens))
    assert all(0 < b - a <= step for a, b in pairwise(starts))
    assert len(starts) == 1 + -(-max(tokens - size, 0) // step), "no more than needed"
    chosen = most_central(np.arange(tokens), starts, size)
    for token, window in enumerate(chosen):
        context = []
        for number, start in enumerate(starts):
            left = token - start if number else size
            right = start + size - 1 - token if number < len(starts) - 1 else size
            context.append(min(left, right) if start <= token < start + size else -1)
        assert context[window] == max(context) >= 0


@pytest.mark.parametrize("family", FAMILIES)
def test_long_sentences_keep_every_word(tiny: Tiny, family: str) -> None:
    model = replace(tiny(family), max_length=24)
    words = [*WORDS[:12], "cat" * 40] * 3
    (whole,) = encode_sentences(replace(model, max_length=100_000), [words])
    (cut,) = encode_sentences(model, [words])
    assert len(whole.windows) == 1
    assert len(cut.windows) > 3
    assert {len(window) for window in cut.windows} == {24}
    assert tokens_of(cut) == tokens_of(whole)


@pytest.mark.parametrize("family", FAMILIES)
def test_short_sentences_are_encoded_as_ever(tiny: Tiny, family: str) -> None:
    model, words = tiny(family), WORDS[:4]
    (example,) = encode_sentences(model, [words])
    (encoded,) = encode_words(model, [words])
    assert [window.tolist() for window in example.windows] == [encoded.ids.tolist()]


def test_an_unknown_subword_is_refused(tiny: Tiny) -> None:
    with pytest.raises(UnknownName, match="did you mean 'first'"):
        encode_sentences(tiny("bert"), [["cat"]], "frist")
