"""Parallel text in one file: TSV with one column per language, and `source ||| target` of fast_align.

Sentences are not changed, so that writing restores the same bytes. A row without a sentence in one of the languages is
an error with its line; `repair=True` skips it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from isogloss.core.errors import InputError, shown
from isogloss.core.files import Repairs, read_lines
from isogloss.corpora.corpus import Format
from isogloss.corpora.formats.lines import check_last_line, join_columns
from isogloss.corpora.kinds.parallel import ParallelRow as Row
from isogloss.languages.codes import canonical, is_language

PAIR_SEPARATOR = "|||"


def tsv(languages: Sequence[str] | None = None) -> Format[Row]:
    """TSV with one sentence per language in each row; the first line contains the languages unless they are given."""

    def stream(path: Path, repairs: Repairs) -> Iterator[Row]:
        codes, number = languages, 0
        for number, line in enumerate(read_lines(path, repairs), 1):
            fields = line.split("\t")
            if codes is None:
                codes = _header(path, fields)
            elif len(fields) != len(codes):
                expected = f"{len(codes)} sentences separated by tabs"
                repairs.note(InputError(path, expected, f"{len(fields)} in {shown(line)}", line=number))
            elif any(not text.strip() for text in fields):
                repairs.note(InputError(path, "a sentence in every column", "an empty one", line=number))
            else:
                yield dict(zip(codes, fields, strict=True))
        check_last_line(path, number, repairs)

    def unparse(rows: Iterable[Row]) -> Iterator[str]:
        header = languages is None
        for row in rows:
            if header:
                yield join_columns(list(row)) + "\n"
                header = False
            yield join_columns(list(row.values())) + "\n"

    summary = "parallel sentences, one column per language, language codes in the header"
    return Format("parallel-tsv", "parallel", summary, stream, unparse, _is_tsv, ".tsv")


def fast_align(languages: Sequence[str] = ("source", "target")) -> Format[Row]:
    """The input format of fast_align, `source ||| target`: words separated by spaces; spacing is preserved."""

    def stream(path: Path, repairs: Repairs) -> Iterator[Row]:
        number = 0
        for number, line in enumerate(read_lines(path, repairs), 1):
            fields = line.split(PAIR_SEPARATOR)
            if len(fields) == 2 and all(text.strip() for text in fields):
                yield dict(zip(languages, fields, strict=True))
            else:
                repairs.note(InputError(path, f"source {PAIR_SEPARATOR} target", shown(line), line=number))
        check_last_line(path, number, repairs)

    def unparse(rows: Iterable[Row]) -> Iterator[str]:
        return (join_columns(list(row.values()), PAIR_SEPARATOR) + "\n" for row in rows)

    def recognise(suffix: str, head: Sequence[str]) -> bool:
        return all(line.count(PAIR_SEPARATOR) == 1 for line in head)

    summary = "tokenised sentence pairs, source ||| target"
    return Format("fast-align", "parallel", summary, stream, unparse, recognise, ".txt")


def _is_tsv(suffix: str, head: Sequence[str]) -> bool:
    codes = head[0].split("\t")
    return len(codes) > 1 and all(map(is_language, codes))


def _header(path: Path, fields: list[str]) -> list[str]:
    if len(fields) < 2 or len({canonical(code) for code in fields}) < len(fields) or not all(map(is_language, fields)):
        advice = "give languages=('en', 'fr', …) if the file has no header"
        raise InputError(path, "a header of language codes", shown("\t".join(fields)), line=1, advice=advice)
    return fields


TSV = tsv()
FAST_ALIGN = fast_align()
