from __future__ import annotations

import lzma
import re

import pytest
from shared_data import shared

import isogloss as ig
from isogloss.core.errors import UsageError
from isogloss.corpora.corpus import Corpus
from isogloss.text.alignment.scoring import score_pairs


@pytest.fixture(scope="module")
def gold() -> Corpus:
    return ig.Laboratory().bitext("qla", "qlb", 30)


def test_gold_against_itself_is_without_error(gold: Corpus) -> None:
    score = ig.score_alignment(gold, gold)
    assert (score.aer, score.precision, score.recall) == (0, 1, 1)
    assert len(score_pairs(gold, gold)) == 30


def test_other_sentences_are_told(gold: Corpus) -> None:
    with pytest.raises(UsageError, match="pair 1: the gold alignment is of"):
        ig.score_alignment(gold[1:], gold[:-1])
    with pytest.raises(UsageError, match="the same number of sentence pairs, got 30 and 29"):
        ig.score_alignment(gold[1:], gold)


def test_published_gold_with_possible_links_counted_from_one() -> None:
    """4,038 sure and 13,400 possible links of the English-French gold set, counted here from the bytes."""
    pairs, links = (shared(f"data/alignment/awesome/enfr.{name}.xz") for name in ("src-tgt", "gold"))
    bitext = ig.read_bitext(pairs, links, base=None)
    raw = lzma.decompress(links.read_bytes())
    sure, possible = (len(re.findall(mark, raw)) for mark in (rb"\d-\d", rb"\dp\d"))
    score = ig.score_alignment(bitext, bitext)  # all gold links found: every sure one, and the possible ones
    assert (score.sure, score.predicted) == (sure, sure + possible) == (4038, 13400 + 4038)
    assert score.aer == 0
    first = bitext[0].alignment.links[0]
    assert (first.source, first.target) == (1, 1), "2-2 in the file, which counts from 1"
