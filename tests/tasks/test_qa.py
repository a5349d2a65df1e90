"""Answers: windows that lose nothing, targets on the answer, the best of all spans, scores in the answer's language."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from shared_data import shared

from isogloss.corpora.corpus import Corpus
from isogloss.corpora.formats import FORMATS
from isogloss.corpora.kinds.qa import MLQA, SQUAD, TYDI, Answer, Question
from isogloss.corpora.readers import read_qa
from isogloss.metrics.answers import SquadCounts
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.tokenization.encoding import padding_id
from isogloss.tasks import qa
from isogloss.tasks.examples import Example, collate
from isogloss.tasks.texts import best_spans, token_spans

Tiny = Callable[[str], LoadedModel]
FAMILIES = ["bert", "xlm-roberta", "mt5", "llama", "modernbert", "qwen2", "gemma3_text"]
LABELS = {"span": ("start", "end")}
CONTEXT = "The  old house by the river — 我们住在海边 — was sold again. Мы живём в большом городе.\n القطة نائمة . "


def asked(context: str, *answers: str) -> Corpus[Question]:
    items = [Question(a, "Who sold the house?", context, (Answer(a, context.index(a)),)) for a in answers]
    return Corpus(tuple(items), "en", FORMATS["squad"])


class Fixed(torch.nn.Module):
    """A network that gives the scores it was made with."""

    def __init__(self, start: torch.Tensor, end: torch.Tensor):
        super().__init__()
        self.start, self.end = start, end

    def forward(self, **_: Any) -> Any:
        return SimpleNamespace(start_logits=self.start, end_logits=self.end)


def pointing(example: Example, model: LoadedModel) -> tuple[Any, Any]:
    """A network that is sure of the targets of one example, and its batch."""
    batch = collate([example], padding_id(model))
    scores = torch.zeros(2, *batch.input_ids.shape)
    for which, name in enumerate(("start", "end")):
        for row, place in enumerate(example.arrays[name].tolist()):
            scores[which, row, place] = 9.0
    return Fixed(*scores), batch


@pytest.mark.parametrize("length", [40, 400])
@pytest.mark.parametrize("family", FAMILIES)
def test_the_target_of_an_answer_decodes_to_the_answer(tiny: Tiny, family: str, length: int) -> None:
    """Through windows and back: what training points at is what prediction finds."""
    model = replace(tiny(family), max_length=length)
    answers = [
        "old house",
        "river",
        "我们住在海边",
        "住在",
        "sold again",
        "sold again.",
        "Мы",
        "городе",
        "القطة",
        "The",
    ]
    corpus = asked(CONTEXT, *answers)
    windows = 0
    for question, example in zip(corpus, qa.encode(model, corpus, LABELS, step=8), strict=True):
        network, batch = pointing(example, model)
        (span,) = qa.predict(network, batch, LABELS)
        found, wanted = CONTEXT[slice(*span)], question.answers[0].text
        assert wanted in found
        assert found == found.strip()
        if family == "bert":
            assert found == wanted
        windows += len(example.windows)
    assert (windows > 2 * len(answers)) == (length == 40)


@pytest.mark.parametrize("family", FAMILIES)
def test_windows_hold_question_and_paragraph_whole(tiny: Tiny, family: str) -> None:
    model = replace(tiny(family), max_length=40)
    (example,) = qa.encode(model, asked(CONTEXT, "river"), LABELS)
    (context,) = token_spans(model, [CONTEXT])
    question = model.tokenizer("Who sold the house?", add_special_tokens=False)["input_ids"]
    seen: dict[int, int] = {}
    for window, place, first, count in zip(
        example.windows, example.arrays["place"], example.arrays["first"], example.arrays["count"], strict=True
    ):
        assert len(window) <= 40
        assert window[len(model.prefix) :][: min(len(question), 8)].tolist() == question[: min(len(question), 8)]
        seen |= {int(first) + i: int(window[place + i]) for i in range(count)}
    assert [seen[i] for i in range(len(context.ids))] == context.ids
    for name in ("start", "end"):
        assert any(example.arrays[name]), "some window holds the answer"


def test_windows_without_the_answer_point_to_their_first_token(tiny: Tiny) -> None:
    model = replace(tiny("bert"), max_length=40)
    (example,) = qa.encode(model, asked(CONTEXT, "old house"), LABELS, step=8)
    start, end = example.arrays["start"], example.arrays["end"]
    assert start[0] > 0
    assert start[-1] == end[-1] == 0
    assert ((start > 0) == (end > 0)).all()


@settings(max_examples=40)
@given(st.integers(1, 12), st.integers(1, 6), st.integers(1, 9), st.integers(0, 10**6))
def test_best_spans_by_brute_force(tokens: int, longest: int, n: int, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    start, end = torch.randn(2, 1, tokens, generator=generator)
    every = {
        (i, j): (start[0, i] + end[0, j]).item() for i in range(tokens) for j in range(i, min(i + longest, tokens))
    }
    ranked = sorted(every, key=lambda span: -every[span])[:n]
    sums, first, last = best_spans(start, end, n, longest)
    found = [(a, b) for s, a, b in zip(sums[0].tolist(), first[0].tolist(), last[0].tolist()) if s > float("-inf")]
    assert found == ranked


@settings(max_examples=25)
@given(st.integers(0, 10**6))
def test_the_answer_is_the_best_span_of_all_windows(tiny: Tiny, seed: int) -> None:
    """Brute force over every window and every span inside the paragraph, blank spans left out."""
    model = replace(tiny("modernbert"), max_length=40)
    corpus = asked(CONTEXT, "river").with_items([*asked(CONTEXT, "river"), *asked("Yes  no", "no")])
    examples = qa.encode(model, corpus, LABELS)
    batch = collate(examples, padding_id(model))
    start, end = torch.randn(2, *batch.input_ids.shape, generator=torch.Generator().manual_seed(seed))
    row, expected = 0, []
    for example, item in zip(examples, corpus, strict=True):
        (context,) = token_spans(model, [item.context])
        best, span = -np.inf, (0, 0)
        for place, first, count in zip(*(example.arrays[name] for name in ("place", "first", "count")), strict=True):
            for i in range(count):
                for j in range(i, min(i + qa.MAX_ANSWER_TOKENS, count)):
                    score = (start[row, place + i] + end[row, place + j]).item()
                    low, high = context.low[first + i], context.high[first + j]
                    if low < high and score > best:
                        best, span = score, (low, high)
            row += 1
        expected.append(span)
    assert qa.predict(Fixed(start, end), batch, LABELS) == expected


def test_the_loss_is_the_mean_over_windows(tiny: Tiny) -> None:
    model = replace(tiny("bert"), max_length=40)
    corpus = asked(CONTEXT, "river", "Мы")
    examples = qa.encode(model, corpus, LABELS)
    batch = collate(examples, padding_id(model))
    start, end = torch.randn(2, *batch.input_ids.shape)
    losses, row = [], 0
    for example in examples:
        for number, window in enumerate(example.windows):
            for scores, name in ((start, "start"), (end, "end")):
                own = scores[row, : len(window)]
                losses.append((own.logsumexp(0) - own[example.arrays[name][number]]).item())
            row += 1
    assert qa.loss(Fixed(start, end), batch).item() == pytest.approx(np.mean(losses), rel=1e-5)


def test_scores_follow_the_data_set_and_the_language_of_the_paragraph() -> None:
    item = Question("q", "¿?", "en la casa", (Answer("casa", 6),), context_lang="es", question_lang="en")
    mlqa = replace(item, data_set=MLQA)
    assert qa.count(qa.gold(mlqa), (3, 10)).exact_match == 1.0, "MLQA drops the Spanish article"
    for squad in (item, replace(item, data_set=SQUAD), replace(item, data_set=TYDI), replace(mlqa, context_lang="pt")):
        assert qa.count(qa.gold(squad), (3, 10)) == SquadCounts(0, pytest.approx(2 / 3), 1)
    assert qa.count(qa.gold(item, scorer="mlqa"), (3, 10)).exact_match == 1.0
    assert qa.count(qa.gold(mlqa, scorer="squad"), (3, 10)).exact_match == 0.0


def test_an_empty_paragraph_has_an_empty_answer(tiny: Tiny) -> None:
    corpus = Corpus((Question("q", "Who?", " ", ()), Question("r", "Who?", "", ())), "en", FORMATS["squad"])
    for family in ("bert", "qwen2"):
        model = tiny(family)
        batch = collate(qa.encode(model, corpus, LABELS), padding_id(model))
        assert qa.predict(qa.network(model, LABELS).eval(), batch, LABELS) == [(0, 0), (0, 0)]
        assert qa.annotate(corpus[0], (0, 0)) == corpus[0]


def test_long_questions_are_cut_and_counted(tiny: Tiny) -> None:
    corpus = Corpus((Question("q", "cat " * 90, "The cat.", (Answer("cat", 4),)),), "en", FORMATS["squad"])
    with pytest.warns(UserWarning, match="1 of 1 questions truncated to 64 tokens"):
        qa.encode(tiny("bert"), corpus, LABELS)


@pytest.mark.parametrize("lang", ["en", "zh", "ar", "hi"])
def test_real_questions_find_their_answers(tiny: Tiny, lang: str) -> None:
    """Targets decode to the gold answer on XQuAD: exact match of the gold through tokens, windows and back."""
    corpus = read_qa(shared(f"data/xquad/xquad.{lang}.json.xz"))[:40]
    model = tiny("bert")
    counts = []
    for item, example in zip(corpus, qa.encode(model, corpus, LABELS), strict=True):
        network, batch = pointing(example, model)
        (span,) = qa.predict(network, batch, LABELS)
        assert example.arrays["start"].any() or len(item.answers[0].text) > 60
        counts.append(item.answers[0].text in item.context[slice(*span)])
    assert np.mean(counts) > 0.85, "but for answers longer than 30 tokens of so small a vocabulary"
