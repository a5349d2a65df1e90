"""Dependency trees from arc scores: the maximum spanning tree with exactly one child of the root, compiled.

Where every word's best head already gives such a tree, that is it. Otherwise Edmonds' algorithm grows paths of
best heads and contracts the cycles it meets, O(words²) in all (Gabow et al. 1986). Weights are compared first by
a count of penalties, then by score: an arc from the root costs one penalty, a forbidden arc more than all roots
together. That makes the single root exact where a large constant would eat the digits of the scores.

Compiled by Numba because the one such package on PyPI, `ufal.chu_liu_edmonds`, is under the GPL.
"""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import ArrayLike, NDArray

from isogloss.core.errors import UsageError

NO_HEAD = -1  # padding
NOT_A_NUMBER, NO_TREE = 1, 2


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
    heads = np.full(array.shape[:2], NO_HEAD, dtype=np.int64)
    sentence, fault = _decode(np.ascontiguousarray(array), words, heads)
    if fault == NOT_A_NUMBER:
        raise UsageError(f"arc scores of sentence {sentence} hold NaN or +inf; training may have diverged")
    if fault == NO_TREE:
        raise UsageError(f"arc scores of sentence {sentence} forbid (-inf) every tree with a single root")
    return heads


def decode_tree(scores: ArrayLike) -> list[int]:
    """The best heads of one sentence, for scores `(words, 1 + words)`.

    >>> decode_tree([[2.0, 0.0, 1.0], [3.0, 1.0, 0.0]])
    [2, 0]
    """
    heads: list[int] = decode_trees(np.asarray(scores)[None])[0].tolist()
    return heads


compiled = numba.njit(cache=True)


@compiled  # type: ignore[untyped-decorator]
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


@compiled  # type: ignore[untyped-decorator]
def _choose_best(arcs, heads):  # type: ignore[no-untyped-def]
    """The best head of each word by itself (the first of equals); False if a score is NaN or +inf."""
    for word in range(len(heads)):
        best, best_score = NO_HEAD, -np.inf
        for head in range(len(heads) + 1):
            if head != word + 1:
                score = arcs[word, head]
                if not score < np.inf:
                    return False
                if score > best_score:
                    best, best_score = head, score
        heads[word] = best
    return True


@compiled  # type: ignore[untyped-decorator]
def _is_tree(heads):  # type: ignore[no-untyped-def]
    """Whether every word reaches the root and the root has one child; also for no words at all."""
    n = len(heads)
    roots = 0
    seen = np.zeros(n + 1, np.int64)  # by which word's walk; the root's own entry ends every walk
    for word in range(1, n + 1):
        if heads[word - 1] == NO_HEAD:
            return False
        roots += heads[word - 1] == 0
        node = word
        while node != 0 and seen[node] == 0:
            seen[node] = word
            node = heads[node - 1]
            if node == NO_HEAD:
                return False
        if node != 0 and seen[node] == word:
            return False
    return roots == 1 or n == 0


@compiled  # type: ignore[untyped-decorator]
def _edmonds(arcs, heads):  # type: ignore[no-untyped-def]
    """The best tree over components: component c stands for all nodes v with `component[v] == c`.

    `penalty`, `score` and the ends `source`, `target` of the best arc from component h into d lie at [d, h].
    """
    n = len(heads) + 1
    penalty, score, source, target = _arc_matrices(arcs)
    component = np.arange(n)
    alive = np.ones(n, np.bool_)
    done = np.zeros(n, np.bool_)  # reaches the root
    done[0] = True
    chosen = np.zeros(n, np.int64)  # the component from which each is entered
    entry_source, entry_target = np.zeros(n, np.int64), np.zeros(n, np.int64)
    # one row per contraction: components before it, the one that remained, the arc that entered that one
    before = np.zeros((n, n), np.int64)
    kept, kept_source, kept_target = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n, np.int64)
    contractions = 0
    path, on_path = np.zeros(n, np.int64), np.zeros(n, np.bool_)
    for word in range(1, n):
        length, node = 0, component[word]
        while not done[node]:
            head = _best_entry(node, alive, penalty, score)
            chosen[node], entry_source[node], entry_target[node] = head, source[node, head], target[node, head]
            path[length], on_path[node], length = node, True, length + 1
            if not on_path[head]:
                node = head
                continue
            before[contractions], kept[contractions] = component, head
            kept_source[contractions], kept_target[contractions] = entry_source[head], entry_target[head]
            contractions += 1
            start = length - 1
            while path[start] != head:
                start -= 1
            _contract(path[start:length], chosen, alive, component, penalty, score, source, target)
            for i in range(start, length):
                on_path[path[i]] = False
            length, node = start, head
        for i in range(length):
            done[path[i]], on_path[path[i]] = True, False
    for k in range(contractions - 1, -1, -1):  # open the cycles again, each where it is entered
        outside, inside = entry_source[kept[k]], entry_target[kept[k]]
        entry_source[kept[k]], entry_target[kept[k]] = kept_source[k], kept_target[k]
        broken = before[k, inside]
        entry_source[broken], entry_target[broken] = outside, inside
    for word in range(1, n):
        heads[word - 1] = entry_source[word]
        if arcs[word - 1, entry_source[word]] == -np.inf:
            return False
    return np.sum(heads == 0) == 1


@compiled  # type: ignore[untyped-decorator]
def _arc_matrices(arcs):  # type: ignore[no-untyped-def]
    n = len(arcs) + 1
    penalty, score = np.zeros((n, n), np.int64), np.zeros((n, n), np.float64)
    source, target = np.zeros((n, n), np.int64), np.zeros((n, n), np.int64)
    for word in range(1, n):
        for head in range(n):
            source[word, head], target[word, head] = head, word
            if head == 0:
                penalty[word, head] = 1
            if arcs[word - 1, head] == -np.inf:
                penalty[word, head] += n
            else:
                score[word, head] = arcs[word - 1, head]
    return penalty, score, source, target


@compiled  # type: ignore[untyped-decorator]
def _best_entry(node, alive, penalty, score):  # type: ignore[no-untyped-def]
    best = NO_HEAD
    for head in range(len(alive)):
        if alive[head] and head != node and (best == NO_HEAD or _better(penalty, score, node, head, node, best)):
            best = head
    return best


@compiled  # type: ignore[untyped-decorator]
def _better(penalty, score, d, h, other_d, other_h):  # type: ignore[no-untyped-def]
    """Whether the arc at [d, h] beats the one at [other_d, other_h]."""
    if penalty[d, h] != penalty[other_d, other_h]:
        return penalty[d, h] < penalty[other_d, other_h]
    return score[d, h] > score[other_d, other_h]


@compiled  # type: ignore[untyped-decorator]
def _contract(cycle, chosen, alive, component, penalty, score, source, target):  # type: ignore[no-untyped-def]
    """Makes one component of a cycle, under the name of its first member.

    Entering at a member saves the arc that entered it before, so its weight is taken off each new way in.
    """
    n, first = len(alive), cycle[0]
    for member in cycle:
        saved_penalty, saved_score = penalty[member, chosen[member]], score[member, chosen[member]]
        for head in range(n):
            penalty[member, head] -= saved_penalty
            score[member, head] -= saved_score
        alive[member] = False
    for member in cycle[1:]:
        for other in range(n):
            if alive[other]:
                if _better(penalty, score, member, other, first, other):
                    _copy(penalty, score, source, target, member, other, first, other)
                if _better(penalty, score, other, member, other, first):
                    _copy(penalty, score, source, target, other, member, other, first)
            if component[other] == member:
                component[other] = first
    alive[first] = True


@compiled  # type: ignore[untyped-decorator]
def _copy(penalty, score, source, target, d, h, to_d, to_h):  # type: ignore[no-untyped-def]
    penalty[to_d, to_h], score[to_d, to_h] = penalty[d, h], score[d, h]
    source[to_d, to_h], target[to_d, to_h] = source[d, h], target[d, h]
