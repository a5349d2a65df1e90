"""Symmetrisation: two directional word alignments combined into one.

An aligner that links each word to at most one word of the other sentence is run in both directions: `forward` and
`reverse` are its links, both as (source, target). Their intersection has high precision, their union high recall.
Grow-diag-final-and starts from the intersection, repeatedly adds neighbouring links of the union (including diagonal
ones) of words without a link, and finally adds links of either direction between two words without a link.

Reference: Koehn, Och & Marcu (2003), Statistical phrase-based translation; Koehn et al. (2005), Edinburgh system
description for the 2005 IWSLT speech translation evaluation ("final-and").
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from isogloss.core.registry import check_name

Pair = tuple[int, int]
Links = set[Pair]

# in the order of Koehn, which matters for links that exclude each other
NEIGHBOURS = ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))


def symmetrise(forward: Iterable[Pair], reverse: Iterable[Pair], method: str = "intersection") -> list[Pair]:
    """The links of both directions as one alignment, in order: intersection, union or grow-diag-final-and.

    >>> symmetrise([(0, 0), (1, 1), (2, 1)], [(0, 0), (1, 1), (3, 3)], "grow-diag-final-and")
    [(0, 0), (1, 1), (2, 1), (3, 3)]
    """
    check_name(method, SYMMETRISERS, "symmetrisation")
    return sorted(SYMMETRISERS[method](set(forward), set(reverse)))


def grow_diag_final_and(forward: Links, reverse: Links) -> Links:
    links = forward & reverse
    sources, targets = ({link[side] for link in links} for side in (0, 1))

    def add(link: Pair) -> None:
        links.add(link)
        sources.add(link[0])
        targets.add(link[1])

    grown, union = -1, dict.fromkeys(sorted(forward | reverse))  # all candidate links, in row order
    while grown < len(links):
        grown = len(links)
        for link in union:
            for down, right in NEIGHBOURS if link in links else ():
                near = link[0] + down, link[1] + right
                if near in union and (near[0] not in sources or near[1] not in targets):
                    add(near)
    for direction in (forward, reverse):
        for link in sorted(direction):
            if link[0] not in sources and link[1] not in targets:
                add(link)
    return links


SYMMETRISERS: dict[str, Callable[[Links, Links], Links]] = {
    "intersection": set.intersection,
    "union": set.union,
    "grow-diag-final-and": grow_diag_final_and,
}
