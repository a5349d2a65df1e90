"""Natural-language inference: two sentences and a label on each line, in four forms.

- `xnli`: XNLI's official TSV with a header, fifteen languages in one file (`lang=` chooses one);
- `nli-tsv`: XTREME's premise, hypothesis and label; its test files have no label column;
- `nli-jsonl`: MultiNLI and SNLI, one JSON object a line;
- `snli-numbered`: label number (1 neutral, 2 contradiction, 3 entailment), another, premise, hypothesis.

Pairs without a gold label (`-`, `hidden`, no label column) are kept with `label=None` and counted: the
official data leave them out of training and scoring, which is for the task to do. Each pair keeps its line,
so that writing gives back the same bytes; what was changed in a pair is changed in its line, and only that.
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
class Form:
    """Where one format keeps the parts of a pair, and how it writes the labels."""

    premise: str
    hypothesis: str
    label: str
    labels: Mapping[str, str | None]
    columns: tuple[str, ...] = ()  # of a TSV; a JSON object has none
    headed: bool = False  # the first line names the columns, and may name more than `columns`


class LineError(ValueError):
    """What a line should have been, and what it is."""

    def __init__(self, expected: str, got: str):
        self.expected, self.got = expected, got


def stream(path: Path, repairs: Repairs, form: Form) -> Iterator[NliPair]:
    """Pairs of a file, one at a time. With repair allowed, a faulty line is left out and noted."""
    columns, number = form.columns, 0
    for number, line in enumerate(read_lines(path, repairs), 1):
        if number == 1 and form.columns:
            columns = _columns(path, line, form)
            if form.headed:
                continue
        try:
            pair = _parse(line, columns, form)
        except LineError as wrong:
            repairs.note(InputError(path, wrong.expected, wrong.got, line=number))
        else:
            yield pair
    if form.columns:  # a JSON object that is cut has been noticed
        check_last_line(path, number, repairs)


def unparse(pairs: Iterable[NliPair], form: Form) -> Iterator[str]:
    """Lines as they were read, except for what was changed; made anew for pairs that were not read so."""
    header: tuple[str, ...] = ()
    for pair in pairs:
        if not pair.premise.strip() or not pair.hypothesis.strip():
            raise UsageError(f"a pair needs a premise and a hypothesis to be written, got {pair}")
        own = _reads(form, pair)
        old = _row(pair.line, pair.columns) if own else {}
        new = old | {form.premise: pair.premise, form.hypothesis: pair.hypothesis}
        if not own or form.label in old or pair.label:
            new[form.label] = _written_label(pair, old.get(form.label), form)
        if not form.columns:
            yield (pair.line if new == old else json.dumps(new)) + "\n"
            continue
        columns = pair.columns if new.keys() == old.keys() else form.columns
        if form.headed and not header:
            header = columns
            yield join_columns(header) + "\n"
        yield _join(new, header or columns) + "\n"


def recognise(suffix: str, head: Sequence[str], form: Form) -> bool:
    """By the header, or by what most lines look like."""
    if form.headed:
        return set(form.columns) <= set(head[0].split("\t"))
    if not form.columns:
        return suffix == ".jsonl" and f'"{form.premise}"' in head[0] and f'"{form.hypothesis}"' in head[0]
    rows = [line.split("\t") for line in head]
    place = form.columns.index(form.label)
    fitting = sum(len(row) == len(form.columns) and row[place] in form.labels for row in rows)
    unlabelled = suffix == ".tsv" and place == 2 and all(len(row) == 2 for row in rows)
    return unlabelled or 2 * fitting > len(rows)


def language(pair: NliPair) -> str:
    """What XNLI's official files say in their first column."""
    return canonical(str(_row(pair.line, pair.columns)["language"]))


def _reads(form: Form, pair: NliPair) -> bool:
    """Whether the pair was read in this form, so that its line can be written again."""
    if form.headed:
        return set(form.columns) <= set(pair.columns)
    return bool(pair.line) and pair.columns in (form.columns, form.columns[:-1])


def _columns(path: Path, first: str, form: Form) -> tuple[str, ...]:
    """The columns of a file, from its first line."""
    names = tuple(first.split("\t"))
    if form.headed:
        times = Counter(names)
        if wrong := [name for name in (*form.columns, *names) if times[name] != 1]:
            raise InputError(path, f"a header with one column '{wrong[0]}'", shown(first), line=1)
        return names
    unlabelled = form.columns[:-1]
    return unlabelled if form.label not in unlabelled and len(names) == len(unlabelled) else form.columns


def _row(line: str, columns: tuple[str, ...]) -> dict[str, Any]:
    """What a line says, by column or key."""
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


def _parse(line: str, columns: tuple[str, ...], form: Form) -> NliPair:
    row = _row(line, columns)
    for key in (form.premise, form.hypothesis, *(("language",) if form.headed else ())):
        if not is_text(row.get(key)) or not row[key].strip():
            raise LineError(f"a text as the {key}", shown(line))
    label = None
    if form.label in row or not columns:
        written = row.get(form.label)
        if not isinstance(written, str) or written not in form.labels:
            raise LineError(f"one of the labels {', '.join(form.labels)}", shown(str(written)))
        label = form.labels[written]
    return NliPair(row[form.premise], row[form.hypothesis], label, line=line, columns=columns)


def _written_label(pair: NliPair, before: str | None, form: Form) -> str:
    """The label as the file wrote it if it still means the same, otherwise the form's first word for it."""
    if before is not None and form.labels[before] == pair.label:
        return before
    for written, meaning in form.labels.items():
        if meaning == pair.label:
            return written
    raise UsageError(f"this format has no way to write the label {pair.label}; it has {', '.join(form.labels)}")


def _join(row: dict[str, Any], columns: tuple[str, ...]) -> str:
    if missing := [name for name in columns if name not in row]:
        raise UsageError(f"this format needs the column '{missing[0]}', which the pair was not read with")
    return join_columns([row[name] for name in columns])


def _format(name: str, form: Form, summary: str) -> Format[NliPair]:
    return Format(
        name=name,
        kind="nli",
        summary=summary,
        stream=partial(stream, form=form),
        unparse=partial(unparse, form=form),
        recognise=partial(recognise, form=form),
        suffix=".tsv" if form.columns else ".jsonl",
        language=language if form.headed else None,
    )


WORDS: Mapping[str, str | None] = {name: name for name in LABELS} | {
    "contradictory": "contradiction",
    "-": None,  # the annotators did not agree
    "hidden": None,  # MultiNLI's test sets
}
NUMBERS: Mapping[str, str | None] = {"1": "neutral", "2": "contradiction", "3": "entailment"}
OFFICIAL = ("language", "gold_label", "sentence1", "sentence2")

XNLI = _format(
    "xnli",
    Form("sentence1", "sentence2", "gold_label", WORDS, OFFICIAL, headed=True),
    "XNLI's official TSV: a header, all languages in one file",
)
TSV = _format(
    "nli-tsv",
    Form("premise", "hypothesis", "label", WORDS, ("premise", "hypothesis", "label")),
    "inference pairs: premise<TAB>hypothesis<TAB>label, or without any label",
)
NUMBERED = _format(
    "snli-numbered",
    Form("premise", "hypothesis", "label", NUMBERS, ("label", "second label", "premise", "hypothesis")),
    "inference pairs: 1|2|3<TAB>number<TAB>premise<TAB>hypothesis",
)
JSONL = _format(
    "nli-jsonl",
    Form("sentence1", "sentence2", "gold_label", WORDS),
    "inference pairs of MultiNLI and SNLI: one JSON object a line",
)
