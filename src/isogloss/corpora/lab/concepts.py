"""Concepts: the tables of the vocabulary as a taxonomy, verb frames, opposites and names."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from isogloss.core.seeds import Chance
from isogloss.corpora.lab.vocabulary import ADJECTIVES, MANNERS, NAME_COUNTS, NOUNS, NUMBERS, TIMES, VERBS

WORLD_SEED = 20_240  # of lexicons, names and affinities; corpora have other seeds


@dataclass(frozen=True)
class Verb:
    """A verb with its arguments: `frame` is one of the letters explained above its table."""

    name: str
    frame: str
    subjects: tuple[str, ...]
    objects: tuple[str, ...] = ()
    broader: str = ""


def _read_nouns() -> dict[str, str]:
    """Noun → the class above it ("" at the top), in order of frequency within their class."""
    above: dict[str, str] = {}
    for line in NOUNS.strip().splitlines():
        name, _, members = line.partition(":")
        kind, _, broader = (part.strip() for part in name.partition("<"))
        above[kind] = broader
        above |= dict.fromkeys(members.split(), kind)
    return above


def _read_verbs() -> dict[str, Verb]:
    verbs = {}
    for line in VERBS.strip().splitlines():
        body, _, broader = (part.strip() for part in line.partition("<"))
        name, frame, *classes = body.split()
        subjects, objects = (tuple(filter(None, text.split(","))) for text in (*classes, "")[:2])
        verbs[name] = Verb(name, frame, subjects, objects, broader)
    return verbs


def _read_adjectives() -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
    """Adjective → classes it describes, and adjective → its opposite."""
    classes: dict[str, tuple[str, ...]] = {}
    opposite: dict[str, str] = {}
    for line in ADJECTIVES.strip().splitlines():
        names, _, kinds = line.partition(":")
        pair = names.split("/")
        classes |= {name: tuple(kinds.split()) for name in pair}
        if len(pair) == 2:
            opposite |= {pair[0]: pair[1], pair[1]: pair[0]}
    return classes, opposite


ABOVE = _read_nouns()
NOUN_LIST = list(ABOVE)
VERB_TABLE = _read_verbs()
DESCRIBES, OPPOSITE = _read_adjectives()
ADJECTIVE_LIST = list(DESCRIBES)
CONTENT_WORDS = [*NOUN_LIST, *VERB_TABLE, *ADJECTIVE_LIST, *MANNERS, *TIMES, *NUMBERS]


@cache
def is_a(concept: str, kind: str) -> bool:
    """Whether a noun or verb is a hyponym of another, or the same.

    >>> is_a("dog", "animal"), is_a("animal", "dog"), is_a("run", "move")
    (True, False, True)
    """
    while concept:
        if concept == kind:
            return True
        concept = VERB_TABLE[concept].broader if concept in VERB_TABLE else ABOVE[concept]
    return False


@cache
def members(kinds: tuple[str, ...]) -> tuple[str, ...]:
    """The nouns of any of the classes, including the classes themselves.

    >>> members(("weather",))
    ('weather', 'rain', 'snow', 'wind', 'fog', 'thunder', 'hail')
    """
    return tuple(noun for noun in NOUN_LIST if any(is_a(noun, kind) for kind in kinds))


@cache
def names(kind: str) -> tuple[str, ...]:
    """Proper names of one kind as sounds; the same in every language, spelt in its script."""
    before = list(NAME_COUNTS)[: list(NAME_COUNTS).index(kind)]
    existing = {name for kind_before in before for name in names(kind_before)}
    chance = Chance(WORLD_SEED, "names", kind)
    new_names: list[str] = []
    while len(new_names) < NAME_COUNTS[kind]:
        syllables = ["".join(map(chance.choose, ("bdgklmnprstvz", "aeiou"))) for _ in range(chance.choose((2, 2, 3)))]
        name = "".join(syllables) + chance.choose(("", "", "n", "r", "s", "l", "k"))
        if name not in existing:
            existing.add(name)
            new_names.append(name)
    return tuple(new_names)


def is_female(given_name: str) -> bool:
    """Given names alternate, so that both genders are equally frequent."""
    return names("given").index(given_name) % 2 == 1
