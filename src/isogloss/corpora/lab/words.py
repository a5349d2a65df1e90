"""Words and sentences of the laboratory, with all that is known of each word."""

from __future__ import annotations

from typing import NamedTuple

from isogloss.corpora.lab.lexicon import Form


class Word:
    """One syntactic word; `head` is another word, or None for the root."""

    __slots__ = ("deprel", "entity", "features", "form", "fused", "glued", "head", "key", "lemma", "upos")

    def __init__(self, form: Form, upos: str, deprel: str, key: str, head: Word | None = None):
        self.form, self.lemma, self.features = form
        self.upos, self.deprel, self.key, self.head = upos, deprel, key, head
        self.entity = ""  # type and address of the entity the word belongs to: "PER s"
        self.glued = False  # no space before it
        self.fused = ""  # the surface of the multiword token made of this word and the next


class Sentence(NamedTuple):
    """A meaning in the words of one language."""

    code: str
    words: list[Word]

    @property
    def tokens(self) -> list[Word]:
        """Surface tokens: of a fused pair only the first word, which stands for both."""
        return [word for i, word in enumerate(self.words) if i == 0 or not self.words[i - 1].fused]

    @property
    def text(self) -> str:
        """The sentence as one writes it."""
        pieces: list[str] = []
        for word in self.tokens:
            if pieces and not word.glued:
                pieces.append(" ")
            pieces.append(word.fused or word.form)
        return "".join(pieces)
