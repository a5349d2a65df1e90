"""Which script scores an answer: that of its data set, compared with the official scripts written out again here."""

from __future__ import annotations

import re
import string
import sys
import unicodedata
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from shared_data import shared

from isogloss.core.errors import UnknownName, UsageError
from isogloss.core.seeds import Chance
from isogloss.corpora.corpus import Corpus
from isogloss.corpora.formats import FORMATS
from isogloss.corpora.kinds.qa import Answer, Question, detect_data_set
from isogloss.corpora.readers import read_qa
from isogloss.metrics.counts import total
from isogloss.tasks import TASKS
from isogloss.tasks.scoring import ScoringSettings, with_scorer
from isogloss.training.finetuning.evaluation import score_predictions

QA = TASKS["qa"]
MLQA_LANGUAGES = ["ar", "de", "en", "es", "hi", "vi", "zh"]
XQUAD_LANGUAGES = [*MLQA_LANGUAGES, "ru", "tr"]
Normalise = Callable[[str], str]


def squad_normalise(text: str) -> str:
    """`normalize_answer` of evaluate-v1.1.py."""
    text = "".join(ch for ch in text.lower() if ch not in set(string.punctuation))
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", text).split())


ARTICLES = {
    "en": r"\b(a|an|the)\b",
    "es": r"\b(un|una|unos|unas|el|la|los|las)\b",
    "hi": None,
    "vi": r"\b(của|là|cái|chiếc|những)\b",
    "de": r"\b(ein|eine|einen|einem|eines|einer|der|die|das|den|dem|des)\b",
    "ar": r"\sال^|ال",
    "zh": None,
}
PUNCTUATION = {chr(i) for i in range(sys.maxunicode) if unicodedata.category(chr(i)).startswith("P")}
PUNCTUATION |= set(string.punctuation)


def mlqa_normalise(text: str, lang: str) -> str:
    """`normalize_answer` of mlqa_evaluation_v1.py, with `whitespace_tokenize` or, for Chinese, `mixed_segmentation`."""
    text = "".join(ch for ch in text.lower() if ch not in PUNCTUATION)
    if ARTICLES[lang]:
        text = re.sub(ARTICLES[lang], " ", text)
    if lang != "zh":
        return " ".join(text.split())
    segments, word = [], ""
    for char in text:
        if re.search(r"[\u4e00-\u9fa5]", char):
            if word:
                segments += word.split()
                word = ""
            segments.append(char)
        else:
            word += char
    return " ".join(segments + word.split())


def official(golds: list[list[str]], predictions: list[str], normalise: Normalise) -> tuple[float, float]:
    """Exact match and F1 in percent: the best over the gold answers of each question, then the mean."""
    exact = f1 = 0.0
    for answers, prediction in zip(golds, predictions, strict=True):
        exact += max(normalise(prediction) == normalise(answer) for answer in answers)
        scores = []
        for answer in answers:
            predicted, gold = normalise(prediction).split(), normalise(answer).split()
            same = sum((Counter(predicted) & Counter(gold)).values())
            precision, recall = (same / len(predicted), same / len(gold)) if same else (0, 0)
            scores.append(2 * precision * recall / (precision + recall) if same else 0.0)
        f1 += max(scores)
    return 100 * exact / len(golds), 100 * f1 / len(golds)


def perturbed(corpus: Corpus[Question]) -> list[tuple[int, int]]:
    """Spans near the answers: moved borders, and some elsewhere in the paragraph."""
    chance, spans = Chance(0, "spans"), []
    for question in corpus:
        size, answer = len(question.context), question.answers[0]
        start, stop = answer.start, answer.start + len(answer.text)
        if chance.happens(0.5):
            start = max(0, start - chance.below(8))
        if chance.happens(0.5):
            stop = min(size, stop + chance.below(8))
        if chance.happens(0.1):
            start, stop = 0, min(size, 30)
        spans.append((start, stop))
    return spans


def scores(corpus: Corpus[Question], normalise: Normalise) -> tuple[tuple[float, float], tuple[float, float], str]:
    """Exact match and F1 by the task and by the script written out above, and the scorer that the task states."""
    spans = perturbed(corpus)
    result = score_predictions(QA, [QA.gold(item) for item in corpus], spans)
    texts = [item.context[start:stop] for item, (start, stop) in zip(corpus, spans, strict=True)]
    golds = [[answer.text for answer in item.answers] for item in corpus]
    ours = 100 * result.scores["exact_match"], 100 * result.scores["f1"]
    return ours, official(golds, texts, normalise), result.scorer


@pytest.mark.parametrize("lang", XQUAD_LANGUAGES)
def test_xquad_is_scored_with_the_script_of_squad(lang: str) -> None:
    ours, expected, scorer = scores(read_qa(shared(f"data/xquad/xquad.{lang}.json.xz")), squad_normalise)
    assert ours == pytest.approx(expected, abs=1e-9)
    assert scorer == "squad"


@pytest.mark.parametrize("lang", ["en", "ko", "sw"])
def test_tydi_is_scored_with_the_script_of_squad(lang: str) -> None:
    corpus = read_qa(shared(f"data/tydiqa/train/tydiqa.goldp.{lang}.train.json.xz"))[:600]
    ours, expected, scorer = scores(corpus, squad_normalise)
    assert ours == pytest.approx(expected, abs=1e-9)
    assert (scorer, {item.data_set for item in corpus}) == ("squad", {"tydi"})


@pytest.mark.parametrize("name", ["ar-ar", "de-de", "en-en", "es-es", "hi-hi", "vi-vi", "en-hi", "hi-en", "vi-en"])
def test_mlqa_is_scored_with_its_script_in_the_language_of_the_paragraph(name: str) -> None:
    context, question = name.split("-")
    corpus = read_qa(shared(f"data/mlqa/dev/dev-context-{context}-question-{question}.json.xz"))
    ours, expected, scorer = scores(corpus, lambda text: mlqa_normalise(text, context))
    assert ours == pytest.approx(expected, abs=1e-9)
    assert scorer == "mlqa"


def test_chinese_answers_without_spaces_are_one_token_in_squad_and_several_in_mlqa() -> None:
    """Answers that have one more character: a wrong token for SQuAD, one of many for MLQA."""
    corpus = read_qa(shared("data/xquad/xquad.zh.json.xz"))
    spans = [(item.answers[0].start, item.answers[0].start + len(item.answers[0].text) + 1) for item in corpus]
    texts = [item.context[start:stop] for item, (start, stop) in zip(corpus, spans, strict=True)]
    golds = [[answer.text for answer in item.answers] for item in corpus]
    by_scorer = {}
    for scorer, normalise in {"squad": squad_normalise, "mlqa": lambda text: mlqa_normalise(text, "zh")}.items():
        task = with_scorer(QA, scorer)
        by_scorer[scorer] = 100 * score_predictions(task, [task.gold(item) for item in corpus], spans).scores["f1"]
        assert by_scorer[scorer] == pytest.approx(official(golds, texts, normalise)[1], abs=1e-9)
    default = score_predictions(QA, [QA.gold(item) for item in corpus], spans)
    assert 100 * default.scores["f1"] == by_scorer["squad"]
    assert by_scorer["mlqa"] - by_scorer["squad"] > 20


@pytest.mark.parametrize(
    ("ids", "data_set"),
    [
        (["56beb4343aeaaa14008c925b", "56beb4343aeaaa14008c925c"], "squad"),
        (["569666f4dc3983dab5624e989212c1d9d0cd1798"], "mlqa"),
        (["arabic-2387335860751143628-1", "english--3215621880858840488-2"], "tydi"),
        (["56beb4343aeaaa14008c925b", "569666f4dc3983dab5624e989212c1d9d0cd1798"], ""),
        (["uit_01_05_05_1"], ""),
        (["12"], ""),
    ],
)
def test_the_data_set_follows_from_the_ids(ids: list[str], data_set: str) -> None:
    assert detect_data_set([Question(id, "Who?", "Ada.", (Answer("Ada", 0),)) for id in ids]) == data_set


def corpus_of(data_set: str, lang: str = "de") -> Corpus[Question]:
    items = (Question("1", "Wer?", "Die Ada.", (Answer("Ada", 4),), context_lang=lang, data_set=data_set),)
    return Corpus(items, lang, FORMATS["squad"], "quiz.de.json")


def test_an_unknown_data_set_is_scored_with_the_script_of_squad_and_reported(recwarn: pytest.WarningsRecorder) -> None:
    unknown = corpus_of("")
    assert QA.gold(unknown[0]).scorer == "squad"
    with pytest.warns(UserWarning, match=r"quiz\.de\.json: neither SQuAD, XQuAD, TyDi-GoldP nor MLQA by its ids"):
        QA.check_gold(unknown)
    recwarn.clear()
    for silent in (corpus_of("squad"), corpus_of("mlqa"), corpus_of("tydi"), corpus_of("", "sw")):
        QA.check_gold(silent)  # MLQA has no script for Swahili: nothing to choose
    with_scorer(QA, "squad").check_gold(unknown)
    assert not recwarn.list


def test_corpora_that_no_single_script_can_score_are_refused() -> None:
    mixed = corpus_of("mlqa").with_items([*corpus_of("mlqa"), *corpus_of("squad")])
    with pytest.raises(UsageError, match="expected one data set, got questions for the scorers mlqa and squad"):
        QA.check_gold(mixed)
    with_scorer(QA, "mlqa").check_gold(mixed)
    with pytest.raises(UsageError, match=r"the scorer mlqa is for paragraphs in ar, de.*, got ru"):
        with_scorer(QA, "mlqa").check_gold(corpus_of("squad", "ru"))
    with pytest.raises(UsageError, match="the task 'pos' has only one scorer; 'mlqa' is for the task qa"):
        with_scorer(TASKS["pos"], "mlqa")
    with pytest.raises(UnknownName, match="unknown scorer 'bleu'; known: squad, mlqa"):
        ScoringSettings(scorer="bleu")  # type: ignore[arg-type]


def test_text_changes_and_pairs_keep_the_data_set(tmp_path: Path) -> None:
    corpus = corpus_of("mlqa")
    changed = corpus.with_items([replace(item, question="Wer denn?") for item in corpus])
    assert QA.gold(changed[0]).scorer == "mlqa"
    assert total([QA.metrics["f1"].count(QA.gold(item), (0, 7)) for item in changed]).scorer == "mlqa"
