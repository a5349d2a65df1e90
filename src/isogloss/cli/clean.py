"""`isogloss clean RAW --lang CODE --out FILE`: a crawl without what is not text of its language."""

from __future__ import annotations

import contextlib
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from isogloss.cli.arguments import files_by_language
from isogloss.cli.screen import out, print_note, show_table
from isogloss.core.errors import InputError, UsageError

MAX_TABLE_ROWS = 12  # reasons in the table; --dropped has them all
IDENTIFIED_BY = {
    "library": "the library knows this language",
    "sample": "learnt from the sample",
    "script": "by its script alone",
}


def clean(
    text: Annotated[
        list[Path], typer.Argument(metavar="RAW…", help="Files or folders of raw text, a sentence a line.")
    ],
    lang: Annotated[str, typer.Option(help="Language code of what is to be kept.")],
    output: Annotated[Path, typer.Option("--out", "-o", help="The lines that are kept.")],
    script: Annotated[
        str | None, typer.Option(help="ISO 15924 code, where it is not the language's usual one.")
    ] = None,
    sample: Annotated[
        Path | None, typer.Option(help="Text surely in the language; needed where the library does not know it.")
    ] = None,
    against: Annotated[
        list[str] | None, typer.Option(help="LANGUAGE=FILE of languages that it may be taken for (with --sample).")
    ] = None,
    shortest: Annotated[int, typer.Option(min=1, help="Characters of the shortest line.")] = 10,
    longest: Annotated[int, typer.Option(min=1, help="Characters of the longest line.")] = 2000,
    letters: Annotated[float, typer.Option(min=0, max=1, help="Least share of letters in a line.")] = 0.6,
    keep_repeats: Annotated[bool, typer.Option("--keep-repeats", help="Keep lines that were there before.")] = False,
    dropped: Annotated[Path | None, typer.Option(help="Write what is dropped here: reason<TAB>line.")] = None,
    repair: Annotated[bool, typer.Option("--repair", help="Mend damaged lines (encoding, carriage returns).")] = False,
) -> None:
    """Keep the lines that are text in one language, each once, and say what was dropped and why."""
    from isogloss.core.files import atomic_write
    from isogloss.corpora.formats.text import stream_files
    from isogloss.text.cleaning.cleaning import drop_reasons, line_filter

    if output.resolve() in {path.resolve() for path in text}:
        raise UsageError("--out must be another file than the input")
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
    with contextlib.ExitStack() as files:
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
    show_table(f"{total:,} lines", ("", "lines", ""), rows)
    out.print(f"language: {IDENTIFIED_BY[method]}")
    if method == "script":
        advice = "give --sample (and --against) to tell it from others in the same script"
        print_note(f"'{lang}' is unknown to the library: {advice}")
