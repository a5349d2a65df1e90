"""Character-level noise, which makes a model robust to spelling differences of languages related to the source.

As in Aepli & Sennrich (2022), "Improving Zero-Shot Cross-lingual Transfer Between Closely Related Languages by
Injecting Character-Level Noise": a share of the words get one change at a random position, with letters of the corpus.
Annotation stays.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from isogloss.core.errors import UsageError
from isogloss.core.registry import check_name
from isogloss.core.seeds import Chance
from isogloss.corpora.corpus import AnyCorpus
from isogloss.corpora.pieces import Piece, new_text
from isogloss.corpora.rewriting import Rewriting, Rows, rewrite

WORD_OR_SPACE = re.compile(r"\S+|\s+")
RARE_LETTER_RATIO = 1000  # letters rarer than 1 in 1000 occur in foreign names only
NOISE_KINDS = ("swap", "delete", "insert", "replace")


def noise(
    corpus: AnyCorpus, rate: float = 0.1, *, kinds: Sequence[str] = NOISE_KINDS, seed: int = 0, epoch: int = 0
) -> AnyCorpus:
    """The corpus with one letter swapped, deleted, inserted or replaced in a share `rate` of its words.

    `kinds`: the kinds of noise to choose from. The noise of an item is determined by `seed`, `epoch` and its index.
    """
    if not 0 <= rate <= 1 or not kinds:
        raise UsageError(f"noise: expected a rate between 0 and 1 and at least one kind, got {rate} and {kinds}")
    for kind in kinds:
        check_name(kind, NOISE_KINDS, "kind of noise")
    alphabet = alphabet_of(corpus)

    def pieces(text: str, place: str) -> list[Piece]:
        chance = Chance(seed, "noise", epoch, place)
        return noisy_pieces(text, chance, rate, kinds, alphabet)

    def words(old: Sequence[str], place: str) -> list[str]:
        chance = Chance(seed, "noise", epoch, place)
        return [new_text(noisy_pieces(word, chance, rate, kinds, alphabet)) for word in old]

    def rows(old: Rows, place: str) -> Rows:
        forms = words([row.form for row in old], place)
        return tuple(row if "." in row.id else row._replace(form=form) for row, form in zip(old, forms, strict=True))

    return rewrite(corpus, Rewriting(rows, words, pieces, lambda text, place: new_text(pieces(text, place))))


def alphabet_of(corpus: AnyCorpus) -> str:
    """The lower-case letters of a corpus without rare ones, sorted."""
    counts: Counter[str] = Counter()

    def count_words(words: Sequence[str], place: str) -> list[str]:
        for word in words:
            counts.update(word.lower())
        return list(words)

    def rows(old: Rows, place: str) -> Rows:
        count_words([row.form for row in old], place)
        return old

    def text(old: str, place: str) -> str:
        return count_words([old], place)[0]

    rewrite(corpus, Rewriting(rows, count_words, lambda old, place: [(old, text(old, place))], text))
    letters = {char: n for char, n in counts.items() if char.isalpha()}
    return "".join(sorted(char for char, n in letters.items() if n * RARE_LETTER_RATIO >= sum(letters.values())))


def noisy_pieces(text: str, chance: Chance, rate: float, kinds: Sequence[str], alphabet: str) -> list[Piece]:
    """The pieces of a text in which one letter of a share `rate` of the words is changed."""
    pieces: list[Piece] = []
    for word in WORD_OR_SPACE.findall(text):
        is_changed = any(map(str.isalpha, word)) and chance.happens(rate)
        pieces += noisy_word(word, chance, kinds, alphabet) if is_changed else [(char, char) for char in word]
    return pieces


def noisy_word(word: str, chance: Chance, kinds: Sequence[str], alphabet: str) -> list[Piece]:
    """The pieces of a word with one letter changed; a single letter is neither deleted nor swapped.

    >>> noisy_word("ab!", Chance(0), ["swap"], "")
    [('ab', 'ba'), ('!', '!')]
    """
    pieces = [(char, char) for char in word]
    letters = [i for i, char in enumerate(word) if char.isalpha()]
    pairs = [i for i in letters if i + 1 in letters]
    kind = chance.choose(kinds)
    if (kind == "swap" and not pairs) or (kind == "delete" and len(letters) == 1):
        return pieces
    place = chance.choose(pairs if kind == "swap" else letters)
    if kind == "swap":
        pieces[place : place + 2] = [(word[place : place + 2], word[place + 1] + word[place])]
    elif kind == "delete":
        pieces[place] = (word[place], "")
    else:
        letter = chance.choose(alphabet)
        if word[place].isupper() and len(letter.upper()) == 1:
            letter = letter.upper()
        pieces[place] = (word[place], letter + word[place] if kind == "insert" else letter)
    return pieces
