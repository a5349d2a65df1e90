"""Word alignments in the Pharaoh format: one line per sentence pair, `source-target` for each link.

    0-0 1-2 3?4 5p6

A hyphen marks a sure link; `?` and `p` mark a possible link. Word numbers in files start at 0 or at 1 (detected by
`detect_base`); in memory they always start at 0. An empty line is a sentence pair without links. Files are written back
byte for byte.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from isogloss.core.errors import InputError, UsageError, shown
from isogloss.core.files import Repairs, read_lines
from isogloss.corpora.corpus import Format
from isogloss.corpora.formats.lines import check_last_line
from isogloss.corpora.kinds.alignment import UNALIGNED_INDEX, Alignment, Link

LINK = re.compile(r"(0|[1-9][0-9]{0,8})([-?p])(0|[1-9][0-9]{0,8})")


def parse(line: str, base: int) -> Alignment | str:
    """The links of a line, or the first string of the line that is not a link.

    >>> parse("1-1 2?3", base=1)
    Alignment(links=(Link(source=0, target=0, mark='-'), Link(source=1, target=2, mark='?')))
    """
    links = []
    for word in line.split():
        match = LINK.fullmatch(word)
        if match is None or min(int(match[1]), int(match[3])) < base:
            return word
        links.append(Link(int(match[1]) - base, int(match[3]) - base, match[2]))
    return Alignment(tuple(links))


def pharaoh(base: int = 0) -> Format[Alignment]:
    """The Pharaoh format with words numbered from `base`."""
    if base not in (0, 1):
        raise UsageError(f"word numbers start at 0 or 1, not at {base}")

    def stream(path: Path, repairs: Repairs) -> Iterator[Alignment]:
        """With repair, extra spaces are ignored, and a line with an invalid link becomes a pair without links."""
        number = 0
        for number, line in enumerate(read_lines(path, repairs), 1):
            alignment = parse(line, base)
            if isinstance(alignment, str):
                expected = f"links such as {base}-{base + 1}, words counted from {base}"
                repairs.note(InputError(path, expected, shown(alignment), line=number))
                alignment = Alignment()
            elif " ".join(line.split()) != line:
                repairs.note(InputError(path, "links separated by single spaces", shown(line), line=number))
            yield alignment
        check_last_line(path, number, repairs)

    def unparse(alignments: Iterable[Alignment]) -> Iterator[str]:
        for alignment in alignments:
            links = [link for link in alignment.links if UNALIGNED_INDEX not in link]
            yield " ".join(f"{s + base}{mark}{t + base}" for s, t, mark in links) + "\n"

    def recognise(suffix: str, head: Sequence[str]) -> bool:
        """Whether all words are links, of which one has the number 0 if words are counted from 0."""
        matches = [LINK.fullmatch(word) for line in head for word in line.split()]
        numbers = [number for match in matches if match for number in (match[1], match[3])]
        return bool(matches) and None not in matches and ("0" in numbers) == (base == 0)

    summary = f"Pharaoh word alignments, {base}-{base + 1} 2?3, words counted from {base}"
    return Format("pharaoh-1" if base else "pharaoh", "alignment", summary, stream, unparse, recognise, ".align")


def detect_base(path: Path, lengths: Sequence[tuple[int, int]] | None = None, repairs: Repairs | None = None) -> int:
    """Whether a file numbers words from 0 or from 1.

    A 0 means 0, no 0 in the whole file means 1. With the lengths of the sentence pairs, 1 needs a number equal to the
    length of its sentence; neither or both is an error. With repair, of both the more frequent one decides.
    """
    zero = full = links = 0
    for number, line in enumerate(read_lines(path, repairs)):
        alignment = parse(line, 0)
        pairs = [] if isinstance(alignment, str) else [link[:2] for link in alignment.links]
        links += len(pairs)
        zero += any(0 in pair for pair in pairs)
        if lengths is not None and number < len(lengths):
            full += any(s == lengths[number][0] or t == lengths[number][1] for s, t in pairs)
    if not links or lengths is None:
        return int(links > 0 and not zero)
    if not (zero or full) or (zero and full and not (repairs and repairs.allowed)):
        counts = f"{zero} lines with a 0 and {full} lines with a number equal to the length of the sentence"
        advice = "give the number of the first word: base= (--base, --gold-base)"
        raise InputError(path, "words counted from 0 or from 1", counts, advice=advice)
    return int(full > zero)


def links_within(
    alignment: Alignment,
    source: int,
    target: int,
    repairs: Repairs,
    path: Path,
    line: int | None,
    *,
    base: int = 0,
    where: str = "",
) -> Alignment:
    """The alignment, checked against the lengths of its sentences; with repair, links outside them are dropped.

    `base`: the number of the first word in the file, for the error message.
    """
    links = tuple(link for link in alignment.links if link.source < source and link.target < target)
    if dropped := len(alignment.links) - len(links):
        s, t, _ = next(link for link in alignment.links if link not in links)
        others = f" and {dropped - 1} more" if dropped > 1 else ""
        got = f"one from word {s + base} to word {t + base}{others}, words counted from {base}{where}"
        advice = "repair=True (--repair) drops such links"
        repairs.note(InputError(path, f"links within {source} and {target} words", got, line=line, advice=advice))
    return Alignment(links)


FROM_ZERO, FROM_ONE = pharaoh(0), pharaoh(1)
