from __future__ import annotations

import hashlib
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.core.errors import UsageError
from isogloss.training.language_modeling.heldout import TextFiles, split_texts
from isogloss.training.language_modeling.packing import Text

LINES = [f"line number {i}" for i in range(30_000)]


def test_one_per_cent_is_held_out_by_content() -> None:
    found = split_texts({"en": LINES})["en"]
    held_out, rest = list(found.held_out), list(found.train)
    assert sorted([*held_out, *rest]) == sorted(LINES)
    assert 240 < len(held_out) < 360
    assert found.share == pytest.approx(0.01)
    assert (found.lines, found.characters) == (30_000, sum(map(len, LINES)))
    twice = split_texts({"en": LINES + LINES})["en"]
    assert not set(twice.held_out) & set(twice.train)  # a repeated line is on one side only
    assert set(twice.held_out) == set(held_out)


def test_small_texts_hold_out_200_lines_or_a_tenth() -> None:
    assert split_texts({"en": LINES[:5000]})["en"].share == pytest.approx(200 / 5000)
    assert split_texts({"en": LINES[:50]})["en"].share == pytest.approx(0.1)


def test_a_stream_that_can_be_read_once_is_kept() -> None:
    found = split_texts({"en": iter(LINES[:300])})["en"]
    assert sorted([*found.train, *found.held_out]) == sorted(LINES[:300])
    assert sorted([*found.train, *found.held_out]) == sorted(LINES[:300])


def test_the_hash_is_of_the_content() -> None:
    one, other = (split_texts({"en": lines})["en"].digest for lines in (["ab", "c"], ["a", "bc"]))
    assert one != other
    assert split_texts({"fr": ["ab", "c"]})["fr"].digest == one


def test_files_are_read_again_and_again(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n\ntwo\n", encoding="utf-8")
    (tmp_path / "b.txt").write_text("three\n", encoding="utf-8")
    text = TextFiles((tmp_path,))
    assert list(text) == list(text) == ["one", "two", "three"]


def test_nothing_and_a_bare_string_are_refused() -> None:
    for texts, words in (({}, "no text"), ({"en": []}, "'en': there is no text"), ({"en": "abc"}, "one string")):
        with pytest.raises(UsageError, match=words):
            split_texts(texts)


def test_something_is_held_out_of_any_text_of_two_lines() -> None:
    for lines in (["a", "b"], ["b", "a", "a"], [f"x{i}" for i in range(9)]):
        found = split_texts({"en": lines})["en"]
        assert set(found.held_out) and set(found.train)
    assert list(split_texts({"en": ["a", "a"]})["en"].train) == ["a", "a"]


def slow_survey(lines: list[Text]) -> tuple[str, float, list[Text], list[Text]]:
    """Line by line, as the rule is said: hash, share, held-out lines and the rest."""
    written = [(line if isinstance(line, str) else "\t".join(line)).encode("utf-8", "surrogatepass") for line in lines]
    marks = [int.from_bytes(hashlib.blake2b(one, digest_size=8).digest(), "big") for one in written]
    bound = int(min(max(0.01, 200 / len(lines)), 0.1) * 2**64)
    if min(marks) < max(marks):
        bound = max(bound, min(marks) + 1)
    digest = hashlib.blake2b(b"".join(one + b"\n" for one in written), digest_size=12).hexdigest()
    held_out = [line for line, mark in zip(lines, marks, strict=True) if mark < bound]
    return digest, bound / 2**64, held_out, [line for line, mark in zip(lines, marks, strict=True) if mark >= bound]


PAIRS: st.SearchStrategy[Text] = st.tuples(st.text("ab"), st.text("ab"))
SOME = st.lists(st.one_of(st.text(st.characters(), max_size=3), st.sampled_from("abcdef"), PAIRS)).filter(
    lambda lines: any(map("".join, lines))
)


@given(SOME, st.integers(1, 7))
def test_chunks_of_lines_give_what_single_lines_do(lines: list[Text], chunk: int) -> None:
    with patch("isogloss.training.language_modeling.heldout.CHUNK_LINES", chunk):
        found = split_texts({"en": lines})["en"]
    assert (found.digest, found.share, list(found.held_out), list(found.train)) == slow_survey(lines)


def test_hashes_and_held_out_lines_stay_what_they_were() -> None:
    """Runs are known by the hash, and compared by perplexity of the same lines."""
    found = split_texts({"en": LINES})["en"]
    assert (found.digest, found.share, list(found.held_out), list(found.train)) == slow_survey(list(LINES))
    assert found.digest == "5ff6f091b773f1ff6a2624a0"
    assert list(found.held_out)[:3] == ["line number 48", "line number 129", "line number 267"]
