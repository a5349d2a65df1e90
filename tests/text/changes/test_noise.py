"""Noise on characters: as much as asked for, words keep their tags, answers their places, seeds decide."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss import Laboratory, noise
from isogloss.core.errors import UnknownName, UsageError
from isogloss.core.seeds import Chance
from isogloss.corpora.corpus import Corpus
from isogloss.corpora.formats import squad
from isogloss.corpora.formats import text as raw
from isogloss.corpora.kinds.qa import Answer, Question
from isogloss.corpora.kinds.treebank import surface_text
from isogloss.corpora.pieces import new_text
from isogloss.text.changes.noise import NOISE_KINDS, alphabet_of, noisy_word

LAB = Laboratory(seed=0)
BANK = LAB.treebank("qla", "train", 60)


def distance(a: str, b: str) -> int:
    """Edits between two words, a swap of neighbours counting one (Damerau, restricted)."""
    table = [[i + j if 0 in (i, j) else 0 for j in range(len(b) + 1)] for i in range(len(a) + 1)]
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            table[i][j] = min(table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + (a[i - 1] != b[j - 1]))
            if i > 1 and j > 1 and a[i - 2 : i] == b[j - 2 : j][::-1]:
                table[i][j] = min(table[i][j], table[i - 2][j - 2] + 1)
    return table[-1][-1]


@pytest.mark.parametrize("kind", NOISE_KINDS)
@given(word=st.text("abcdéЖ", min_size=1, max_size=8), seed=st.integers(0, 99))
def test_a_changed_word_is_one_edit_away(kind: str, word: str, seed: int) -> None:
    pieces = noisy_word(word, Chance(seed), [kind], "xyz")
    new = new_text(pieces)
    assert "".join(old for old, _ in pieces) == word
    assert new and distance(word, new) <= 1
    assert len(new) - len(word) == {"insert": 1, "delete": -1 if len(word) > 1 else 0}.get(kind, 0)


def test_every_word_is_changed_at_rate_one_and_none_at_zero() -> None:
    assert noise(BANK, 0.0) == BANK
    for old, new in zip(BANK, noise(BANK, 1.0, kinds=["insert"]), strict=True):
        assert [len(b) - len(a) for a, b in zip(old.words, new.words, strict=True)] == [
            int(any(map(str.isalpha, word))) for word in old.words
        ]


def test_the_rate_is_the_one_asked_for() -> None:
    bank = LAB.treebank("qla", "train", 400)
    pairs = [
        (a, b) for old, new in zip(bank, noise(bank, 0.2, kinds=["insert"]), strict=True)
        for a, b in zip(old.words, new.words, strict=True) if a.isalpha()
    ]  # fmt: skip
    assert abs(sum(a != b for a, b in pairs) / len(pairs) - 0.2) < 0.03


def test_trees_keep_all_but_their_forms() -> None:
    for old, new in zip(BANK, noise(BANK, 0.5), strict=True):
        assert [row[2:] for row in old.rows] == [row[2:] for row in new.rows]
        assert new.text == surface_text(new.rows)


def test_seed_epoch_and_item_decide() -> None:
    first = noise(BANK, 0.3, seed=1)
    assert first == noise(BANK, 0.3, seed=1)
    assert first != noise(BANK, 0.3, seed=2)
    assert first != noise(BANK, 0.3, seed=1, epoch=1)
    assert first.items[0].words == noise(BANK, 0.3, seed=1).items[0].words
    twice = BANK.with_items([BANK[0], BANK[0]])
    noisy = noise(twice, 1.0)
    assert noisy[0].words != noisy[1].words


@pytest.mark.parametrize("kind", ["ner", "nli", "qa", "text"])
def test_other_corpora(kind: str) -> None:
    makers = {"ner": LAB.ner, "nli": LAB.nli, "qa": LAB.qa}
    corpus = LAB.text("qla", 30) if kind == "text" else makers[kind]("qla", "train", 30)
    noisy = noise(corpus, 0.5)
    assert len(noisy) == len(corpus) and noisy != corpus
    for old, new in zip(corpus, noisy, strict=True):
        if kind == "ner":
            assert old.tags == new.tags and len(old.words) == len(new.words)
        elif kind == "nli":
            assert old.label == new.label
        elif kind == "qa":
            assert all(new.context[a.start : a.start + len(a.text)] == a.text for a in new.answers)
            assert len(new.answers) == len(old.answers)


@given(st.text("ab cd", min_size=3, max_size=25), st.integers(0, 50))
def test_an_answer_is_what_became_of_its_letters(context: str, seed: int) -> None:
    question = Question("1", "q", context, (Answer(context[1:3], 1),))
    corpus = Corpus((question, replace(question, id="2")), "en", squad.FORMAT)
    first, second = noise(corpus, 1.0, seed=seed)
    assert first.context == second.context  # one paragraph
    for answer in first.answers:
        assert first.context[answer.start : answer.start + len(answer.text)] == answer.text
        assert abs(len(answer.text) - 2) <= 2


def test_letters_are_those_of_the_corpus() -> None:
    letters = alphabet_of(BANK)
    assert set(letters) <= {char for tree in BANK for word in tree.words for char in word.lower()}
    assert letters == "".join(sorted(letters)) and "A" not in letters


def test_capitals_alone_and_vowel_signs() -> None:
    shouted = Corpus(("STOP NOW", "नमस्ते दुनिया"), "hi", raw.FORMAT)
    for old, new in zip(shouted, noise(shouted, 1.0, kinds=["insert"]), strict=True):
        assert [len(b) - len(a) for a, b in zip(old.split(), new.split(), strict=True)] == [1, 1]
    assert noise(shouted, 1.0)[0].isupper()


def test_what_makes_no_sense_is_told() -> None:
    with pytest.raises(UsageError, match="a rate between 0 and 1"):
        noise(BANK, 1.5)
    with pytest.raises(UnknownName, match="did you mean 'swap'"):
        noise(BANK, 0.1, kinds=["swop"])
