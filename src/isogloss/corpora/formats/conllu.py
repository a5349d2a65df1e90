"""CoNLL-U treebanks: read, checked against the structural rules of UD v2, and written back byte for byte.

A sentence stores its comments and every line (words, multiword tokens, empty nodes) as the ten strings of the file.
The package `conllu` is not used because it parses every field into dictionaries and is several times slower
(`benchmarks/conllu_reading.py`).

Reference: https://universaldependencies.org/format.html
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

from isogloss.core.errors import InputError, shown
from isogloss.core.files import Repairs, read_lines
from isogloss.corpora.corpus import Format
from isogloss.corpora.formats.lines import TRUNCATED
from isogloss.corpora.kinds.treebank import MULTIWORD, Row, Tree

WORD_NUMBERS = [str(i) for i in range(1, 513)]
EMPTY_NODE = re.compile(r"(0|[1-9][0-9]*)\.([1-9][0-9]*)")
make_row = partial(tuple.__new__, Row)  # `Row._make` without its check of the number of fields


def stream(path: Path, repairs: Repairs) -> Iterator[Tree]:
    """Stream the sentences of a file. With repair, invalid sentences are skipped and recorded."""
    comments: list[str] = []
    rows: list[Row] = []
    start, fault, number = 1, None, 0
    for number, line in enumerate(read_lines(path, repairs), 1):
        if line == "":
            if fault or (fault := _fault(path, start, comments, rows)):
                repairs.note(fault)
            else:
                yield Tree(tuple(comments), tuple(rows))
            comments, rows, start, fault = [], [], number + 1, None
        elif line[0] == "#" and not rows:
            comments.append(line)
        else:
            fields = line.split("\t")
            if len(fields) == 10:
                rows.append(make_row(fields))
            else:
                got = f"{len(fields)} in {shown(line)}"
                advice = "comments belong before the first word" if line[0] == "#" else ""
                fault = fault or InputError(path, "10 columns separated by tabs", got, line=number, advice=advice)
    if comments or rows or fault:
        fault = fault or _fault(path, start, comments, rows)
        expected = "an empty line after the last sentence"
        repairs.note(fault or InputError(path, expected, "the end of the file", line=number, advice=TRUNCATED))
        if not fault:
            yield Tree(tuple(comments), tuple(rows))


def unparse(trees: Iterable[Tree]) -> Iterator[str]:
    for tree in trees:
        yield "\n".join([*tree.comments, *map("\t".join, tree.rows), "", ""])


def recognise(suffix: str, head: Sequence[str]) -> bool:
    rows = [line for line in head if line and not line.startswith("#")]
    return suffix == ".conllu" or (bool(rows) and all(line.count("\t") == 9 for line in rows))


def _fault(path: Path, start: int, comments: list[str], rows: list[Row]) -> InputError | None:
    """The first violation of the structure of UD v2 in a sentence that begins at line `start`, or None."""
    first = start + len(comments)
    places = [i for i, row in enumerate(rows) if row.id.isdecimal()]
    if not places:
        return InputError(path, "at least one word before the empty line", "none", line=first)
    ids = [rows[i].id for i in places]
    if ids != _numbers(len(ids)):
        wrong = next(i for i, id in enumerate(ids) if id != str(i + 1))
        return InputError(path, f"the word id {wrong + 1}", shown(ids[wrong]), line=first + places[wrong])
    for i, row in enumerate(rows):
        if "" in row:
            name = Row._fields[row.index("")]
            return InputError(path, f"a value or '_' in the column {name.upper()}", "nothing", line=first + i)
    if len(places) < len(rows) and (fault := _range_fault(path, first, rows)):
        return fault
    return _tree_fault(path, first, places, [rows[i].head for i in places])


def _range_fault(path: Path, first: int, rows: list[Row]) -> InputError | None:
    """Multiword tokens directly precede their words and do not overlap; empty nodes follow their word."""
    words = sum(row.id.isdecimal() for row in rows)
    last, covered, empty = 0, 0, 0
    for i, row in enumerate(rows):
        if row.id.isdecimal():
            last, empty = int(row.id), 0
        elif match := MULTIWORD.fullmatch(row.id):
            low, high = int(match[1]), int(match[2])
            if not (low == last + 1 and covered < low < high <= words):
                return InputError(path, f"a token range that starts at {last + 1}", row.id, line=first + i)
            covered = high
        elif match := EMPTY_NODE.fullmatch(row.id):
            if (int(match[1]), int(match[2])) != (last, empty + 1):
                return InputError(path, f"the empty node {last}.{empty + 1}", row.id, line=first + i)
            empty += 1
        else:
            return InputError(path, "an id such as 3, 3-4 or 3.1", shown(row.id), line=first + i)
    return None


def _tree_fault(path: Path, first: int, places: list[int], heads: list[str]) -> InputError | None:
    """Heads in range, one root, no cycle. A sentence whose heads are all `_` is unannotated and valid."""
    valid_heads = {"0", *_numbers(len(heads))}
    if not valid_heads.issuperset(heads):
        if set(heads) == {"_"}:
            return None
        wrong = next(i for i, head in enumerate(heads) if head not in valid_heads)
        return InputError(path, f"a head between 0 and {len(heads)}", shown(heads[wrong]), line=first + places[wrong])
    if heads.count("0") != 1:
        return InputError(path, "one root in the sentence", f"{heads.count('0')}", line=first)
    stuck = first_on_cycle([int(head) for head in heads])
    if stuck is None:
        return None
    return InputError(path, "a tree", f"a cycle through word {stuck}", line=first + places[stuck - 1])


def first_on_cycle(heads: Sequence[int]) -> int | None:
    """The first word (1-based) from which the root is not reached, or None for a tree.

    >>> first_on_cycle([2, 0, 2]), first_on_cycle([0, 3, 2])
    (None, 2)
    """
    reaches = [True] + [False] * len(heads)
    for word in range(1, len(heads) + 1):
        path: list[int] = []
        node = word
        while not reaches[node] and len(path) <= len(heads):
            path.append(node)
            node = heads[node - 1]
        if not reaches[node]:
            return word
        for node in path:
            reaches[node] = True
    return None


def _numbers(n: int) -> list[str]:
    return WORD_NUMBERS[:n] if n <= len(WORD_NUMBERS) else [str(i) for i in range(1, n + 1)]


SUMMARY = "CoNLL-U treebank: ten columns, one empty line after each sentence"
FORMAT: Format[Tree] = Format("conllu", "treebank", SUMMARY, stream, unparse, recognise, ".conllu")
