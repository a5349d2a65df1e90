"""Cleaning of crawled text: drops lines of wrong length, script or language, lines without text, repetitions.

A dropped line has one reason, the first that applies. The language is identified with a sample if one is given,
otherwise with the library if it supports the language, otherwise by script only (`LineFilter.language`).
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from isogloss.core.errors import UsageError
from isogloss.core.hashing import hash_bytes
from isogloss.corpora.corpus import Corpus
from isogloss.languages.checks import check_language
from isogloss.languages.codes import canonical
from isogloss.languages.facts import language
from isogloss.text.cleaning.character_model import SampleCheck, sample_check
from isogloss.text.cleaning.identification import identifiable, identify, script_share
from isogloss.text.cleaning.narabizi import is_narabizi

MIN_SCRIPT_SHARE = 0.7  # of letters in the script of the language


@dataclass(frozen=True)
class LineFilter:
    """The conditions that a line must meet.

    `letters`: minimum share of letters and combining marks among all characters other than spaces. `language`: how
    the language is identified: "library", "sample" or "script".
    """

    lang: str
    scripts: frozenset[str]
    shortest: int = 10  # characters
    longest: int = 2000
    letters: float = 0.6
    check: SampleCheck | None = None
    repeats: bool = False  # keep repeated lines

    @cached_property
    def language(self) -> str:
        if self.check:
            return "sample"
        return "library" if identifiable(self.lang) else "script"

    def reason(self, line: str) -> str | None:
        """The reason to drop a line, or None."""
        text = line.strip()
        if not self.shortest <= len(text) <= self.longest:
            return "too short" if len(text) < self.shortest else "too long"
        if letter_share(text) < self.letters:
            return "few letters"
        if script_share(text, self.scripts) < MIN_SCRIPT_SHARE:
            return "other script"
        other_language = self._other_language(text)
        return f"other language ({other_language})" if other_language else None

    def _other_language(self, text: str) -> str | None:
        if self.check:
            return self.check.other_language(text)
        if self.language == "script" or ("Arab" not in self.scripts and is_narabizi(text)):
            return None
        identified = identify(text).lang
        return None if identified == canonical(self.lang) else identified


def line_filter(
    lang: str,
    *,
    script: str | None = None,
    sample: Sequence[str] | None = None,
    neighbours: Mapping[str, Sequence[str]] | None = None,
    shortest: int = 10,
    longest: int = 2000,
    letters: float = 0.6,
    repeats: bool = False,
) -> LineFilter:
    """A filter for a language.

    `script`: by default the usual script of the language. `sample`: text that is certainly in the language.
    `neighbours`: text of languages that are easily confused with it. `shortest`, `longest`: line length in characters.
    `letters`: minimum share of letters. `repeats`: keep repeated lines.
    """
    if neighbours and sample is None:
        raise UsageError("neighbours= needs a sample of the language itself: give sample= too")
    if not 1 <= shortest <= longest or not 0 <= letters <= 1:
        raise UsageError(f"expected 1 ≤ shortest ≤ longest and letters in [0, 1], got {shortest}, {longest}, {letters}")
    lang = check_language(lang)
    scripts = frozenset([script] if script else language(lang).scripts[:1])
    check = sample_check(sample, neighbours or {}) if sample is not None else None
    return LineFilter(lang, scripts, shortest, longest, letters, check, repeats)


@dataclass(frozen=True)
class CleaningResult:
    """The remaining corpus, and every dropped line with its reason."""

    corpus: Corpus[str]
    dropped: tuple[tuple[str, str], ...]  # reason, line

    @property
    def counts(self) -> Counter[str]:
        return Counter(reason for reason, _ in self.dropped)


def clean(text: Corpus[str], line_check: LineFilter | None = None) -> CleaningResult:
    """Raw text without the lines that a filter drops; by default the filter of the language of the corpus."""
    classified = list(drop_reasons(text, line_check or line_filter(text.lang)))
    kept_lines = [line for line, reason in classified if reason is None]
    return CleaningResult(text.with_items(kept_lines), tuple((reason, line) for line, reason in classified if reason))


def drop_reasons(lines: Iterable[str], line_check: LineFilter) -> Iterator[tuple[str, str | None]]:
    """Stream lines with the reason to drop them, or None; for text larger than memory."""
    hashes: set[bytes] = set()
    for line in lines:
        reason = line_check.reason(line)
        if reason is None and not line_check.repeats:
            normalised = re.sub(r"\d+", "0", " ".join(line.casefold().split()))  # ignores case, spacing and numbers
            key = hash_bytes(normalised.encode(), 8)
            reason = "seen before" if key in hashes else None
            hashes.add(key)
        yield line, reason


def letter_share(text: str) -> float:
    """
    >>> letter_share("ab 12"), letter_share("...")
    (0.5, 0.0)
    """
    visible = [unicodedata.category(char)[0] for char in text if not char.isspace()]
    return sum(kind in "LM" for kind in visible) / max(1, len(visible))
