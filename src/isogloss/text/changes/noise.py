"""Character-level noise on words: what teaches a model not to rely on spelling, for targets close to the source.

As in Aepli & Sennrich 2022 ("Improving Zero-Shot Cross-lingual Transfer Between Closely Related Languages by
Injecting Character-Level Noise"): a share of the words each get one change at a random place, with letters of the
corpus itself. Tags, trees and answers stay those of the words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence

from isogloss.core.errors import UsageError
from isogloss.core.registry import check_name
from isogloss.core.seeds import Chance
from isogloss.corpora.corpus import AnyCorpus
from isogloss.corpora.pieces import Piece, new_text
from isogloss.corpora.rewriting import Rewriting, Rows, rewrite

WORD = re.compile(r"\S+")
RARE = 1000  # a letter that is less than one of so many is a foreign name's
KINDS = ("swap", "delete", "insert", "replace")


def noise(
    corpus: AnyCorpus, rate: float = 0.1, *, kinds: Sequence[str] = KINDS, seed: int = 0, epoch: int = 0
) -> AnyCorpus:
    """The corpus with one letter swapped, deleted, inserted or replaced in a share `rate` of its words.

    Each item is drawn for anew in every `epoch`, and is the same whenever seed, epoch and its place are.
    """
    if not 0 <= rate <= 1 or not kinds:
        raise UsageError(f"noise: expected a rate between 0 and 1 and at least one kind, got {rate} and {kinds}")
    for kind in kinds:
        check_name(kind, KINDS, "kind of noise")
    alphabet = letters_of(corpus)

    def pieces(text: str, place: str) -> list[Piece]:
        chance = Chance(seed, "noise", epoch, place)
        return noisy_pieces(text, chance, lambda: chance.happens(rate), kinds, alphabet)

    def words(old: Sequence[str], place: str) -> list[str]:
        chance = Chance(seed, "noise", epoch, place)
        return [new_text(noisy_pieces(word, chance, lambda: chance.happens(rate), kinds, alphabet)) for word in old]

    def rows(old: Rows, place: str) -> Rows:
        forms = words([row.form for row in old], place)
        return tuple(row if "." in row.id else row._replace(form=form) for row, form in zip(old, forms, strict=True))

    return rewrite(corpus, Rewriting(rows, words, pieces, lambda text, place: new_text(pieces(text, place))))


def letters_of(corpus: AnyCorpus) -> str:
    """The small letters that a corpus is written with, rare ones left out; sorted."""
    counts: Counter[str] = Counter()

    def look(words: Sequence[str], place: str) -> list[str]:
        for word in words:
            counts.update(word.lower())
        return list(words)

    def rows(old: Rows, place: str) -> Rows:
        look([row.form for row in old], place)
        return old

    def text(old: str, place: str) -> str:
        return look([old], place)[0]

    rewrite(corpus, Rewriting(rows, look, lambda old, place: [(old, text(old, place))], text))
    letters = {char: n for char, n in counts.items() if char.isalpha()}
    return "".join(sorted(char for char, n in letters.items() if n * RARE >= sum(letters.values())))


def noisy_pieces(
    text: str, chance: Chance, chosen: Callable[[], bool], kinds: Sequence[str], alphabet: str
) -> list[Piece]:
    """A text whose chosen words each have one letter changed, character by character."""
    pieces: list[Piece] = []
    end = 0
    for match in WORD.finditer(text):
        pieces += [(char, char) for char in text[end : match.start()]]
        some = any(map(str.isalpha, match[0])) and chosen()
        pieces += changed(match[0], chance, kinds, alphabet) if some else [(char, char) for char in match[0]]
        end = match.end()
    return pieces + [(char, char) for char in text[end:]]


def changed(word: str, chance: Chance, kinds: Sequence[str], alphabet: str) -> list[Piece]:
    """A word with one of its letters changed; an only letter is not deleted, and not swapped.

    >>> changed("ab!", Chance(0), ["swap"], "")
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
        letter = like(chance.choose(alphabet), word[place])
        pieces[place] = (word[place], letter + word[place] if kind == "insert" else letter)
    return pieces


def like(letter: str, model: str) -> str:
    """The letter as a capital if the other is one.

    >>> like("a", "B"), like("a", "b")
    ('A', 'a')
    """
    return letter.upper() if model.isupper() and len(letter.upper()) == 1 else letter
