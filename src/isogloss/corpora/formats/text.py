"""Raw text: one sentence or paragraph per line, in a file, several files or a folder.

Empty lines are not items. A `Line` stores the empty lines that follow it, so that writing restores the file, except
for empty lines before the first text and a missing newline at the end.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

from isogloss.core.errors import InputError, UsageError, shown
from isogloss.core.files import Repairs, bare_suffix, read_lines, repair_notes
from isogloss.corpora.corpus import Corpus, FilePath, Format
from isogloss.corpora.kinds.text import Line
from isogloss.languages.checks import check_language
from isogloss.languages.codes import is_language, language_of_path

TEXT_SUFFIXES = (".txt", ".text", ".raw")


def stream(path: Path, repairs: Repairs) -> Iterator[str]:
    """The lines of a file, or of every text file below a folder."""
    return chain.from_iterable(_lines(file, repairs) for file in text_files(path))


def _lines(path: Path, repairs: Repairs) -> Iterator[str]:
    text: str | None = None
    after: list[str] = []
    for line in read_lines(path, repairs):
        if not line.strip():
            after.append(line + "\n")
            continue
        if text is not None:
            yield Line(text, "".join(after))
        text, after = line, []
    if text is not None:
        yield Line(text, "".join(after))


def unparse(lines: Iterable[str]) -> Iterator[str]:
    for number, line in enumerate(lines):
        if number == 0 and line.startswith("\ufeff"):
            yield "\n"  # otherwise it would be read as a byte-order mark
        if not line.strip() or "\n" in line or "\r" in line or "\0" in line:
            raise UsageError(f"cannot be written as one line of text: {shown(line)}")
        yield f"{line}\n{line.after if isinstance(line, Line) else ''}"


def read_several(paths: Sequence[FilePath], *, lang: str | None, repair: bool) -> Corpus[str]:
    """All lines of files or folders in one language: `lang`, or the language that their names state."""
    lang = check_language(lang) if lang else None
    repairs = Repairs(repair)
    lines = tuple(line for path in paths for line in stream(Path(path), repairs))
    origin = ", ".join(os.fspath(path) for path in paths)
    if not lines:
        raise InputError(origin, "at least one line of text", "none")
    languages = {lang} if lang else {language_of_path(path) for path in paths}
    if len(languages) != 1:
        codes = ", ".join(sorted(languages))
        raise UsageError(f"text in several languages ({codes}): read each language separately, or give lang=")
    return Corpus(lines, languages.pop(), FORMAT, origin, tuple(repairs.made))


def stream_files(paths: Iterable[FilePath], repair: bool = False) -> Iterator[str]:
    """Stream the lines of files or folders, for text larger than memory; at the end, warnings report repairs."""
    repairs = Repairs(repair)
    for path in paths:
        for file in text_files(path):
            yield from filter(str.strip, read_lines(file, repairs))
    for note in repair_notes(repairs.made):
        warnings.warn(note, stacklevel=2)


def text_files(path: FilePath) -> list[Path]:
    """The file itself; or every text file below a folder (`.txt`, compressed or not), in order of name."""
    path = Path(path)
    if not path.is_dir():
        return [path]
    files = sorted(file for file in path.rglob("*") if file.is_file() and bare_suffix(file) in TEXT_SUFFIXES)
    if not files:
        raise InputError(path, f"text files ({', '.join(TEXT_SUFFIXES)}; .gz, .xz, .bz2 too) in the folder", "none")
    return files


def recognise(suffix: str, head: Sequence[str]) -> bool:
    """By the suffix of text files, or of one file of a Moses pair (`corpus.en-fr.en`)."""
    return suffix in TEXT_SUFFIXES or is_language(suffix[1:])


SUMMARY = "raw text: one sentence or paragraph per line"
FORMAT: Format[str] = Format("text", "text", SUMMARY, stream, unparse, recognise, ".txt")
