"""Word-aligned sentence pairs as JSON lines: `{"src_words": […], "tgt_words": […], "alignment": [[0, 0], …]}`.

Words are counted from 0; -1 stands for "linked to nothing".
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from isogloss.core.errors import InputError, shown
from isogloss.core.files import Repairs, read_lines
from isogloss.corpora.corpus import Format
from isogloss.corpora.formats.pharaoh import links_within
from isogloss.corpora.formats.strict_json import is_text, parse_json
from isogloss.corpora.kinds.alignment import SURE, UNALIGNED_INDEX, Alignment, Link
from isogloss.corpora.kinds.bitext import AlignedPair

KEYS = ("src_words", "tgt_words", "alignment")


def stream(path: Path, repairs: Repairs) -> Iterator[AlignedPair]:
    """Stream the pairs of a file. With repair, invalid lines are skipped and recorded."""
    for number, line in enumerate(read_lines(path, repairs), 1):
        try:
            pair = _pair(parse_json(line))
        except (ValueError, TypeError, KeyError):
            expected = "{" + ", ".join(f'"{key}": […]' for key in KEYS) + "}"
            repairs.note(InputError(path, expected, shown(line), line=number))
            continue
        links = links_within(pair.alignment, len(pair.source), len(pair.target), repairs, path, number)
        yield replace(pair, alignment=links)


def unparse(pairs: Iterable[AlignedPair]) -> Iterator[str]:
    for pair in pairs:
        links = [[s, t] if mark == SURE else [s, t, mark] for s, t, mark in pair.alignment.links]
        yield json.dumps(dict(zip(KEYS, (pair.source, pair.target, links), strict=True)), ensure_ascii=False) + "\n"


def _pair(record: dict[str, Any]) -> AlignedPair:
    source, target, links = (record[key] for key in KEYS)
    if not all(isinstance(part, list) for part in (source, target, links)) or not source or not target:
        raise TypeError
    if set(record) != set(KEYS) or not all(map(is_text, [*source, *target])):
        raise ValueError
    return AlignedPair(tuple(source), tuple(target), Alignment(tuple(_link(*link) for link in links)))


def _link(source: int, target: int, mark: str = SURE) -> Link:
    if not type(source) is type(target) is int or min(source, target) < UNALIGNED_INDEX or mark not in ("-", "?", "p"):
        raise ValueError
    return Link(source, target, mark)


def recognise(suffix: str, head: Sequence[str]) -> bool:
    return bool(head) and head[0].startswith("{") and all(f'"{key}"' in head[0] for key in KEYS)


SUMMARY = "word-aligned sentence pairs as JSON lines: src_words, tgt_words, alignment"
FORMAT: Format[AlignedPair] = Format("aligned-jsonl", "bitext", SUMMARY, stream, unparse, recognise, ".jsonl")
