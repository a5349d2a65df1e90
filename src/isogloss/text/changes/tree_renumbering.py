"""Renumbering of a tree with a new word order: ids, heads, enhanced heads, tokens, spaces and capitals."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from isogloss.corpora.kinds.treebank import MULTIWORD, Row, Tree, has_space, surface_rows, with_space


def renumbered(tree: Tree, order: Sequence[int]) -> tuple[Row, ...]:
    """The rows in a new word order; multiword tokens whose words are no longer adjacent are removed."""
    number = {str(old): str(new) for new, old in enumerate(order, 1)} | {"0": "0"}
    before, nodes = tree.nodes, _capitalised(tree.nodes, order)
    above: dict[str, list[Row]] = {}  # multiword tokens and empty nodes by their word
    for row in tree.rows:
        if match := MULTIWORD.fullmatch(row.id):
            low, high = int(match[1]), int(match[2])
            new_positions = [int(number[str(word)]) for word in range(low, high + 1)]
            if new_positions == list(range(new_positions[0], new_positions[0] + len(new_positions))):
                recased = nodes[low - 1].form != before[low - 1].form
                form = nodes[low - 1].form[:1] + row.form[1:] if recased else row.form
                token = row._replace(id=f"{new_positions[0]}-{new_positions[-1]}", form=form)
                above.setdefault(match[1], []).append(token)
        elif "." in row.id:
            above.setdefault(row.id.partition(".")[0], []).append(row._replace(id=_renumbered_id(row.id, number)))
    rows = list(above.get("0", []))
    for old in map(str, order):
        row = nodes[int(old) - 1]
        rows += [attached for attached in above.get(old, []) if "-" in attached.id]
        rows.append(row._replace(id=number[old], head=number[row.head]))
        rows += [attached for attached in above.get(old, []) if "." in attached.id]
    rows = [row._replace(deps=_enhanced(row.deps, number)) for row in rows]
    return _spaced(tree, rows, order)


def _renumbered_id(id: str, number: dict[str, str]) -> str:
    word, dot, suffix = id.partition(".")
    return number[word] + dot + suffix


def _enhanced(deps: str, number: dict[str, str]) -> str:
    if deps == "_":
        return deps
    pairs = [pair.partition(":") for pair in deps.split("|")]
    moved = [(_renumbered_id(head, number), relation) for head, _, relation in pairs]
    moved.sort(key=lambda pair: [int(number) for number in pair[0].split(".")])
    return "|".join(f"{head}:{relation}" for head, relation in moved)


def _capitalised(nodes: Sequence[Row], order: Sequence[int]) -> list[Row]:
    """The new first word is capitalised; the old one is lower-cased unless it is a name."""
    result = list(nodes)
    old_first = next((i for i, row in enumerate(nodes) if row.upos != "PUNCT"), 0)
    new_first = next((word - 1 for word in order if nodes[word - 1].upos != "PUNCT"), 0)
    row = nodes[old_first]
    if old_first == new_first or not row.form[:1].isupper():
        return result
    if row.upos != "PROPN" and row.form[1:] == row.form[1:].lower() and row.lemma[:1] == row.lemma[:1].lower():
        result[old_first] = row._replace(form=row.form[:1].lower() + row.form[1:])
    result[new_first] = nodes[new_first]._replace(form=nodes[new_first].form[:1].upper() + nodes[new_first].form[1:])
    return result


def surface_tokens(tree: Tree) -> list[int]:
    """The number of the surface token of each word, which is that of its first word."""
    token = list(range(1, len(tree.nodes) + 1))
    for row in tree.rows:
        if match := MULTIWORD.fullmatch(row.id):
            low, high = int(match[1]), int(match[2])
            token[low - 1 : high] = [low] * (high - low + 1)
    return token


def _spaced(tree: Tree, rows: Sequence[Row], order: Sequence[int]) -> tuple[Row, ...]:
    """Rows with `SpaceAfter` for their new neighbours.

    There is no space between two words that had none before, and beside punctuation that had none on that side.
    """
    token, nodes, after = surface_tokens(tree), tree.nodes, dict(pairwise(order))
    glued = {_last_word(row) for row in surface_rows(tree.rows) if not has_space(row.misc)}
    surface_ids, result = {row.id for row in surface_rows(rows)}, []
    for row in rows:
        if row.id not in surface_ids:
            result.append(row)
            continue
        word = order[_last_word(row) - 1]
        following = after.get(word, 0)
        was_joined = following == word + 1 and (word in glued or token[word - 1] == token[following - 1])
        before_punctuation = following > 0 and nodes[following - 1].upos == "PUNCT" and following - 1 in glued
        after_punctuation = following > 0 and nodes[word - 1].upos == "PUNCT" and word in glued
        space = not (was_joined or before_punctuation or after_punctuation)
        result.append(row._replace(misc=with_space(row.misc, space)))
    return tuple(result)


def _last_word(token: Row) -> int:
    return int(token.id.rpartition("-")[2])
