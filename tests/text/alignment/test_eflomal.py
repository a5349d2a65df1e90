from __future__ import annotations

import sys
from pathlib import Path

import pytest

import isogloss as ig
from isogloss.core.errors import InputError, MissingExtra, UsageError
from isogloss.corpora.kinds.alignment import Alignment
from isogloss.corpora.kinds.bitext import AlignedPair
from isogloss.text.alignment.eflomal import MAX_SENTENCE_WORDS, eflomal_links


def pair(source: list[str], target: list[str]) -> AlignedPair:
    return AlignedPair(tuple(source), tuple(target), Alignment())


def test_its_absence_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "eflomal", None)
    with pytest.raises(MissingExtra, match=r"pip install 'isogloss\[align\]'"):
        eflomal_links([pair(["a"], ["b"])])


def test_both_directions_are_source_target_and_words_with_spaces_stay_whole() -> None:
    """What it links is chance, pair by pair; that the only source word is word 0 of every link is not."""
    pytest.importorskip("eflomal")
    found = list(eflomal_links([pair([f"hai {i}"], ["the", f"y{i}"]) for i in range(40)] * 3))
    for direction in zip(*found, strict=True):
        links = [link for alignment in direction for link in alignment.sure]
        assert set(links) <= {(0, 0), (0, 1)}
        assert links.count((0, 1)) > 20


def test_an_empty_sentence_keeps_its_line() -> None:
    pytest.importorskip("eflomal")
    found = list(eflomal_links([pair(["a"], ["x"]), pair([], ["x"]), pair(["a"], ["x"])]))
    assert len(found) == 3
    assert found[1] == (Alignment(), Alignment())


def test_sentences_it_would_skip_in_silence_are_told() -> None:
    pytest.importorskip("eflomal")
    with pytest.raises(UsageError, match="pair 2: eflomal takes at most 1023 words"):
        eflomal_links([pair(["a"], ["b"]), pair(["a"] * (MAX_SENTENCE_WORDS + 1), ["b"])])


@pytest.mark.parametrize("text", ["nonsense\n", "LEX\ta\tb\tx\n", "LEX\ta\t1\n"])
def test_damaged_priors_are_told(tmp_path: Path, text: str) -> None:
    pytest.importorskip("eflomal")
    (tmp_path / "priors").write_text(text)
    with pytest.raises(InputError, match="priors"):
        eflomal_links([pair(["a"], ["b"])] * 3, tmp_path / "priors")


def test_priors_decide_where_the_text_cannot(tmp_path: Path) -> None:
    """Two words that always come together could be linked either way; the priors know which way."""
    pytest.importorskip("eflomal")
    pairs = [pair(["a", "b"], ["x", "y"])] * 50
    for links in ({("a", "y"), ("b", "x")}, {("a", "x"), ("b", "y")}):
        (tmp_path / "priors").write_text("".join(f"LEX\t{s}\t{t}\t1000\n" for s, t in sorted(links)))
        forward, _ = next(iter(eflomal_links(pairs, tmp_path / "priors")))
        found = {("ab"[s], "xy"[t]) for s, t in forward.sure}
        assert found  # not all: it draws at random
        assert found <= links


@pytest.mark.slow
def test_laboratory_languages_are_learnt_from_a_few_hundred_pairs() -> None:
    pytest.importorskip("eflomal")
    gold = ig.Laboratory().bitext("qla", "qlb", 400)
    assert ig.score_alignment(ig.align(gold, "eflomal"), gold).aer < 0.12
