"""Natural language inference: two sentences and a label per line, in five formats.

- `xnli`: the official TSV of XNLI with a header, fifteen languages in one file (`lang=` selects one);
- `nli-tsv`: premise, hypothesis and label of XTREME; its test files have no label column;
- `nli-jsonl`: MultiNLI and SNLI, one JSON object per line (`sentence1`, `sentence2`, `gold_label`);
- `premise-jsonl`: IndoNLI and others, one JSON object per line (`premise`, `hypothesis`, `label`), whose labels are
  words, letters (e, n, c) or the numbers of the Hugging Face hub (0 entailment, 1 neutral, 2 contradiction, -1 none);
- `snli-numbered`: label number (1 neutral, 2 contradiction, 3 entailment), a second number, premise, hypothesis.

Pairs without a gold label (`-`, `hidden`, no label column) have `label=None` and are counted; tasks leave them out in
training and scoring. Each pair stores its line, so that writing restores the same bytes, apart from fields that were
changed.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from isogloss.core.errors import InputError, UsageError, shown
from isogloss.core.files import Repairs, read_lines
from isogloss.corpora.corpus import Format
from isogloss.corpora.formats.lines import check_last_line, join_columns
from isogloss.corpora.formats.strict_json import JsonError, is_text, parse_json
from isogloss.corpora.kinds.nli import LABELS, NliPair
from isogloss.languages.codes import canonical


@dataclass(frozen=True)
class NliLayout:
    """The fields and label values of one format."""

    premise: str
    hypothesis: str
    label: str
    labels: Mapping[str, str | None]
    columns: tuple[str, ...] = ()  # of TSV; empty for JSON objects
    optional_label: bool = False  # a JSON object may have no label, or null
    headed: bool = False  # the first line contains the column names, possibly more than `columns`


class LineError(ValueError):
    """What a line was expected to be, and what it is."""

    def __init__(self, expected: str, got: str):
        self.expected, self.got = expected, got


def stream(path: Path, repairs: Repairs, layout: NliLayout) -> Iterator[NliPair]:
    """Stream the pairs of a file. With repair, invalid lines are skipped and recorded."""
    columns, number = layout.columns, 0
    for number, line in enumerate(read_lines(path, repairs), 1):
        if number == 1 and layout.columns:
            columns = _columns(path, line, layout)
            if layout.headed:
                continue
        try:
            yield _parse(line, columns, layout)
        except LineError as error:
            repairs.note(InputError(path, error.expected, error.got, line=number))
    if layout.columns:  # truncated JSON is already an error
        check_last_line(path, number, repairs)


def unparse(pairs: Iterable[NliPair], layout: NliLayout) -> Iterator[str]:
    """Lines as read, apart from changed fields; new lines for pairs that were not read in this format."""
    header: tuple[str, ...] = ()
    for pair in pairs:
        if not pair.premise.strip() or not pair.hypothesis.strip():
            raise UsageError(f"a pair needs a premise and a hypothesis to be written, got {pair}")
        if layout.headed:  # the line of the pair is reused if it was read in this format
            same_format = set(layout.columns) <= set(pair.columns)
        else:
            same_format = bool(pair.line) and pair.columns in (layout.columns, layout.columns[:-1])
            same_format = same_format and layout.premise in _row(pair.line, pair.columns)  # two formats are JSON
        row_as_read = _row(pair.line, pair.columns) if same_format else {}
        row = row_as_read | {layout.premise: pair.premise, layout.hypothesis: pair.hypothesis}
        if not same_format or layout.label in row_as_read or pair.label:
            row[layout.label] = _written_label(pair, row_as_read.get(layout.label), layout)
        if not layout.columns:
            yield (pair.line if row == row_as_read else json.dumps(row)) + "\n"
            continue
        columns = pair.columns if row.keys() == row_as_read.keys() else layout.columns
        if layout.headed and not header:
            header = columns
            yield join_columns(header) + "\n"
        if missing := [name for name in header or columns if name not in row]:
            raise UsageError(f"this format needs the column '{missing[0]}', which the pair was not read with")
        yield join_columns([row[name] for name in header or columns]) + "\n"


def recognise(suffix: str, head: Sequence[str], layout: NliLayout) -> bool:
    """By the header, or by the columns of most lines."""
    if layout.headed:
        return set(layout.columns) <= set(head[0].split("\t"))
    if not layout.columns:
        names = (layout.premise, layout.hypothesis)
        return suffix in (".jsonl", ".json") and head[0][:1] == "{" and all(f'"{name}"' in head[0] for name in names)
    rows = [line.split("\t") for line in head]
    place = layout.columns.index(layout.label)
    fitting = sum(len(row) == len(layout.columns) and row[place] in layout.labels for row in rows)
    unlabelled = suffix == ".tsv" and place == 2 and all(len(row) == 2 for row in rows)
    return unlabelled or 2 * fitting > len(rows)


def language(pair: NliPair) -> str:
    """The language column of the official XNLI files."""
    return canonical(str(_row(pair.line, pair.columns)["language"]))


def _columns(path: Path, first: str, layout: NliLayout) -> tuple[str, ...]:
    """The columns of a file, from its first line."""
    names = tuple(first.split("\t"))
    if layout.headed:
        times = Counter(names)
        if not_once := [name for name in (*layout.columns, *names) if times[name] != 1]:
            raise InputError(path, f"a header with one column '{not_once[0]}'", shown(first), line=1)
        return names
    unlabelled = layout.columns[:-1]
    return unlabelled if layout.label not in unlabelled and len(names) == len(unlabelled) else layout.columns


def _row(line: str, columns: tuple[str, ...]) -> dict[str, Any]:
    """The values of a line by column or key."""
    if columns:
        values = line.split("\t")
        if len(values) != len(columns):
            shape = "<TAB>".join(columns) if len(columns) < 5 else f"the {len(columns)} columns of the header"
            shape += " (as on the first line)" if len(columns) == 2 else ""
            raise LineError(shape, f"{len(values)} columns in {shown(line)}")
        return dict(zip(columns, values, strict=True))
    try:
        row = parse_json(line)
    except JsonError as error:
        raise LineError("a JSON object", f"{error} in {shown(line)}") from None
    if not isinstance(row, dict):
        raise LineError("a JSON object", shown(line))
    return row


def _parse(line: str, columns: tuple[str, ...], layout: NliLayout) -> NliPair:
    row = _row(line, columns)
    for key in (layout.premise, layout.hypothesis, *(("language",) if layout.headed else ())):
        if not is_text(row.get(key)) or not row[key].strip():
            raise LineError(f"a text as the {key}", shown(line))
    label = None
    if layout.label in row or not columns:
        written = _label_text(row.get(layout.label), layout)
        if written not in layout.labels:
            raise LineError(f"one of the labels {', '.join(filter(None, layout.labels))}", shown(str(written)))
        label = layout.labels[written]
    return NliPair(row[layout.premise], row[layout.hypothesis], label, line=line, columns=columns)


def _label_text(written: object, layout: NliLayout) -> str:
    """The label of a row as text: numbers of JSON objects in digits, "" where the format allows no label."""
    if layout.optional_label and (written is None or type(written) is int):
        return "" if written is None else str(written)
    return written if isinstance(written, str) else repr(written)


def _written_label(pair: NliPair, before: str | int | None, layout: NliLayout) -> str | int | None:
    """The label as in the file if it is unchanged, otherwise a value of the format with this meaning.

    Of several values, one of the same kind as before is chosen: a word, a letter or a number.
    """
    text = _label_text(before, layout)
    if text in layout.labels and layout.labels[text] == pair.label:
        return before
    values = [written for written, meaning in layout.labels.items() if meaning == pair.label]
    if values:
        written = min(values, key=lambda value: _label_kind(value) != _label_kind(text))  # the first where none fits
        return int(written) if type(before) is int and _label_kind(written) == _label_kind(text) else written
    raise UsageError(f"this format cannot express the label {pair.label}; it has {', '.join(layout.labels)}")


def _label_kind(label: str) -> tuple[bool, bool]:
    return label.lstrip("-").isdecimal(), len(label) == 1


def _format(name: str, layout: NliLayout, summary: str) -> Format[NliPair]:
    functions = partial(stream, layout=layout), partial(unparse, layout=layout), partial(recognise, layout=layout)
    suffix, stated_language = ".tsv" if layout.columns else ".jsonl", language if layout.headed else None
    return Format(name, "nli", summary, *functions, suffix, stated_language)


LABELS_BY_WORD: Mapping[str, str | None] = {name: name for name in LABELS} | {
    "contradictory": "contradiction",
    "-": None,  # annotators disagree
    "hidden": None,  # test sets of MultiNLI
}
LABELS_BY_WORD_LETTER_OR_NUMBER: Mapping[str, str | None] = {
    **LABELS_BY_WORD,
    **{name[0]: name for name in LABELS},
    **{str(number): name for number, name in enumerate(LABELS)},
    "-1": None,
    "": None,
}
LABELS_BY_NUMBER: Mapping[str, str | None] = {"1": "neutral", "2": "contradiction", "3": "entailment"}
XNLI_COLUMNS = ("language", "gold_label", "sentence1", "sentence2")

XNLI = _format(
    "xnli",
    NliLayout("sentence1", "sentence2", "gold_label", LABELS_BY_WORD, XNLI_COLUMNS, headed=True),
    "official TSV of XNLI: a header, all languages in one file",
)
TSV = _format(
    "nli-tsv",
    NliLayout("premise", "hypothesis", "label", LABELS_BY_WORD, ("premise", "hypothesis", "label")),
    "inference pairs: premise<TAB>hypothesis<TAB>label, or without labels",
)
NUMBERED = _format(
    "snli-numbered",
    NliLayout("premise", "hypothesis", "label", LABELS_BY_NUMBER, ("label", "second label", "premise", "hypothesis")),
    "inference pairs: 1|2|3<TAB>number<TAB>premise<TAB>hypothesis",
)
JSONL = _format(
    "nli-jsonl",
    NliLayout("sentence1", "sentence2", "gold_label", LABELS_BY_WORD),
    "inference pairs of MultiNLI and SNLI: one JSON object per line",
)
PREMISE_JSONL = _format(
    "premise-jsonl",
    NliLayout("premise", "hypothesis", "label", LABELS_BY_WORD_LETTER_OR_NUMBER, optional_label=True),
    "inference pairs of IndoNLI and others: JSON lines with premise, hypothesis and label",
)
