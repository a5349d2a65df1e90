"""Distances between languages of the laboratory, with the same names as in `languages.distance`."""

from __future__ import annotations

from dataclasses import fields

from isogloss.core.registry import check_name
from isogloss.corpora.lab.languages import LANGUAGES, Grammar
from isogloss.languages.distance import genealogy_distance


def lab_distance(source: str, target: str) -> dict[str, float]:
    """Distances from 0 to 1: `genealogy` (the share of the lineage of the source that the target does not share),
    `script` and `syntax` (the share of grammatical features in which they differ).

    >>> lab_distance("qld", "qla")["genealogy"], lab_distance("qlj", "qld")["script"]
    (1.0, 1.0)
    """
    first, second = (LANGUAGES[check_name(code, LANGUAGES, "language of the laboratory")] for code in (source, target))
    names = [field.name for field in fields(Grammar)]
    differing = sum(getattr(first.grammar, name) != getattr(second.grammar, name) for name in names)
    return {
        "genealogy": genealogy_distance(_lineage(source), _lineage(target)),
        "script": float(first.script != second.script),
        "syntax": differing / len(names),
    }


def _lineage(code: str) -> tuple[str, ...]:
    """The family and the languages from its first one down to this one."""
    language = LANGUAGES[code]
    return (*(_lineage(language.parent) if language.parent else (language.family,)), code)
