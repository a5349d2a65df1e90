from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared_data import shared

from isogloss.core.errors import UnknownName, UsageError
from isogloss.core.files import read_text
from isogloss.core.seeds import Chance
from isogloss.metrics.answers import MLQA_ARTICLES, MlqaCounts, SquadCounts, answer_counts, normalise
from isogloss.metrics.counts import total

# Exact match and F1 in percent, by the official scripts, of the answers that `with_errors` makes from these files:
# mlqa_evaluation_v1.py (facebookresearch/MLQA) with the language, evaluate-v1.1.py (SQuAD) without.
OFFICIAL: dict[tuple[str, str | None], tuple[float, float]] = {
    ("mlqa/dev/dev-context-ar-question-ar.json.xz", "ar"): (42.359767891682786, 78.51061309937754),
    ("mlqa/dev/dev-context-de-question-de.json.xz", "de"): (41.796875, 77.30656760826598),
    ("mlqa/dev/dev-context-en-question-en.json.xz", "en"): (45.29616724738676, 78.02711913404269),
    ("mlqa/dev/dev-context-es-question-es.json.xz", "es"): (44.0, 79.46364635241694),
    ("mlqa/dev/dev-context-hi-question-hi.json.xz", "hi"): (39.84220907297831, 75.69931712904402),
    ("mlqa/dev/dev-context-vi-question-vi.json.xz", "vi"): (43.639921722113506, 79.71951558319702),
    ("xquad/xquad.zh.json.xz", "zh"): (40.42016806722689, 75.99438052625956),
    ("xquad/xquad.en.json.xz", None): (39.2436974789916, 71.49921582270277),
    ("xquad/xquad.zh.json.xz", None): (36.134453781512605, 58.863115519071876),
    ("xquad/xquad.ru.json.xz", None): (37.81512605042017, 72.11657682162266),
}
NEIGHBOURS = ["The ", "a ", "el ", "der ", "ال", "của ", "“", "¿", "(", "长", "$"]


def with_errors(context: str, start: int, text: str, chance: Chance) -> str:
    """An answer near the gold one: wrong borders, other case, articles and punctuation, or somewhere else."""
    low, high = start, start + len(text)
    if chance.happens(0.3):
        low = max(0, low - chance.below(12))
    if chance.happens(0.3):
        high = min(len(context), high + chance.below(12))
    if chance.happens(0.1):
        low = high - 1 - chance.below(high)
    answer = context[low:high]
    if chance.happens(0.2):
        answer = answer.upper()
    if chance.happens(0.3):
        answer = chance.choose(NEIGHBOURS) + answer + chance.choose(["", ".", "。", "।", "»", " %"])
    return answer


def questions(data: dict[str, Any]) -> list[tuple[str, list[str], str]]:
    """Id, gold answers and predicted answer of every question."""
    chance = Chance(0, "answers")
    result = []
    for paragraph in (paragraph for article in data["data"] for paragraph in article["paragraphs"]):
        for question in paragraph["qas"]:
            gold = [answer["text"] for answer in question["answers"]]
            start = question["answers"][0]["answer_start"]
            result.append((question["id"], gold, with_errors(paragraph["context"], start, gold[0], chance)))
    return result


@pytest.mark.parametrize(("name", "mlqa"), OFFICIAL)
def test_real_answers_with_errors_against_the_official_scripts(name: str, mlqa: str | None) -> None:
    data = json.loads(read_text(shared(f"data/{name}")))
    counts = total([answer_counts(gold, predicted, mlqa) for _, gold, predicted in questions(data)])
    scores = (100 * counts.exact_match, 100 * counts.f1)
    assert scores == pytest.approx(OFFICIAL[name, mlqa], abs=1e-9)


# Each by hand from the definition, and the same as the official scripts give; None is SQuAD.
@pytest.mark.parametrize(
    ("text", "lang", "expected"),
    [
        ("The  Great-Wall, a wall.", None, "greatwall wall"),
        ("The “Great” Wall—a\u00a0wall_", None, "“great” wall— wall"),
        ("An Answer, THEN another", None, "answer then another"),
        ("Der Hund; el perro", None, "der hund el perro"),
        ("...", None, ""),
        ("The “Great” Wall — a wall.", "en", "great wall wall"),
        ("wall—a wall", "en", "walla wall"),
        ("El niño; la Niña, ¡un día!", "es", "niño niña día"),
        ("Der Hund und die Katze eines Mannes", "de", "hund und katze mannes"),
        ("Derweil eineinhalb", "de", "derweil eineinhalb"),
        ("Những chiếc xe của tôi là", "vi", "xe tôi"),
        ("वह एक लड़का है।", "hi", "वह एक लड़का है"),
        ("الكتاب، والقلم", "ar", "كتاب و قلم"),
        ("1949年,北京 Peking University(北大)", "zh", "1949 年 北 京 peking university 北 大"),
        ("The 长城", "zh", "the 长 城"),
        ("price: $5 + 3^2 = `x`", "en", "price 5 32 x"),
    ],
)
def test_normalisation(text: str, lang: str | None, expected: str) -> None:
    assert normalise(text, lang) == expected


@given(st.text(max_size=30), st.sampled_from(sorted(MLQA_ARTICLES)))
def test_normalised_text_is_clean_and_matches_itself(text: str, lang: str) -> None:
    clean = normalise(text, lang)
    assert clean == " ".join(clean.split())
    assert answer_counts([text], text, lang) == MlqaCounts(1, float(bool(clean)), 1)


def test_the_best_of_several_gold_answers_counts_for_each_score_alone() -> None:
    assert answer_counts(["red house", "blue house by the sea"], "the blue house") == SquadCounts(0, 2 * 2 / 6, 1)
    assert answer_counts(["x y", "x"], "an x") == SquadCounts(1, 1.0, 1)
    assert answer_counts(["x x y"], "x x x") == SquadCounts(0, 2 * 2 / 6, 1)


def test_answers_of_nothing_match_but_share_no_token() -> None:
    """As in both official scripts; SQuAD 2's gives them an F1 of 1."""
    assert answer_counts(["the"], "...") == SquadCounts(1, 0.0, 1)
    assert answer_counts(["x"], "") == SquadCounts(0, 0.0, 1)


def test_counts_of_different_scripts_are_not_added() -> None:
    squad, mlqa = answer_counts(["x"], "x"), answer_counts(["x"], "x", "en")
    assert (squad.scorer, mlqa.scorer) == ("squad", "mlqa")
    with pytest.raises(UsageError, match="only counts of one kind can be added, got MlqaCounts and SquadCounts"):
        total([squad, mlqa])
    with pytest.raises(TypeError):
        squad + mlqa
    assert (squad + squad).total == 2


def test_wrong_arguments() -> None:
    with pytest.raises(UsageError, match="at least one gold answer"):
        answer_counts([], "x")
    with pytest.raises(UnknownName, match="unknown MLQA language 'ru'"):
        normalise("x", "ru")
