"""Treebanks: sentences with the ten columns of CoNLL-U, and the values that tasks derive from them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from isogloss.corpora.formats.lines import join_columns
from isogloss.corpora.kinds.kind import CorpusKind, HubConversion

if TYPE_CHECKING:
    from isogloss.corpora.corpus import Corpus
    from isogloss.corpora.hub import HubRows
    from isogloss.corpora.rewriting import Rewriting

MULTIWORD = re.compile(r"([1-9][0-9]*)-([1-9][0-9]*)")


class Row(NamedTuple):
    """One line of a sentence, as in the file."""

    id: str
    form: str
    lemma: str
    upos: str
    xpos: str
    feats: str
    head: str
    deprel: str
    deps: str
    misc: str


@dataclass(frozen=True, slots=True)
class Tree:
    """One sentence: comment lines and rows in the order of the file."""

    comments: tuple[str, ...]
    rows: tuple[Row, ...]

    @property
    def nodes(self) -> list[Row]:
        """The syntactic words: rows that are neither multiword tokens nor empty nodes."""
        return [row for row in self.rows if row.id.isdecimal()]

    @property
    def words(self) -> list[str]:
        return [row.form for row in self.nodes]

    @property
    def upos(self) -> list[str]:
        return [row.upos for row in self.nodes]

    @property
    def heads(self) -> list[int]:
        """Head of each word, 1-based, 0 for the root."""
        return [int(row.head) for row in self.nodes]

    @property
    def deprels(self) -> list[str]:
        return [row.deprel for row in self.nodes]

    @property
    def sent_id(self) -> str | None:
        return self.comment("sent_id")

    @property
    def text(self) -> str:
        """The `# text` comment, or the surface tokens spaced by `SpaceAfter`."""
        stated = self.comment("text")
        return stated if stated is not None else surface_text(self.rows)

    def comment(self, key: str) -> str | None:
        """The value of `# key = value`."""
        values = (line.partition("=")[2].strip() for line in self.comments if _states(line, key))
        return next(values, None)

    def with_rows(self, rows: tuple[Row, ...]) -> Tree:
        """A copy with other rows; its `# text` comment, if any, is the text of the new rows."""
        if rows == self.rows:
            return self
        comments = [f"# text = {surface_text(rows)}" if _states(line, "text") else line for line in self.comments]
        return Tree(tuple(comments), rows)

    def with_nodes(self, **columns: Sequence[str]) -> Tree:
        """A copy whose words have new values: `tree.with_nodes(upos=["DET", "NOUN"])`."""
        values = iter([dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)])
        rows = tuple(row._replace(**next(values)) if row.id.isdecimal() else row for row in self.rows)
        return replace(self, rows=rows)


def surface_text(rows: Iterable[Row]) -> str:
    """The text of a sentence: its surface tokens, spaced according to MISC."""
    return "".join(row.form + (" " if has_space(row.misc) else "") for row in surface_rows(rows)).strip()


def surface_rows(rows: Iterable[Row]) -> Iterator[Row]:
    """The rows of the text: multiword tokens in place of their words, without empty nodes."""
    covered = 0
    for row in rows:
        if match := MULTIWORD.fullmatch(row.id):
            covered = int(match[2])
            yield row
        elif row.id.isdecimal() and int(row.id) > covered:
            yield row


def has_space(misc: str) -> bool:
    """Whether a space follows, according to the MISC column."""
    return "SpaceAfter=No" not in misc.split("|")


def with_space(misc: str, space: bool) -> str:
    """The MISC column with or without `SpaceAfter=No`.

    >>> with_space("SpaceAfter=No", True), with_space("Gloss=x", False)
    ('_', 'Gloss=x|SpaceAfter=No')
    """
    other_values = [value for value in misc.split("|") if value not in ("_", "SpaceAfter=No")]
    return "|".join(other_values if space else [*other_values, "SpaceAfter=No"]) or "_"


def _states(comment: str, key: str) -> bool:
    name, mark, _ = comment[1:].partition("=")
    return bool(mark) and name.strip() == key


def count(trees: Sequence[Tree]) -> dict[str, int]:
    ids = [row.id for tree in trees for row in tree.rows]
    multiword, empty = sum("-" in i for i in ids), sum("." in i for i in ids)
    counts = {"sentences": len(trees), "words": len(ids) - multiword - empty}
    return counts | {k: v for k, v in (("multiword tokens", multiword), ("empty nodes", empty)) if v}


def rewrite(corpus: Corpus[Tree], change: Rewriting) -> Iterator[Tree]:
    return (tree.with_rows(change.rows(tree.rows, str(i))) for i, tree in enumerate(corpus))


def hub_lines(rows: HubRows) -> Iterator[str]:
    """Lines from the columns of `universal_dependencies`; only the words are required."""
    names = [("form", "tokens"), ("lemma", "lemmas"), ("upos",), ("xpos",), ("feats",), ("head",), ("deprel",)]
    columns = [rows.values(*name, optional=name[0] != "form") for name in [*names, ("deps",), ("misc",)]]
    ids, texts = rows.values("idx", "sent_id", optional=True), rows.values("text", optional=True)
    for id, text, *fields in zip(ids, texts, *columns, strict=True):
        stated = [(key, value) for key, value in (("sent_id", id), ("text", text)) if value is not None]
        yield from (join_columns([f"# {key} = {value}"]) for key, value in stated)
        padded = [field if field is not None else [None] * len(fields[0]) for field in fields]
        for number, word in enumerate(zip(*padded, strict=True), 1):
            values = ("_" if value in (None, "", "None") else str(value) for value in word)
            yield join_columns((str(number), *values))
        yield ""


TREEBANK: CorpusKind[Tree] = CorpusKind(
    name="treebank",
    count=count,
    text=lambda tree: tree.text,
    display=lambda tree: tree.words,
    rewrite=rewrite,
    hub=HubConversion(hub_lines, format="conllu"),
    laboratory=lambda lab, part: lab.treebank(part.lang, part.split, part.number, part.domain),
    has_domains=True,
)
