"""`isogloss clean RAW --lang CODE --out FILE`: remove lines of a crawl that are not text in the language."""

from __future__ import annotations

import contextlib
from collections import Counter
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from isogloss.cli.arguments import files_by_language
from isogloss.cli.screen import library_warnings, out, print_note, show_table
from isogloss.core.errors import InputError, UsageError

MAX_TABLE_ROWS = 12  # reasons in the table; --dropped lists all
IDENTIFIED_BY = {
    "library": "language identified by the library",
    "sample": "language identified with the sample",
    "script": "language identified by its script only",
}


def clean(
    text: Annotated[list[Path], Argument(metavar="RAW…", help="Files or folders of raw text, one sentence per line.")],
    lang: Annotated[str, Option(help="Code of the language to keep.")],
    output: Annotated[Path, Option("--out", "-o", help="File for the lines that are kept.")],
    script: Annotated[str | None, Option(help="Script (ISO 15924 code), if not the usual one of the language.")] = None,
    sample: Annotated[
        Path | None, Option(help="Sample of text in the language; needed if the library cannot identify the language.")
    ] = None,
    against: Annotated[
        list[str] | None, Option(help="LANGUAGE=FILE …: text of languages it may be confused with (with --sample).")
    ] = None,
    shortest: Annotated[int, Option(min=1, help="Smallest number of characters of a line.")] = 10,
    longest: Annotated[int, Option(min=1, help="Largest number of characters of a line.")] = 2000,
    letters: Annotated[float, Option(min=0, max=1, help="Smallest share of letters in a line.")] = 0.6,
    keep_repeats: Annotated[bool, Option("--keep-repeats", help="Keep repeated lines.")] = False,
    dropped: Annotated[Path | None, Option(help="File for the dropped lines, as reason<TAB>line.")] = None,
    repair: Annotated[bool, Option("--repair", help="Repair damaged lines (encoding, carriage returns).")] = False,
) -> None:
    """Keep the lines that are text in one language, each once, and report which lines were dropped and why."""
    from isogloss.core.files import atomic_write
    from isogloss.corpora.formats.text import stream_files
    from isogloss.text.cleaning.cleaning import drop_reasons, line_filter

    if output.resolve() in {path.resolve() for path in text}:
        raise UsageError("--out: expected another file than the input, got the input itself")
    neighbours = {
        name: list(stream_files([path])) for name, path in files_by_language(against or [], "--against").items()
    }
    line_check = line_filter(
        lang,
        script=script,
        sample=None if sample is None else list(stream_files([sample])),
        neighbours=neighbours,
        shortest=shortest,
        longest=longest,
        letters=letters,
        repeats=keep_repeats,
    )
    counts: Counter[str] = Counter()
    with library_warnings(), contextlib.ExitStack() as files:
        kept_file = files.enter_context(atomic_write(output))
        dropped_file = files.enter_context(atomic_write(dropped)) if dropped else None
        for line, reason in drop_reasons(stream_files(text, repair), line_check):
            counts[reason or "kept"] += 1
            if reason is None:
                kept_file.write(f"{line}\n")
            elif dropped_file:
                dropped_file.write(f"{reason}\t{line}\n")
        if not counts["kept"]:
            raise InputError(text[0], f"lines in '{lang}'", f"none of {counts.total()}: {_most_common(counts)}")
    _show(counts, lang, line_check.language)


def _most_common(counts: Counter[str]) -> str:
    return ", ".join(f"{number} {reason}" for reason, number in counts.most_common(5) if number)


def _show(counts: Counter[str], lang: str, method: str) -> None:
    total = counts.total()
    most_common = counts.most_common(MAX_TABLE_ROWS)
    if remaining := total - sum(number for _, number in most_common):
        most_common.append((f"{len(counts) - MAX_TABLE_ROWS} more reasons", remaining))
    rows = [(reason, f"{number:,}", f"{number / total:.1%}") for reason, number in most_common]
    show_table(f"{counts['kept']:,} of {total:,} lines kept", ("", "lines", "share"), rows)
    out.print(IDENTIFIED_BY[method])
    if method == "script":
        advice = "give --sample (and --against) to distinguish it from others in the same script"
        print_note(f"the library cannot identify '{lang}': {advice}")
