"""Bilingual lexicons: TSV with one `source<TAB>target` per line; one line for each translation of a word."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from isogloss.core.errors import InputError, shown
from isogloss.core.files import Repairs, read_lines
from isogloss.corpora.corpus import Format
from isogloss.corpora.formats.lines import check_last_line, join_columns
from isogloss.corpora.kinds.lexicon import Entry
from isogloss.languages.scripts import letter_script

MAX_ENTRY_WORDS = 8  # of both sides together, in more than half of the lines
# average length of a word in scripts that are written without spaces
CHARACTERS_PER_WORD = {
    **dict.fromkeys(("Hani", "Hira", "Kana", "Bopo"), 2),
    **dict.fromkeys(("Thai", "Laoo", "Khmr", "Mymr", "Tibt"), 4),
}


def stream(path: Path, repairs: Repairs) -> Iterator[Entry]:
    """Stream the entries of a file. With repair, invalid lines are skipped and recorded."""
    number = 0
    for number, line in enumerate(read_lines(path, repairs), 1):
        fields = line.split("\t")
        if len(fields) == 2 and all(field.strip() for field in fields):
            yield Entry(*fields)
        else:
            repairs.note(InputError(path, "source<TAB>target", shown(line), line=number))
    check_last_line(path, number, repairs)


def unparse(entries: Iterable[Entry]) -> Iterator[str]:
    return (join_columns(entry) + "\n" for entry in entries)


def recognise(suffix: str, head: Sequence[str]) -> bool:
    """Whether there are two columns of words or short phrases; two columns of sentences are NLI without labels."""
    short = sum(estimated_words(line) <= MAX_ENTRY_WORDS for line in head) > len(head) / 2
    return suffix == ".tsv" and short and all(line.count("\t") == 1 and line.strip() == line for line in head)


def estimated_words(text: str) -> float:
    """The number of words: between spaces, and by length within scripts that are written without spaces.

    >>> estimated_words("to go home"), estimated_words("嗯，我根本没想过"), estimated_words("บ้าน")
    (3.0, 3.5, 1.0)
    """
    return sum(max(1.0, _unspaced_words(part)) for part in text.split())


def _unspaced_words(text: str) -> float:
    return sum(1 / size for char in text if (size := CHARACTERS_PER_WORD.get(letter_script(char) or "")))


SUMMARY = "bilingual lexicon: source<TAB>target, one translation per line"
FORMAT: Format[Entry] = Format("lexicon", "lexicon", SUMMARY, stream, unparse, recognise, ".tsv")
