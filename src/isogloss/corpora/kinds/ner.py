"""Named entity recognition: sentences of words with one tag each, converted to BIO from any scheme."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from isogloss.corpora.formats.lines import join_columns
from isogloss.corpora.kinds.kind import CorpusKind, HubConversion

if TYPE_CHECKING:
    from isogloss.corpora.corpus import Corpus
    from isogloss.corpora.hub import HubRows
    from isogloss.corpora.rewriting import Rewriting


@dataclass(frozen=True, slots=True)
class NerSentence:
    """One sentence: the columns of each line, the word first and the tag, if any, last.

    >>> sentence = NerSentence((("Marie", "I-PER"), ("Curie", "I-PER"), ("!", "O")))
    >>> sentence.words, sentence.tags
    (['Marie', 'Curie', '!'], ['B-PER', 'I-PER', 'O'])
    """

    rows: tuple[tuple[str, ...], ...]
    prefix: str = ""  # of every word in a PAN-X file: "en:"
    before: tuple[str, ...] = ()  # document headers, with their empty lines
    empty_lines: int = 1  # after the sentence; none at the end of a PAN-X file

    @property
    def words(self) -> list[str]:
        return [row[0] for row in self.rows]

    @property
    def written_tags(self) -> list[str] | None:
        """The tags in the scheme of the file."""
        return [row[-1] for row in self.rows] if len(self.rows[0]) > 1 else None

    @property
    def tags(self) -> list[str] | None:
        """The tags in BIO, or None if the file has no tags."""
        written = self.written_tags
        return None if written is None else to_bio(written)

    def with_words(self, words: Sequence[str]) -> NerSentence:
        return replace(self, rows=tuple((word, *row[1:]) for word, row in zip(words, self.rows, strict=True)))

    def with_tags(self, tags: Sequence[str]) -> NerSentence:
        """A copy with other tags; words without tags get a second column."""
        cut = 1 if self.written_tags is None else -1
        return replace(self, rows=tuple((*row[:cut], tag) for row, tag in zip(self.rows, tags, strict=True)))


def to_bio(tags: Iterable[str]) -> list[str]:
    """BIO from BIO, IOB1 or IOBES.

    >>> to_bio(["I-PER", "I-PER", "B-PER", "O", "S-LOC", "B-ORG", "E-ORG"])
    ['B-PER', 'I-PER', 'B-PER', 'O', 'B-LOC', 'B-ORG', 'I-ORG']
    """
    result, previous = [], "O"
    for tag in tags:
        begins = tag[0] in "BS" or previous[0] in "OES" or previous[2:] != tag[2:]
        result.append("O" if tag == "O" else f"{'B' if begins else 'I'}{tag[1:]}")
        previous = tag
    return result


def count(sentences: Sequence[NerSentence]) -> dict[str, int]:
    written = [s.written_tags or [] for s in sentences]
    begins = [w[0] for tags in written for w, bio in zip(tags, to_bio(tags), strict=True) if bio[0] == "B"]
    counts = {"sentences": len(sentences), "words": sum(len(s.rows) for s in sentences), "entities": len(begins)}
    irregular = {"entities begun by I- or E-": sum(letter in "IE" for letter in begins)}
    irregular["sentences without tags"] = sum(not tags for tags in written)
    return counts | {unit: n for unit, n in irregular.items() if n}


def rewrite(corpus: Corpus[NerSentence], change: Rewriting) -> Iterator[NerSentence]:
    return (sentence.with_words(change.words(sentence.words, str(i))) for i, sentence in enumerate(corpus))


def hub_lines(rows: HubRows) -> Iterator[str]:
    for words, tags in zip(rows.values("tokens", "words"), rows.values("ner_tags", "tags", "labels"), strict=True):
        yield from (join_columns((str(word), str(tag))) for word, tag in zip(words, tags, strict=True))
        yield ""


NER: CorpusKind[NerSentence] = CorpusKind(
    name="ner",
    count=count,
    text=lambda sentence: " ".join(sentence.words),
    display=lambda sentence: sentence.words,
    rewrite=rewrite,
    hub=HubConversion(hub_lines, format="ner-tsv"),
    laboratory=lambda lab, part: lab.ner(part.lang, part.split, part.number, part.domain),
    has_domains=True,
)
