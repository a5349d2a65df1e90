"""Exact match and token F1 of extracted answers, as computed by the official scripts of SQuAD v1.1 and of MLQA.

The SQuAD script lower-cases and removes ASCII punctuation and the English articles. The MLQA script removes the
punctuation of every script and the articles of the answer's language, and splits Chinese into characters. XQuAD and
TyDi-GoldP are scored with the SQuAD script in every language. The two give different numbers even in English, so each
has its own class of counts, and counts of both cannot be added.

References: Rajpurkar et al. 2016, Lewis et al. 2020.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from isogloss.core.errors import UsageError
from isogloss.core.registry import check_name
from isogloss.metrics.counts import Counts, ratio

ENGLISH_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
HAN = re.compile("([\u4e00-\u9fa5])")
NO_ARTICLES = re.compile(r"(?!)")

# MLQA's languages and the articles that its scorer removes. The Arabic one is removed anywhere in a word.
MLQA_ARTICLES = {
    "ar": re.compile("ال"),
    "de": re.compile(r"\b(?:ein|eine|einen|einem|eines|einer|der|die|das|den|dem|des)\b"),
    "en": ENGLISH_ARTICLES,
    "es": re.compile(r"\b(?:un|una|unos|unas|el|la|los|las)\b"),
    "hi": NO_ARTICLES,
    "vi": re.compile(r"\b(?:của|là|cái|chiếc|những)\b"),
    "zh": NO_ARTICLES,
}


@dataclass(frozen=True)
class AnswerCounts(Counts):
    """Number of exact matches, sum of the F1 of the answers, and number of questions."""

    exact: int
    overlap: float
    total: int

    @property
    def exact_match(self) -> float:
        return ratio(self.exact, self.total)

    @property
    def f1(self) -> float:
        return ratio(self.overlap, self.total)


class SquadCounts(AnswerCounts):
    scorer = "squad"


class MlqaCounts(AnswerCounts):
    scorer = "mlqa"


def answer_counts(gold: Sequence[str], predicted: str, mlqa: str | None = None) -> AnswerCounts:
    """The counts of one question: the best match with any of its gold answers.

    `mlqa` is the language of the answer and selects the script of MLQA; without it that of SQuAD is used.

    >>> answer_counts(["the red house", "a house"], "red house.")
    SquadCounts(exact=1, overlap=1.0, total=1)
    """
    if not gold:
        raise UsageError("a question needs at least one gold answer, got none: remove unanswerable questions")
    answer = normalise(predicted, mlqa)
    answers = [normalise(text, mlqa) for text in gold]
    counts = SquadCounts if mlqa is None else MlqaCounts
    return counts(int(answer in answers), max(_overlap(text.split(), answer.split()) for text in answers), 1)


def normalise(text: str, mlqa: str | None = None) -> str:
    """The normalised answer: lower case, no punctuation, no articles, single spaces.

    >>> normalise("The  Beatles!"), normalise("¿La casa?", "es"), normalise("长城, Great Wall", "zh")
    ('beatles', 'casa', '长 城 great wall')
    """
    text = text.lower()
    if mlqa is None:
        text = "".join(char for char in text if char not in string.punctuation)
        return " ".join(ENGLISH_ARTICLES.sub(" ", text).split())
    articles = MLQA_ARTICLES[check_name(mlqa, MLQA_ARTICLES, "MLQA language")]
    text = articles.sub(" ", "".join(char for char in text if not _is_punctuation(char)))
    return " ".join((HAN.sub(r" \1 ", text) if mlqa == "zh" else text).split())


def _is_punctuation(char: str) -> bool:
    return char in string.punctuation or unicodedata.category(char).startswith("P")


def _overlap(gold: list[str], predicted: list[str]) -> float:
    """F1 of two bags of tokens."""
    common = sum((Counter(gold) & Counter(predicted)).values())
    return 2 * common / (len(gold) + len(predicted)) if common else 0.0
