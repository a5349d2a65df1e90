"""Cleaning a crawl: lines that are too short or long, not text, in another script or language, or there already.

Every line that is dropped has one reason, the first that applies. The language is told by the library if it knows
it, by a sample if one is given, and by its script alone otherwise: `LineFilter.language` says how.
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
from isogloss.languages.codes import canonical
from isogloss.languages.facts import language
from isogloss.text.cleaning.character_model import SampleCheck, sample_check
from isogloss.text.cleaning.identification import identifiable, identify, script_share
from isogloss.text.cleaning.narabizi import is_narabizi

IN_SCRIPT = 0.7  # share of letters that must be of the language's script


@dataclass(frozen=True)
class LineFilter:
    """What a line must be to be kept.

    `letters` is the least share of letters (and their marks) among what is not space. `language`: how the language
    is told: by "library", "sample" or "script" alone.
    """

    lang: str
    scripts: frozenset[str]
    shortest: int = 10  # characters
    longest: int = 2000
    letters: float = 0.6
    check: SampleCheck | None = None
    repeats: bool = False  # keep lines that were there before

    @cached_property
    def language(self) -> str:
        if self.check:
            return "sample"
        return "library" if identifiable(self.lang) else "script"

    def reason(self, line: str) -> str | None:
        """Why a line is not kept, if it is not."""
        text = line.strip()
        if not self.shortest <= len(text) <= self.longest:
            return "too short" if len(text) < self.shortest else "too long"
        if letter_share(text) < self.letters:
            return "few letters"
        if script_share(text, self.scripts) < IN_SCRIPT:
            return "other script"
        other = self._other_language(text)
        return f"other language ({other})" if other else None

    def _other_language(self, text: str) -> str | None:
        if self.check:
            return self.check.other(text)
        if self.language == "script" or ("Arab" not in self.scripts and is_narabizi(text)):
            return None
        found = identify(text).lang
        return None if found == canonical(self.lang) else found


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
    """A filter for a language; `sample` is text surely in it, `neighbours` text of languages it may be taken for."""
    if neighbours and sample is None:
        raise UsageError("neighbours are told from the language by a sample of it: give sample= too")
    if not 1 <= shortest <= longest or not 0 <= letters <= 1:
        raise UsageError(f"expected 1 ≤ shortest ≤ longest and letters in [0, 1], got {shortest}, {longest}, {letters}")
    scripts = frozenset([script] if script else language(lang).scripts[:1])
    check = sample_check(sample, neighbours or {}) if sample is not None else None
    return LineFilter(canonical(lang), scripts, shortest, longest, letters, check, repeats)


@dataclass(frozen=True)
class Cleaned:
    """What was kept, and every dropped line with its reason."""

    kept: Corpus[str]
    dropped: tuple[tuple[str, str], ...]  # reason, line

    @property
    def counts(self) -> Counter[str]:
        return Counter(reason for reason, _ in self.dropped)


def clean(text: Corpus[str], chosen: LineFilter | None = None) -> Cleaned:
    """A corpus of raw text without the lines that a filter drops; without one, the filter of the corpus's language."""
    judged = list(judge(text, chosen or line_filter(text.lang)))
    kept = [line for line, reason in judged if reason is None]
    return Cleaned(text.with_items(kept), tuple((reason, line) for line, reason in judged if reason))


def judge(lines: Iterable[str], chosen: LineFilter) -> Iterator[tuple[str, str | None]]:
    """Each line with the reason to drop it, or None; one at a time, for text larger than memory."""
    seen: set[bytes] = set()
    for line in lines:
        reason = chosen.reason(line)
        if reason is None and not chosen.repeats:
            key = hash_bytes(_gist(line).encode(), 8)
            reason = "seen before" if key in seen else None
            seen.add(key)
        yield line, reason


def _gist(line: str) -> str:
    """What makes two lines the same: all but case, spacing and numbers."""
    return re.sub(r"\d+", "0", " ".join(line.casefold().split()))


def letter_share(text: str) -> float:
    """
    >>> letter_share("ab 12"), letter_share("...")
    (0.5, 0.0)
    """
    visible = [unicodedata.category(char)[0] for char in text if not char.isspace()]
    return sum(kind in "LM" for kind in visible) / max(1, len(visible))
