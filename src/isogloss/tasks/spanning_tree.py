"""Dependency trees from arc scores: the maximum spanning tree with exactly one child of the root, compiled.

Where every word's best head already gives such a tree, that is it. Otherwise Edmonds' algorithm grows paths of
best heads and contracts the cycles it meets, O(words²) in all (Gabow et al. 1986). Weights are compared first by
a count of penalties, then by score: an arc from the root costs one penalty, a forbidden arc one too. A tree with a
single penalty has a single root and nothing forbidden, and no constant eats the digits of the scores.

Compiled by Numba: the package one would reach for, `ufal.chu_liu_edmonds`, is under the GPL and knows no single root.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numba
import numpy as np
from numpy.typing import ArrayLike, NDArray

from isogloss.core.errors import UsageError

NO_HEAD = -1  # padding
NOT_A_NUMBER, NO_TREE = 1, 2
FAULTS = {
    NOT_A_NUMBER: "hold NaN or +inf; training may have diverged",
    NO_TREE: "forbid (-inf) every tree with a single root",
}
PART = 256  # sentences that one thread takes at a time


def decode_trees(scores: ArrayLike, lengths: ArrayLike | None = None) -> NDArray[np.int64]:
    """The best heads `(sentences, words)` for scores `(sentences, words, 1 + words)`; padding is -1.

    `scores[s, d, h]` is that of word d having the head h: 0 is the root, h ≥ 1 the word h - 1, as in CoNLL-U.
    A word's score with itself and whatever lies beyond `lengths` is ignored; `-inf` forbids an arc.

    >>> decode_trees([[[1.0, 0.0, 5.0], [3.0, 2.0, 0.0]]]).tolist()
    [[2, 0]]
    """
    array = np.asarray(scores)
    if array.dtype != np.float32:
        array = array.astype(np.float64)
    if array.ndim != 3 or array.shape[2] != array.shape[1] + 1:
        raise UsageError(f"arc scores must have the shape (sentences, words, 1 + words), got {array.shape}")
    words = np.full(len(array), array.shape[1]) if lengths is None else np.asarray(lengths).astype(np.int64)
    if words.shape != array.shape[:1] or (words.size and not 0 <= words.min() <= words.max() <= array.shape[1]):
        raise UsageError(f"lengths must be one number from 0 to {array.shape[1]} for each of {len(array)} sentences")
    array, heads = np.ascontiguousarray(array), np.full(array.shape[:2], NO_HEAD, dtype=np.int64)

    def decode(start: int) -> None:
        part = slice(start, start + PART)
        sentence, fault = _decode(array[part], words[part], heads[part])
        if fault:
            raise UsageError(f"arc scores of sentence {start + sentence} {FAULTS[fault]}")

    if len(array) <= PART:
        decode(0)
    else:
        with ThreadPoolExecutor() as pool:  # compiled code lets go of the interpreter lock
            list(pool.map(decode, range(0, len(array), PART)))
    return heads


def decode_tree(scores: ArrayLike) -> list[int]:
    """The best heads of one sentence, for scores `(words, 1 + words)`.

    >>> decode_tree([[2.0, 0.0, 1.0], [3.0, 1.0, 0.0]])
    [2, 0]
    """
    heads: list[int] = decode_trees(np.asarray(scores)[None])[0].tolist()
    return heads


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compiled on first call, and kept on disk where there is a place to write."""
    try:
        decorated: Callable[..., Any] = numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:  # neither the package's folder nor the user's cache can be written
        decorated = numba.njit(nogil=True)(function)
    return decorated


@compiled
def _decode(scores, lengths, heads):  # type: ignore[no-untyped-def]
    """Fills `heads`; returns the first sentence at fault and its fault, or 0."""
    for sentence in range(len(lengths)):
        n = lengths[sentence]
        arcs, tree = scores[sentence, :n, : n + 1], heads[sentence, :n]
        if not _choose_best(arcs, tree):
            return sentence, NOT_A_NUMBER
        if not _is_tree(tree) and not _edmonds(arcs, tree):
            return sentence, NO_TREE
    return 0, 0


@compiled
def _choose_best(arcs, heads):  # type: ignore[no-untyped-def]
    """The best head of each word by itself (the first of equals); False if a score is NaN or +inf."""
    for word in range(len(heads)):
        best, best_score, sum_of_scores = 0, arcs[word, 0], 0.0
        for head in range(len(heads) + 1):
            score = arcs[word, head]
            if head != word + 1:
                sum_of_scores += score
                if score > best_score:
                    best, best_score = head, score
        if not sum_of_scores < np.inf:
            return False
        heads[word] = best if best_score > -np.inf else NO_HEAD
    return True


@compiled
def _is_tree(heads):  # type: ignore[no-untyped-def]
    """Whether every word reaches the root and the root has one child; also for no words at all."""
    roots = 0
    seen = np.zeros(len(heads) + 1, np.int64)  # the word from which each node was first reached
    for word in range(1, len(heads) + 1):
        roots += heads[word - 1] == 0
        node = word
        while node > 0 and seen[node] == 0:
            seen[node] = word
            node = heads[node - 1]
        if node == NO_HEAD or (node > 0 and seen[node] == word):
            return False
    return roots == 1 or len(heads) == 0


@compiled
def _edmonds(arcs, heads):  # type: ignore[no-untyped-def]
    """The best tree, found over components: c stands for all nodes v with `component[v] == c`.

    At [d, h] of the matrices lies the best arc from component h into d: penalty, score, and its ends as one
    number, n × dependent + head. False if there is no tree.
    """
    n = len(heads) + 1
    penalty, score, ends = _arc_matrices(arcs)
    component = np.arange(n)
    alive = np.ones(n, np.bool_)  # not swallowed by another component
    done = np.zeros(n, np.bool_)  # reaches the root
    done[0] = True
    source, entry = np.zeros(n, np.int64), np.zeros(n, np.int64)  # the component and the arc that enter each
    before, kept, kept_entry = np.empty((n, n), np.int64), np.zeros(n, np.int64), np.zeros(n, np.int64)
    contractions = 0
    path, on_path = np.zeros(n, np.int64), np.zeros(n, np.bool_)
    for word in range(1, n):
        length, node = 0, component[word]
        while not done[node]:
            source[node] = head = _best_source(node, alive, penalty, score)
            entry[node] = ends[node, head]
            path[length], on_path[node] = node, True
            length, node = length + 1, head
            if on_path[head]:
                kept[contractions], kept_entry[contractions] = head, entry[head]
                for v in range(n):
                    before[contractions, v] = component[v]
                contractions += 1
                stop = length
                while on_path[head]:
                    length -= 1
                    on_path[path[length]] = False
                _contract(path[length:stop], source, alive, component, penalty, score, ends)
        for i in range(length):
            done[path[i]], on_path[path[i]] = True, False
    for k in range(contractions - 1, -1, -1):  # open the cycles again, each at the member by which it is entered
        arc = entry[kept[k]]
        entry[kept[k]] = kept_entry[k]
        entry[before[k, arc // n]] = arc
    roots = 0
    for word in range(1, n):
        heads[word - 1] = entry[word] % n
        roots += heads[word - 1] == 0
        if arcs[word - 1, heads[word - 1]] == -np.inf:
            return False
    return roots == 1


@compiled
def _arc_matrices(arcs):  # type: ignore[no-untyped-def]
    n = len(arcs) + 1
    penalty, score, ends = np.zeros((n, n), np.int64), np.zeros((n, n), np.float64), np.zeros((n, n), np.int64)
    for word in range(1, n):
        penalty[word, 0] = 1
        for head in range(n):
            ends[word, head] = n * word + head
            if arcs[word - 1, head] == -np.inf:
                penalty[word, head] += 1
            else:
                score[word, head] = arcs[word - 1, head]
    return penalty, score, ends


@compiled
def _best_source(node, alive, penalty, score):  # type: ignore[no-untyped-def]
    best, best_penalty, best_score = NO_HEAD, 0, 0.0
    for head in range(len(alive)):
        if alive[head] and head != node:
            p, s = penalty[node, head], score[node, head]
            if best == NO_HEAD or p < best_penalty or (p == best_penalty and s > best_score):
                best, best_penalty, best_score = head, p, s
    return best


@compiled
def _better(penalty, score, d, h, other_d, other_h):  # type: ignore[no-untyped-def]
    """Whether the arc at [d, h] beats the one at [other_d, other_h]."""
    if penalty[d, h] != penalty[other_d, other_h]:
        return penalty[d, h] < penalty[other_d, other_h]
    return score[d, h] > score[other_d, other_h]


@compiled
def _contract(cycle, source, alive, component, penalty, score, ends):  # type: ignore[no-untyped-def]
    """Makes one component of a cycle, under the name of its first member.

    Entering at a member saves the arc that entered it before, so its weight is taken off each new way in.
    """
    n, first = len(alive), cycle[0]
    for member in cycle:
        saved_penalty, saved_score = penalty[member, source[member]], score[member, source[member]]
        for head in range(n):
            penalty[member, head] -= saved_penalty
            score[member, head] -= saved_score
        alive[member] = False
    for member in cycle[1:]:
        for other in range(n):
            if alive[other]:
                _keep_better(penalty, score, ends, member, other, first, other)  # into the component
                _keep_better(penalty, score, ends, other, member, other, first)  # out of it
            if component[other] == member:
                component[other] = first
    alive[first] = True


@compiled
def _keep_better(penalty, score, ends, d, h, to_d, to_h):  # type: ignore[no-untyped-def]
    if _better(penalty, score, d, h, to_d, to_h):
        penalty[to_d, to_h], score[to_d, to_h], ends[to_d, to_h] = penalty[d, h], score[d, h], ends[d, h]
