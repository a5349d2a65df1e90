"""NER in columns: one word per line with its tag last, an empty line between sentences, written back byte for byte.

A sentence stores its columns as written; words and BIO tags are derived. The rule of the CoNLL evaluation script reads
BIO, IOB1 and IOBES: an entity begins at `B-` or `S-`, after `O`, `E-`, `S-` or the start of the sentence, and where
the type changes. (Published BIO files contain a few entities that begin with `I-`: 501 in the Japanese PAN-X
development set. `counts` shows them.)

A file may contain words without tags, like the test files of PAN-X: then no sentence has tags, and `tags` is None.
PAN-X has no empty line at its end, so a file truncated exactly between two lines cannot be detected.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

from isogloss.core.errors import InputError, UsageError, shown
from isogloss.core.files import Repairs, read_lines
from isogloss.corpora.corpus import Format
from isogloss.corpora.formats.lines import check_last_line, join_columns
from isogloss.corpora.kinds.ner import NerSentence
from isogloss.languages.codes import canonical

TAG = re.compile(r"O|[BIES]-\S+")
PREFIX = re.compile(r"[a-z][a-z_-]{1,11}:")  # Wikipedia's language codes: "en:", "zh-classical:"
DOCUMENT = "-DOCSTART-"


@dataclass(frozen=True)
class NerLayout:
    """The columns of one format."""

    columns: tuple[str, ...]
    separator: str
    prefixed: bool = False

    @property
    def shape(self) -> str:
        word, *further_columns = self.columns
        mark = "<TAB>" if self.separator == "\t" else " "
        return mark.join([f"lang:{word}" if self.prefixed else word, *further_columns])


class Block(NamedTuple):
    """The lines of one sentence and the lines around it; `start` is the number of its first line."""

    start: int
    before: list[str]
    lines: list[str]
    empty_lines: int


def stream(path: Path, repairs: Repairs, layout: NerLayout) -> Iterator[NerSentence]:
    """Stream the sentences of a file. With repair, invalid sentences are skipped and recorded."""
    width, prefix, number = 0, "", 0
    for block in _blocks(read_lines(path, repairs)):
        number = block.start + len(block.lines) + block.empty_lines - 1
        rows = [tuple(line.split(layout.separator)) for line in block.lines]
        # the first sentence determines whether the file has tags, and the prefix
        width = width or (1 if rows and all(len(row) == 1 for row in rows) else len(layout.columns))
        if layout.prefixed and not prefix and (match := PREFIX.match(block.lines[0] if rows else "")):
            prefix = match[0]
        if fault := _fault(path, block, rows, width, layout, prefix):
            repairs.note(fault)
        else:
            if prefix:
                rows = [(row[0][len(prefix) :], *row[1:]) for row in rows]
            yield NerSentence(tuple(rows), prefix, tuple(block.before), block.empty_lines)
    check_last_line(path, number, repairs)


def unparse(sentences: Iterable[NerSentence], layout: NerLayout) -> Iterator[str]:
    empty_lines = None  # after the previous sentence
    for sentence in sentences:
        if empty_lines is not None:
            yield "\n" * max(empty_lines, 1)
        lines = [_line(row, sentence.prefix, layout) for row in sentence.rows]
        yield "\n".join([*sentence.before, *lines, ""])
        empty_lines = sentence.empty_lines
    yield "\n" * (empty_lines or 0)


def language(sentence: NerSentence) -> str:
    """The language that the prefix of PAN-X states."""
    return canonical(sentence.prefix.rstrip(":"))


def _blocks(lines: Iterable[str]) -> Iterator[Block]:
    start, before, sentence, empty = 1, [], [], 0  # type: int, list[str], list[str], int
    for number, line in enumerate(lines, 1):
        if not line and sentence:
            empty += 1
            continue
        if empty:
            yield Block(start, before, sentence, empty)
            before, sentence, empty = [], [], 0
        if not sentence and (not line or line.startswith(DOCUMENT)):
            before.append(line)
        else:
            start = start if sentence else number
            sentence.append(line)
    if sentence or any(before):
        yield Block(start if sentence else number, before, sentence, empty)


def _line(row: tuple[str, ...], prefix: str, layout: NerLayout) -> str:
    if len(row) not in (1, len(layout.columns)) or "" in row or bool(prefix) != layout.prefixed:
        raise UsageError(f"cannot be written as '{layout.shape}': {shown(f'{prefix}{row}')}")
    return prefix + join_columns(row, layout.separator)


def _fault(
    path: Path, block: Block, rows: list[tuple[str, ...]], width: int, layout: NerLayout, prefix: str
) -> InputError | None:
    """The first error of a sentence, or None."""
    if not rows:
        return InputError(path, f"a sentence after {DOCUMENT}", "the end of the file", line=block.start)
    for i, row in enumerate(rows):
        if len(row) != width:
            expected = layout.shape if width > 1 else "a word without tag (the first sentence has no tags)"
            got = f"{len(row)} columns in {shown(block.lines[i])}"
        elif width > 1 and not TAG.fullmatch(row[-1]):
            expected, got = "a tag such as O, B-PER, I-PER, E-PER or S-PER", shown(row[-1])
        elif layout.prefixed and not (prefix and row[0].startswith(prefix)):
            expected, got = f"a word with the prefix '{prefix or 'lang:'}'", shown(row[0])
        elif "" in row or row[0] == prefix:
            expected, got = f"a value in each column of '{layout.shape}'", shown(block.lines[i])
        else:
            continue
        return InputError(path, expected, got, line=block.start + i)
    return None


def recognise(suffix: str, head: Sequence[str], layout: NerLayout) -> bool:
    """Whether most lines have the columns and a tag; not all, so that one invalid line is reported when reading."""
    lines = [line for line in head if line and not line.startswith(DOCUMENT)]
    rows = [line.split(layout.separator) for line in lines]
    prefixes = {match and match[0] for match in map(PREFIX.match, lines)}
    if (len(prefixes) == 1 and None not in prefixes) != layout.prefixed:
        return False
    words_alone = suffix == ".tsv" and layout.separator == "\t" and not any(" " in x or "\t" in x for x in lines)
    fitting = sum(len(row) == len(layout.columns) and bool(TAG.fullmatch(row[-1])) for row in rows)
    return bool(rows) and (words_alone or 2 * fitting > len(rows))


def _format(name: str, layout: NerLayout, summary: str) -> Format[NerSentence]:
    functions = partial(stream, layout=layout), partial(unparse, layout=layout), partial(recognise, layout=layout)
    suffix, stated_language = ".tsv" if layout.separator == "\t" else ".txt", language if layout.prefixed else None
    return Format(name, "ner", f"{summary}: {layout.shape}", *functions, suffix, stated_language)


WORD_TAG = ("word", "tag")
PANX = _format("panx", NerLayout(WORD_TAG, "\t", prefixed=True), "NER of PAN-X (WikiANN) as originally published")
NER_TSV = _format("ner-tsv", NerLayout(WORD_TAG, "\t"), "NER in two columns, or words only")
NER_SPACE = _format("ner-space", NerLayout(WORD_TAG, " "), "NER in two columns, as in MasakhaNER")
CONLL2003 = _format("conll2003", NerLayout(("word", "pos", "chunk", "tag"), " "), "NER of CoNLL-2003")
