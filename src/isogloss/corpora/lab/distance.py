"""How far apart two languages of the laboratory are, by the same names as `languages.distance` has for real ones."""

from __future__ import annotations

from dataclasses import fields
from itertools import takewhile

from isogloss.core.registry import check_name
from isogloss.corpora.lab.languages import LANGUAGES, Grammar


def lab_distance(source: str, target: str) -> dict[str, float]:
    """Distances from 0 to 1: `genealogy` (the share of the source's line of descent that the target is no part of),
    `script` and `syntax` (the share of the grammar's features in which they differ).

    >>> lab_distance("qld", "qla")["genealogy"], lab_distance("qlj", "qld")["script"]
    (1.0, 1.0)
    """
    first, second = (LANGUAGES[check_name(code, LANGUAGES, "language of the laboratory")] for code in (source, target))
    ours, theirs = _lineage(source), _lineage(target)
    shared = len(list(takewhile(lambda pair: pair[0] == pair[1], zip(ours, theirs))))
    names = [field.name for field in fields(Grammar)]
    apart = sum(getattr(first.grammar, name) != getattr(second.grammar, name) for name in names)
    return {
        "genealogy": 1 - shared / len(ours),
        "script": float(first.script != second.script),
        "syntax": apart / len(names),
    }


def _lineage(code: str) -> tuple[str, ...]:
    """The family, then the line from its first language down to this one."""
    language = LANGUAGES[code]
    return (*(_lineage(language.parent) if language.parent else (language.family,)), code)
