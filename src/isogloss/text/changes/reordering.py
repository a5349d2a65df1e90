"""Reordering of subject, verb and object in the sentences of a treebank, according to their trees.

In every clause the subjects, the verb (with its auxiliaries, particles and the words of its multiword token) and the
objects exchange positions. Everything else stays: conjunctions, adverbials, punctuation, and interrogative and relative
pronouns ("whom I saw"). Phrases move as units, so the tree is the same apart from its numbering, and becomes
projective. The first word is capitalised, as before.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

from isogloss.core.errors import UsageError
from isogloss.core.registry import check_name
from isogloss.core.seeds import Chance
from isogloss.corpora.corpus import Corpus
from isogloss.corpora.kinds.treebank import TREEBANK, Row, Tree
from isogloss.text.changes.tree_renumbering import renumbered, surface_tokens

ORDERS = tuple(map("".join, permutations("SVO")))
SUBJECTS, OBJECTS = {"nsubj", "csubj", "expl"}, {"obj", "iobj", "dobj"}
WITH_VERB = {"aux", "auxpass", "cop", "compound", "fixed"}  # if adjacent to the verb
FIRST_ANYWHERE = ("PronType=Rel", "PronType=Int", "PronType=Int,Rel")


def reorder(treebank: Corpus[Tree], order: str = "SOV", *, probability: float = 1.0, seed: int = 0) -> Corpus[Tree]:
    """The treebank with clauses in the given order.

    `order`: a permutation of "SVO". `probability`: the share of sentences that are reordered. `seed`: random seed of
    their choice.
    """
    check_name(order, ORDERS, "order")
    if treebank.kind is not TREEBANK or not 0 <= probability <= 1:
        raise UsageError(f"reorder: expected a treebank and a probability, got {treebank.kind.name}, {probability}")
    draws = (Chance(seed, "word order", i).happens(probability) for i in range(len(treebank)))
    pairs = zip(treebank, draws, strict=True)
    return treebank.with_items(reordered(tree, order) if is_selected else tree for tree, is_selected in pairs)


def reordered(tree: Tree, order: str) -> Tree:
    """One reordered tree; a sentence without heads is not changed."""
    nodes = tree.nodes
    if any(row.head == "_" for row in nodes):
        return tree
    token = surface_tokens(tree)
    new_order = linearised(nodes, order, token)
    if new_order == linearised(nodes, "", token):  # nothing to reorder: crossing arcs stay too
        return tree
    return tree.with_rows(renumbered(tree, keep_ends(new_order, nodes)))


def linearised(nodes: Sequence[Row], order: str, token: Sequence[int]) -> list[int]:
    """The words (from 1) in their new order; `token` has the number of the surface token of each word."""
    children: list[list[int]] = [[] for _ in range(len(nodes) + 1)]
    for word, row in enumerate(nodes, 1):
        children[int(row.head)].append(word)
    spans: dict[int, list[int]] = {}
    for word in _bottom_up(children):
        units = arranged(word, children[word], nodes, order, token)
        spans[word] = [position for unit in units for position in ([word] if unit == word else spans[unit])]
    return spans[children[0][0]]


def _bottom_up(children: Sequence[list[int]]) -> list[int]:
    """Words after all their descendants; without recursion, because trees may be deep."""
    top_down, waiting = [], list(children[0])
    while waiting:
        word = waiting.pop()
        top_down.append(word)
        waiting += children[word]
    return top_down[::-1]


def arranged(verb: int, dependents: Sequence[int], nodes: Sequence[Row], order: str, token: Sequence[int]) -> list[int]:
    """A word and the heads of its dependent phrases, with subjects, verb and objects in the given order."""
    units = sorted([verb, *dependents])
    roles = {word: "V" if word == verb else _role(nodes[word - 1]) for word in units}
    if not order or not {"S", "O"} & set(roles.values()):
        return units
    at = units.index(verb)
    for side in (range(at - 1, -1, -1), range(at + 1, len(units))):  # words that move with the verb, outwards from it
        for i in side:
            row = nodes[units[i] - 1]  # auxiliaries, particles and reflexives (`expl:pv`), but not "there"
            moves_with_verb = _base(row) in WITH_VERB or row.deprel.startswith("expl:")
            if not moves_with_verb and token[units[i] - 1] != token[verb - 1]:
                break
            roles[units[i]] = "V"
    places = [i for i, word in enumerate(units) if roles[word]]
    moving = [word for role in order for word in units if roles[word] == role]
    for place, word in zip(places, moving, strict=True):
        units[place] = word
    return units


def _role(row: Row) -> str:
    if row.deprel.startswith("expl:") or any(mark in row.feats.split("|") for mark in FIRST_ANYWHERE):
        return ""
    return "S" if _base(row) in SUBJECTS else "O" if _base(row) in OBJECTS else ""


def _base(row: Row) -> str:
    return row.deprel.partition(":")[0]


def keep_ends(order: list[int], nodes: Sequence[Row]) -> list[int]:
    """Sentence-initial and sentence-final punctuation stays, whatever its head."""
    n = len(nodes)
    first = next((i for i in range(n) if nodes[i].upos != "PUNCT"), n)
    last = next((i for i in range(n, 0, -1) if nodes[i - 1].upos != "PUNCT"), 0)
    inner = [word for word in order if first < word <= last]
    return [*range(1, first + 1), *inner, *range(last + 1, n + 1)] if inner else list(range(1, n + 1))
