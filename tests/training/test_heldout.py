from __future__ import annotations

from pathlib import Path

import pytest

from isogloss.core.errors import UsageError
from isogloss.training.heldout import TextFiles, survey

LINES = [f"line number {i}" for i in range(30_000)]


def test_one_per_cent_is_held_out_by_content() -> None:
    found = survey({"en": LINES})["en"]
    held_out, rest = list(found.held_out), list(found.train)
    assert sorted([*held_out, *rest]) == sorted(LINES)
    assert 240 < len(held_out) < 360
    assert found.share == pytest.approx(0.01)
    assert (found.lines, found.characters) == (30_000, sum(map(len, LINES)))
    twice = survey({"en": LINES + LINES})["en"]
    assert not set(twice.held_out) & set(twice.train)  # a repeated line is on one side only
    assert set(twice.held_out) == set(held_out)


def test_small_texts_hold_out_200_lines_or_a_tenth() -> None:
    assert survey({"en": LINES[:5000]})["en"].share == pytest.approx(200 / 5000)
    assert survey({"en": LINES[:50]})["en"].share == pytest.approx(0.1)


def test_a_stream_that_can_be_read_once_is_kept() -> None:
    found = survey({"en": iter(LINES[:300])})["en"]
    assert sorted([*found.train, *found.held_out]) == sorted(LINES[:300])
    assert sorted([*found.train, *found.held_out]) == sorted(LINES[:300])


def test_the_hash_is_of_the_content() -> None:
    one, other = (survey({"en": lines})["en"].digest for lines in (["ab", "c"], ["a", "bc"]))
    assert one != other
    assert survey({"fr": ["ab", "c"]})["fr"].digest == one


def test_files_are_read_again_and_again(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n\ntwo\n", encoding="utf-8")
    (tmp_path / "b.txt").write_text("three\n", encoding="utf-8")
    text = TextFiles((tmp_path,))
    assert list(text) == list(text) == ["one", "two", "three"]


def test_nothing_and_a_bare_string_are_refused() -> None:
    for texts, words in (({}, "no text"), ({"en": []}, "'en': there is no text"), ({"en": "abc"}, "one string")):
        with pytest.raises(UsageError, match=words):
            survey(texts)


def test_something_is_held_out_of_any_text_of_two_lines() -> None:
    for lines in (["a", "b"], ["b", "a", "a"], [f"x{i}" for i in range(9)]):
        found = survey({"en": lines})["en"]
        assert set(found.held_out) and set(found.train)
    assert list(survey({"en": ["a", "a"]})["en"].train) == ["a", "a"]
