"""Dependency trees from arc scores: the maximum spanning tree with exactly one child of the root, compiled.

If the best head of every word already gives such a tree, it is the result. Otherwise Edmonds' algorithm follows paths
of best heads and contracts cycles, O(words²) in all (Gabow et al. 1986). The root is chosen as a head when no other is
left: cycles are contracted until one component contains all words, which the root enters once. So the tree has a
single root, without a large constant that would cost precision of the scores.

Compiled with Numba: the package `ufal.chu_liu_edmonds` is under the GPL and does not support a single root.
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
ERROR_MESSAGES = {
    NOT_A_NUMBER: "hold NaN or +inf; training may have diverged",
    NO_TREE: "forbid (-inf) every tree with a single root",
}
MIN_SENTENCES_PER_THREAD = 128  # fewer are decoded sooner than a thread starts
MAX_THREADS = 8

# rows of `nodes`, the state of each node during the search
HEAD_ROW = 0  # the word or root that enters it
COMPONENT_ROW = 1  # of words only: the newest node that contains it
MEMBER_ROW = 2  # a node of the cycle that it replaces
SIBLING_ROW = 3  # the next node of the cycle that it is in; 0 after the last
POSITION_ROW = 4  # its position on the path, or NOT_ON_PATH
DONE_ROW = 5  # whether the root reaches it
PATH_ROW = 6  # the node at each position of the path
N_ROWS, NOT_ON_PATH = 7, -1


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

    size = max(MIN_SENTENCES_PER_THREAD, -(-len(array) // MAX_THREADS))

    def decode(start: int) -> None:
        part = slice(start, start + size)
        sentence, error = _decode(array[part], words[part], heads[part])
        if error:
            raise UsageError(f"arc scores of sentence {start + sentence} {ERROR_MESSAGES[error]}")

    if len(array) <= MIN_SENTENCES_PER_THREAD:
        decode(0)
    else:
        with ThreadPoolExecutor(MAX_THREADS) as pool:  # compiled code lets go of the interpreter lock
            list(pool.map(decode, range(0, len(array), size)))
    return heads


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function on its first call, and cache it on disk if a cache folder is writable."""
    try:
        decorated: Callable[..., Any] = numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:  # neither the package's folder nor the user's cache can be written
        decorated = numba.njit(nogil=True)(function)
    return decorated


@compiled
def _decode(scores, lengths, heads):  # type: ignore[no-untyped-def]
    """Fills `heads`; returns the first sentence at fault and its fault, or 0.

    A node is a word (1 … n) or a component that took the place of a cycle of nodes (n + 1 …). `nodes` says of each
    what the names above tell; `weight[node, head]` is what a tree gains if the word or root `head` enters it.
    """
    words = heads.shape[1]
    weight, nodes = np.empty((2 * words + 1, words + 1), np.float64), np.empty((N_ROWS, 2 * words + 1), np.int64)
    for sentence in range(len(lengths)):
        n = lengths[sentence]
        if not _read_scores(scores, sentence, n, weight):
            return sentence, NOT_A_NUMBER
        if not _choose_best(n, weight, nodes, heads, sentence):
            return sentence, NO_TREE
        if not _is_tree(heads, sentence, n, nodes):
            if not _edmonds(n, weight, nodes):
                return sentence, NO_TREE
            for word in range(1, n + 1):
                heads[sentence, word - 1] = nodes[HEAD_ROW, word]
    return 0, 0


@compiled
def _read_scores(scores, sentence, n, weight):  # type: ignore[no-untyped-def]
    """The weights of words, which are no heads of themselves; False if a score is NaN or +inf."""
    invalid = 0
    for word in range(1, n + 1):
        for head in range(n + 1):
            invalid += not scores[sentence, word - 1, head] < np.inf
            weight[word, head] = scores[sentence, word - 1, head]
        invalid -= not scores[sentence, word - 1, word] < np.inf
        weight[word, word] = -np.inf
    return invalid == 0


@compiled
def _choose_best(n, weight, nodes, heads, sentence):  # type: ignore[no-untyped-def]
    """The best head of each word by itself (the first of equals); False if there is none."""
    for word in range(1, n + 1):
        nodes[HEAD_ROW, word] = best = _best_word(weight, word, n)
        if weight[word, best] == -np.inf and weight[word, 0] == -np.inf:
            return False
        heads[sentence, word - 1] = best if weight[word, best] > weight[word, 0] else 0
    return True


@compiled
def _best_word(weight, node, n):  # type: ignore[no-untyped-def]
    best, best_weight = 1, weight[node, 1]
    for head in range(2, n + 1):
        if weight[node, head] > best_weight:
            best, best_weight = head, weight[node, head]
    return best


@compiled
def _is_tree(heads, sentence, n, nodes):  # type: ignore[no-untyped-def]
    """Whether every word reaches the root and the root has one child; also for no words at all."""
    roots = 0
    for word in range(1, n + 1):
        roots += heads[sentence, word - 1] == 0
        nodes[POSITION_ROW, word] = 0  # the word from which each one was first reached
    if roots != 1:
        return n == 0
    for word in range(1, n + 1):
        node = word
        while node > 0 and nodes[POSITION_ROW, node] == 0:
            nodes[POSITION_ROW, node] = word
            node = heads[sentence, node - 1]
        if node > 0 and nodes[POSITION_ROW, node] == word:
            return False
    return True


@compiled
def _edmonds(n, weight, nodes):  # type: ignore[no-untyped-def]
    """Turns the best heads into those of the best tree; False if there is no tree."""
    for node in range(2 * n + 1):
        nodes[COMPONENT_ROW, node], nodes[POSITION_ROW, node], nodes[DONE_ROW, node] = node, NOT_ON_PATH, False
    newest, rooted = n, False
    for word in range(1, n + 1):
        node, length = nodes[COMPONENT_ROW, word], 0
        while not nodes[DONE_ROW, node]:
            nodes[PATH_ROW, length], nodes[POSITION_ROW, node] = node, length
            length += 1
            if weight[node, nodes[HEAD_ROW, node]] == -np.inf:  # no word outside leads here, so the root does
                if rooted or weight[node, 0] == -np.inf:
                    return False
                rooted, nodes[HEAD_ROW, node] = True, 0
                break
            node = nodes[COMPONENT_ROW, nodes[HEAD_ROW, node]]
            if nodes[POSITION_ROW, node] != NOT_ON_PATH:
                start, newest = nodes[POSITION_ROW, node], newest + 1
                _contract(n, weight, nodes, start, length, newest)
                node, length = newest, start
        for i in range(length):
            nodes[DONE_ROW, nodes[PATH_ROW, i]], nodes[POSITION_ROW, nodes[PATH_ROW, i]] = True, NOT_ON_PATH
    for node in range(newest, n, -1):  # open the cycles again, each at the member by which it is best entered
        nodes[HEAD_ROW, _best_entry(weight, nodes, node)] = nodes[HEAD_ROW, node]
    return True


@compiled
def _contract(n, weight, nodes, start, stop, new):  # type: ignore[no-untyped-def]
    """Makes a component of the cycle that is the path from `start` to `stop`, and chooses its head.

    Entering at a member saves the arc that entered it before, so its weight is taken off each new way in.
    """
    nodes[MEMBER_ROW, new] = 0
    for head in range(n + 1):
        weight[new, head] = -np.inf
    for i in range(start, stop):
        member = nodes[PATH_ROW, i]
        nodes[SIBLING_ROW, member], nodes[MEMBER_ROW, new] = nodes[MEMBER_ROW, new], member
        saved = weight[member, nodes[HEAD_ROW, member]]
        for head in range(n + 1):
            gain = weight[member, head] - saved
            weight[new, head] = gain if gain > weight[new, head] else weight[new, head]
    for word in range(1, n + 1):
        if nodes[POSITION_ROW, nodes[COMPONENT_ROW, word]] >= start:
            nodes[COMPONENT_ROW, word], weight[new, word] = new, -np.inf
    for i in range(start, stop):
        nodes[POSITION_ROW, nodes[PATH_ROW, i]] = NOT_ON_PATH
    nodes[HEAD_ROW, new] = _best_word(weight, new, n)


@compiled
def _best_entry(weight, nodes, node):  # type: ignore[no-untyped-def]
    """The member of a component through which its head gains most."""
    best, best_gain, head = 0, -np.inf, nodes[HEAD_ROW, node]
    member = nodes[MEMBER_ROW, node]
    while member:
        gain = weight[member, head] - weight[member, nodes[HEAD_ROW, member]]
        if gain > best_gain:
            best, best_gain = member, gain
        member = nodes[SIBLING_ROW, member]
    return best
