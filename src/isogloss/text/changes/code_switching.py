"""Dictionary-based code-switching: words of labelled data are replaced by translations, labels stay.

As in CoSDA-ML (Qin et al. 2020), each word in the lexicon is replaced by one of its translations with a given
probability; a ratio of 1 is word-by-word translation. Only entries of one word on both sides are used, so that every
tag keeps its word. In a treebank, a word that is not in the lexicon is looked up by its lemma; a replaced word has no
lemma, and a multiword token with a replaced word is removed in favour of its words. Features and tags are those of the
source word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from isogloss.core.errors import UsageError
from isogloss.core.seeds import Chance
from isogloss.corpora.corpus import AnyCorpus, Corpus
from isogloss.corpora.kinds.lexicon import Entry, translations
from isogloss.corpora.kinds.treebank import MULTIWORD, Row, has_space, with_space
from isogloss.corpora.pieces import Piece, new_text, substitution_pieces
from isogloss.corpora.rewriting import Rewriting, Rows, rewrite
from isogloss.text.words import word_pattern

Lookup = Callable[[str], str | None]


def code_switch(corpus: AnyCorpus, lexicon: Corpus[Entry], ratio: float = 0.5, *, seed: int = 0) -> AnyCorpus:
    """The corpus with a share `ratio` of the words in the lexicon replaced by translations.

    `corpus`: labelled data or raw text. `lexicon`: entries from the language of the corpus to another. `seed`: random
    seed of the choice of words and translations.
    """
    if not 0 <= ratio <= 1:
        raise UsageError(f"code-switching: expected a ratio between 0 and 1, got {ratio}")
    translations_of = single_words(lexicon)

    def random_lookup(place: str) -> Lookup:
        chance = Chance(seed, "code-switching", place)
        return lambda word: random_translation(word, translations_of, chance) if chance.happens(ratio) else None

    def words(old: Sequence[str], place: str) -> list[str]:
        switch = random_lookup(place)
        return [switch(word) or word for word in old]

    def pieces(text: str, place: str) -> list[Piece]:
        switch, word = random_lookup(place), word_pattern()
        return substitution_pieces(word, [switch(match[0]) or match[0] for match in word.finditer(text)], text)

    def rows(old: Rows, place: str) -> Rows:
        chance = Chance(seed, "code-switching", place)
        return without_changed_multiwords(old, [_switched(row, translations_of, chance, ratio) for row in old])

    return rewrite(corpus, Rewriting(rows, words, pieces, lambda text, place: new_text(pieces(text, place))))


def single_words(lexicon: Iterable[Entry]) -> dict[str, tuple[str, ...]]:
    """Single-word translations by lower-cased source word.

    >>> single_words([Entry("Dog", "perro"), Entry("hot dog", "perrito"), Entry("cat", "gato montés")])
    {'dog': ('perro',)}
    """
    entries = (Entry(source.strip().lower(), target.strip()) for source, target in lexicon)
    return translations(entry for entry in entries if not any(len(side.split()) != 1 for side in entry))


def random_translation(word: str, translations_of: Mapping[str, tuple[str, ...]], chance: Chance) -> str | None:
    """A random translation of a word, with its capitalisation; None if the lexicon has none.

    >>> random_translation("DOGS", {"dogs": ("perros",)}, Chance(0)), random_translation("x", {}, Chance(0))
    ('PERROS', None)
    """
    candidates = translations_of.get(word.lower())
    return with_case_of(chance.choose(candidates), word) if candidates else None


def with_case_of(translation: str, word: str) -> str:
    if word.isupper() and len(word) > 1:
        return translation.upper()
    return translation[:1].upper() + translation[1:] if word[:1].isupper() else translation


def _switched(row: Row, translations_of: Mapping[str, tuple[str, ...]], chance: Chance, ratio: float) -> Row:
    if not row.id.isdecimal() or not chance.happens(ratio):
        return row
    of_form = random_translation(row.form, translations_of, chance)
    translation = of_form or random_translation(row.lemma, translations_of, chance)
    return row if translation is None else row._replace(form=with_case_of(translation, row.form), lemma="_")


def without_changed_multiwords(old: Rows, new: Sequence[Row]) -> Rows:
    """The new rows without multiword tokens with a changed word; their `SpaceAfter` goes to the last word."""
    changed = {int(after.id) for before, after in zip(old, new, strict=True) if before.form != after.form}
    rows: list[Row] = []
    ends: dict[str, bool] = {}  # last word of a removed token → whether a space follows
    for row in new:
        match = MULTIWORD.fullmatch(row.id)
        if match and changed.intersection(range(int(match[1]), int(match[2]) + 1)):
            ends[match[2]] = has_space(row.misc)
        else:
            rows.append(row._replace(misc=with_space(row.misc, ends[row.id])) if row.id in ends else row)
    return tuple(rows)
