"""A tree whose words have changed places: ids, heads, enhanced heads, tokens, spaces and capitals follow them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from isogloss.corpora.kinds.treebank import MULTIWORD, Row, Tree, with_space


def renumbered(tree: Tree, order: Sequence[int]) -> tuple[Row, ...]:
    """The rows in a new order of words: ids, heads and enhanced heads follow; a token that is torn is dissolved."""
    number = {str(old): str(new) for new, old in enumerate(order, 1)} | {"0": "0"}
    before, nodes = tree.nodes, _capitalised(tree.nodes, order)
    above: dict[str, list[Row]] = {}  # multiword tokens and empty nodes, by the word they stand at
    for row in tree.rows:
        if match := MULTIWORD.fullmatch(row.id):
            low, high = int(match[1]), int(match[2])
            new = [int(number[str(word)]) for word in range(low, high + 1)]
            if new == list(range(new[0], new[0] + len(new))):
                recased = nodes[low - 1].form != before[low - 1].form
                form = nodes[low - 1].form[:1] + row.form[1:] if recased else row.form
                above.setdefault(match[1], []).append(row._replace(id=f"{new[0]}-{new[-1]}", form=form))
        elif "." in row.id:
            above.setdefault(row.id.partition(".")[0], []).append(row._replace(id=_moved(row.id, number)))
    rows = list(above.get("0", []))
    for old in map(str, order):
        row = nodes[int(old) - 1]
        rows += [one for one in above.get(old, []) if "-" in one.id]
        rows.append(row._replace(id=number[old], head=number[row.head]))
        rows += [one for one in above.get(old, []) if "." in one.id]
    rows = [row._replace(deps=_enhanced(row.deps, number)) for row in rows]
    return _spaced(tree, rows, order)


def _moved(id: str, number: dict[str, str]) -> str:
    word, dot, rest = id.partition(".")
    return number[word] + dot + rest


def _enhanced(deps: str, number: dict[str, str]) -> str:
    if deps == "_":
        return deps
    pairs = [pair.partition(":") for pair in deps.split("|")]
    moved = [(_moved(head, number), relation) for head, _, relation in pairs]
    return "|".join(f"{head}:{relation}" for head, relation in sorted(moved, key=lambda pair: _place(pair[0])))


def _place(id: str) -> tuple[int, int]:
    word, _, rest = id.partition(".")
    return int(word), int(rest or 0)


def _capitalised(nodes: Sequence[Row], order: Sequence[int]) -> list[Row]:
    """The capital of the first word goes to the new first word, unless it is the word's own."""
    result = list(nodes)
    old = next((i for i, row in enumerate(nodes) if row.upos != "PUNCT"), 0)
    new = next((word - 1 for word in order if nodes[word - 1].upos != "PUNCT"), 0)
    row = nodes[old]
    if old == new or not row.form[:1].isupper():
        return result
    if row.upos != "PROPN" and row.form[1:] == row.form[1:].lower() and row.lemma[:1] == row.lemma[:1].lower():
        result[old] = row._replace(form=row.form[:1].lower() + row.form[1:])
    result[new] = nodes[new]._replace(form=nodes[new].form[:1].upper() + nodes[new].form[1:])
    return result


def surface_tokens(tree: Tree) -> list[int]:
    """For each word the number of its surface token: that of the first word in it."""
    token = list(range(1, len(tree.nodes) + 1))
    for row in tree.rows:
        if match := MULTIWORD.fullmatch(row.id):
            low, high = int(match[1]), int(match[2])
            token[low - 1 : high] = [low] * (high - low + 1)
    return token


def _spaced(tree: Tree, rows: Sequence[Row], order: Sequence[int]) -> tuple[Row, ...]:
    """Rows with the spaces of their new neighbours.

    None where two words stood together without one, or where punctuation clings to what stands beside it.
    """
    glued, token, nodes = _glued(tree), surface_tokens(tree), tree.nodes
    after, covered, result = dict(pairwise(order)), 0, []
    for row in rows:
        match = MULTIWORD.fullmatch(row.id)
        last = match[2] if match else row.id
        if "." in row.id or (not match and int(last) <= covered):  # no place in the text of its own
            result.append(row)
            continue
        covered = int(last) if match else covered
        word = order[int(last) - 1]
        following = after.get(word, 0)
        together = following == word + 1 and (word in glued or token[word - 1] == token[following - 1])
        clings = following > 0 and nodes[following - 1].upos == "PUNCT" and following - 1 in glued
        opens = following > 0 and nodes[word - 1].upos == "PUNCT" and word in glued
        result.append(row._replace(misc=with_space(row.misc, not (together or clings or opens))))
    return tuple(result)


def _glued(tree: Tree) -> set[int]:
    """The words after which the text has no space."""
    found, covered = set(), 0
    for row in tree.rows:
        match = MULTIWORD.fullmatch(row.id)
        if match:
            covered = int(match[2])
        elif "." in row.id or int(row.id) <= covered:
            continue
        if "SpaceAfter=No" in row.misc.split("|"):
            found.add(covered if match else int(row.id))
    return found
