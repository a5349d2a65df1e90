"""Words and sentences of the laboratory with their annotation."""

from __future__ import annotations

from typing import NamedTuple

from isogloss.corpora.lab.lexicon import Form


class Word:
    """One syntactic word; `head` is another word, or None for the root."""

    __slots__ = ("deprel", "entity", "features", "form", "fused", "glued", "head", "key", "lemma", "upos")

    def __init__(self, form: Form, upos: str, deprel: str, key: str, head: Word | None = None):
        self.form, self.lemma, self.features = form
        self.upos, self.deprel, self.key, self.head = upos, deprel, key, head
        self.entity = ""  # type and address of the entity of the word: "PER s"
        self.glued = False  # no space before it
        self.fused = ""  # surface form of the multiword token of this word and the next


class Sentence(NamedTuple):
    """A meaning realised in one language."""

    code: str
    words: list[Word]

    @property
    def tokens(self) -> list[Word]:
        """Surface tokens; the first word of a fused pair represents both."""
        return [word for i, word in enumerate(self.words) if i == 0 or not self.words[i - 1].fused]

    @property
    def text(self) -> str:
        """The text of the sentence."""
        pieces: list[str] = []
        for word in self.tokens:
            if pieces and not word.glued:
                pieces.append(" ")
            pieces.append(word.fused or word.form)
        return "".join(pieces)
