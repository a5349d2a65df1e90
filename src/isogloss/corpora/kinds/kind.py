"""`CorpusKind`: everything that depends on the kind of a corpus (treebank, NER, NLI …), in one declaration per kind.

Other modules ask `corpus.kind`, or `KINDS[name]`, and never compare names of kinds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from isogloss.corpora.corpus import Corpus
    from isogloss.corpora.hub import HubRows
    from isogloss.corpora.lab.laboratory import Laboratory
    from isogloss.corpora.rewriting import Rewriting

T = TypeVar("T")
ItemTexts = list[str] | dict[str, str]  # the words of an item, or its texts by name


@dataclass(frozen=True)
class LabSelection:
    """The first `number` items of one split of the laboratory; `lang` is two codes ("qla,qlc") for a language pair."""

    lang: str
    split: str
    number: int
    domain: str = ""

    def __str__(self) -> str:
        return f"lab:{self.lang}/{self.split}/{self.number}" + (f"/{self.domain}" if self.domain else "")


@dataclass(frozen=True)
class HubConversion:
    """How rows of a Hugging Face dataset become lines of a file in one of our formats, which is then read."""

    lines: Callable[[HubRows], Iterator[str]]
    format: str


@dataclass(frozen=True)
class Mixture(Generic[T]):
    """How two parallel corpora become one whose items are in both languages."""

    join: Callable[[Corpus[T], Corpus[T]], Corpus[T]]
    first_in_target_language: bool = False  # the first corpus is read in the language that a target's name states


@dataclass(frozen=True)
class CorpusKind(Generic[T]):
    """One kind of corpus. A field that is None says that the operation does not exist for this kind."""

    name: str
    count: Callable[[Sequence[T]], Mapping[str, int]]  # what `isogloss validate` shows
    text: Callable[[T], str] | None = None  # an item as running text of one language
    display: Callable[[T], ItemTexts] = lambda item: {}  # what a report shows of an item
    is_language_pair: bool = False  # the language of a corpus is a pair such as en>fr
    after_reading: Callable[[Corpus[T]], Corpus[T]] = lambda corpus: corpus  # completes items with corpus-level facts
    language_in_name: re.Pattern[str] | None = None  # file names that state the language, whatever a study calls it
    rewrite: Callable[[Corpus[T], Rewriting], Iterable[T]] | None = None  # the items after a text change
    hub: HubConversion | None = None
    laboratory: Callable[[Laboratory, LabSelection], Corpus[T]] | None = None  # generates artificial items
    has_domains: bool = False  # the laboratory generates it in several domains
    mixture: Mixture[T] | None = None
