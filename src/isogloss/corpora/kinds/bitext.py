"""Word-aligned bitexts: sentence pairs as words with the links between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from isogloss.core.errors import UsageError
from isogloss.corpora.kinds.alignment import UNALIGNED_INDEX, Alignment
from isogloss.corpora.kinds.kind import CorpusKind, LabSelection

if TYPE_CHECKING:
    from isogloss.corpora.corpus import Corpus
    from isogloss.corpora.lab.laboratory import Laboratory


@dataclass(frozen=True, slots=True)
class AlignedPair:
    """The words of a sentence, the words of its translation, and the links between them."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    alignment: Alignment


def count(pairs: Sequence[AlignedPair]) -> dict[str, int]:
    words = sum(len(pair.source) for pair in pairs), sum(len(pair.target) for pair in pairs)
    links = sum(UNALIGNED_INDEX not in link for pair in pairs for link in pair.alignment.links)
    return {"sentence pairs": len(pairs), "source words": words[0], "target words": words[1], "links": links}


def from_laboratory(lab: Laboratory, part: LabSelection) -> Corpus[AlignedPair]:
    languages = part.lang.split(",")
    if len(languages) != 2:
        raise UsageError(f"bitext: expected two languages such as lab:qla,qlc/train/1000, got {part}")
    return lab.bitext(languages[0], languages[1], part.number, part.split)


BITEXT: CorpusKind[AlignedPair] = CorpusKind("bitext", count, is_language_pair=True, laboratory=from_laboratory)
