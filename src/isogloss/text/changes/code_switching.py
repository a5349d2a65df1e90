"""Dictionary-based code-switching: words of labelled data replaced by their translations, labels kept.

As in CoSDA-ML (Qin et al. 2020): each word that the lexicon knows is replaced with a given probability by one of its
translations; with a ratio of 1 this is word-by-word translation. Only words that are one word on both sides take
part, so that every tag still has its word. In a treebank a word that the lexicon does not know is looked up by its
lemma; a replaced word has no lemma any more, and a multiword token of which a part was replaced is dissolved into
its words. Features and tags are the source word's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from isogloss.core.errors import UsageError
from isogloss.core.seeds import Chance
from isogloss.corpora.corpus import AnyCorpus, Corpus
from isogloss.corpora.kinds.lexicon import Entry, translations
from isogloss.corpora.kinds.treebank import MULTIWORD, Row, with_space
from isogloss.corpora.pieces import Piece, new_text, substitution_pieces
from isogloss.corpora.rewriting import Rewriting, Rows, rewrite
from isogloss.text.words import word_pattern

Lookup = Callable[[str], str | None]


def code_switch(corpus: AnyCorpus, lexicon: Corpus[Entry], ratio: float = 0.5, *, seed: int = 0) -> AnyCorpus:
    """The corpus with a share `ratio` of the words that the lexicon knows in the lexicon's other language."""
    if not 0 <= ratio <= 1:
        raise UsageError(f"code-switching: expected a ratio between 0 and 1, got {ratio}")
    known = single_words(lexicon)

    def drawn(place: str) -> Lookup:
        chance = Chance(seed, "code-switching", place)
        return lambda word: translated(word, known, chance) if chance.happens(ratio) else None

    def words(old: Sequence[str], place: str) -> list[str]:
        switch = drawn(place)
        return [switch(word) or word for word in old]

    def pieces(text: str, place: str) -> list[Piece]:
        switch, word = drawn(place), word_pattern()
        return substitution_pieces(word, [switch(match[0]) or match[0] for match in word.finditer(text)], text)

    def rows(old: Rows, place: str) -> Rows:
        chance = Chance(seed, "code-switching", place)
        return dissolved(old, [_switched(row, known, chance, ratio) for row in old])

    return rewrite(corpus, Rewriting(rows, words, pieces, lambda text, place: new_text(pieces(text, place))))


def single_words(lexicon: Iterable[Entry]) -> dict[str, tuple[str, ...]]:
    """Translations of one word each, by the source word in small letters.

    >>> single_words([Entry("Dog", "perro"), Entry("hot dog", "perrito"), Entry("cat", "gato montés")])
    {'dog': ('perro',)}
    """
    entries = (Entry(source.strip().lower(), target.strip()) for source, target in lexicon)
    return translations(entry for entry in entries if not any(len(side.split()) != 1 for side in entry))


def translated(word: str, known: Mapping[str, tuple[str, ...]], chance: Chance) -> str | None:
    """One of the translations of a word, spelt with capitals as the word is.

    >>> translated("DOGS", {"dogs": ("perros",)}, Chance(0)), translated("x", {}, Chance(0))
    ('PERROS', None)
    """
    found = known.get(word.lower())
    return like(chance.choose(found), word) if found else None


def like(translation: str, word: str) -> str:
    if word.isupper() and len(word) > 1:
        return translation.upper()
    return translation[:1].upper() + translation[1:] if word[:1].isupper() else translation


def _switched(row: Row, known: Mapping[str, tuple[str, ...]], chance: Chance, ratio: float) -> Row:
    if not row.id.isdecimal() or not chance.happens(ratio):
        return row
    found = translated(row.form, known, chance) or translated(row.lemma, known, chance)
    return row if found is None else row._replace(form=like(found, row.form), lemma="_")


def dissolved(old: Rows, new: Sequence[Row]) -> Rows:
    """The new rows without the multiword tokens of which a word changed; their space follows the last word."""
    changed = {int(after.id) for before, after in zip(old, new, strict=True) if before.form != after.form}
    rows: list[Row] = []
    ends: dict[str, bool] = {}  # last word of a dissolved token → whether a space follows
    for row in new:
        match = MULTIWORD.fullmatch(row.id)
        if match and changed.intersection(range(int(match[1]), int(match[2]) + 1)):
            ends[match[2]] = "SpaceAfter=No" not in row.misc.split("|")
        else:
            rows.append(row._replace(misc=with_space(row.misc, ends[row.id])) if row.id in ends else row)
    return tuple(rows)
