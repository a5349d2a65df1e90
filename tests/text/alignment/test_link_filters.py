from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.core.errors import UsageError
from isogloss.corpora.corpus import Corpus
from isogloss.corpora.formats.aligned_jsonl import FORMAT
from isogloss.corpora.kinds.alignment import Alignment, Link
from isogloss.corpora.kinds.bitext import AlignedPair
from isogloss.text.alignment.link_filters import filter_links, single_links


def bitext(*pairs: AlignedPair) -> Corpus[AlignedPair]:
    return Corpus(pairs, "en>fr", FORMAT)


def pair(source: str, target: str, *links: tuple[int, int]) -> AlignedPair:
    return AlignedPair(tuple(source.split()), tuple(target.split()), Alignment(tuple(Link(*link) for link in links)))


HOUSE = pair("the old house , 1914", "la vieille maison , 1914", (0, 0), (1, 1), (0, 2), (2, 2), (3, 3), (4, 4))


def links(corpus: Corpus[AlignedPair]) -> list[tuple[int, int]]:
    return [link[:2] for link in corpus[0].alignment.links]


def test_strictly_one_to_one_drops_all_links_of_a_word_with_several() -> None:
    assert links(filter_links(bitext(HOUSE), one_to_one=True)) == [(1, 1), (3, 3), (4, 4)]


def test_identical_strings() -> None:
    assert links(filter_links(bitext(HOUSE), drop_identical=True)) == [(0, 0), (1, 1), (0, 2), (2, 2)]


def test_a_word_with_an_identical_partner_too_is_not_one_to_one() -> None:
    twice = pair("Paris", "Paris même", (0, 0), (0, 1))
    assert links(filter_links(bitext(twice), one_to_one=True, drop_identical=True)) == []


def test_long_pairs_are_left_out_on_either_side() -> None:
    corpus = bitext(pair("a b c", "x"), pair("a b", "x y"), pair("a", "x y z"))
    assert [len(one.source) for one in filter_links(corpus, max_words=2)] == [2]
    assert len(filter_links(corpus, max_words=3)) == 3
    with pytest.raises(UsageError, match="at least 1"):
        filter_links(corpus, max_words=0)


def test_without_flags_nothing_changes() -> None:
    assert filter_links(bitext(HOUSE)) == bitext(HOUSE)


def test_links_to_nothing_are_no_second_link() -> None:
    assert single_links(Alignment((Link(0, 0), Link(0, -1), Link(-1, 2)))).links == (Link(0, 0),)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=12))
def test_one_to_one_is_one_to_one_and_keeps_all_that_is(found: list[tuple[int, int]]) -> None:
    kept = [link[:2] for link in single_links(Alignment(tuple(Link(*link) for link in found))).links]
    assert len({s for s, _ in kept}) == len({t for _, t in kept}) == len(kept)
    for s, t in set(found):
        alone = not any((a == s) != (b == t) for a, b in found)
        assert ((s, t) in kept) == alone
