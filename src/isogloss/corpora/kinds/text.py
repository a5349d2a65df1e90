"""Raw text: one sentence or paragraph per item."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from isogloss.corpora.kinds.kind import CorpusKind, HubConversion

if TYPE_CHECKING:
    from isogloss.corpora.corpus import Corpus
    from isogloss.corpora.hub import HubRows
    from isogloss.corpora.rewriting import Rewriting


class Line(str):
    """A line of text that also stores the empty lines after it."""

    __slots__ = ("after",)
    after: str

    def __new__(cls, text: str, after: str = "") -> Line:
        line = super().__new__(cls, text)
        line.after = after
        return line


def count(lines: Sequence[str]) -> dict[str, int]:
    empty = sum(line.after.count("\n") for line in lines if isinstance(line, Line))
    return {"lines": len(lines) + empty} | ({"empty lines": empty} if empty else {})


def rewrite(corpus: Corpus[str], change: Rewriting) -> Iterator[str]:
    for i, line in enumerate(corpus):
        text = change.text(line, str(i))
        yield Line(text, line.after) if isinstance(line, Line) else text


def hub_lines(rows: HubRows) -> Iterator[str]:
    """Documents of several lines give one item per line."""
    for text in rows.values("text", "sentence"):
        yield from (line for line in str(text).replace("\r\n", "\n").split("\n") if line.strip())


TEXT: CorpusKind[str] = CorpusKind(
    name="text",
    count=count,
    text=str,
    display=lambda line: {"text": line},
    rewrite=rewrite,
    hub=HubConversion(hub_lines, format="text"),
    laboratory=lambda lab, part: lab.text(part.lang, part.number),
)
