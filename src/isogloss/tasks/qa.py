"""Extractive question answering: the span of a paragraph that answers a question; F1 and exact match.

The question is followed by overlapping windows of the paragraph. In training, a window that does not contain the whole
answer is labelled with its first token, as is usual for SQuAD. The answer is the best span of all windows by the sum of
its two scores (see `texts.py`). Answers of MLQA are scored as by its script, those of all other data sets as by the
script of SQuAD.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from isogloss.core.errors import UsageError, shown
from isogloss.corpora.corpus import Corpus
from isogloss.corpora.kinds.qa import MLQA, UNKNOWN_DATA_SET, Answer, Question
from isogloss.metrics.answers import MLQA_ARTICLES, AnswerCounts, MlqaCounts, SquadCounts, answer_counts
from isogloss.models.heads.task_head import SPAN_LABELS, with_head
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.tokenization.encoding import check_ids
from isogloss.tasks.examples import IGNORE_INDEX, Batch, Example
from isogloss.tasks.losses import mean_cross_entropy, mean_entropy
from isogloss.tasks.task import Labels, Metric, Task, TaskDefaults, Unlabelled
from isogloss.tasks.texts import PairFrame, TokenSpans, best_spans, pair_frame, token_ids, token_spans
from isogloss.tasks.windows import window_starts

MAX_INPUT_TOKENS, MAX_QUESTION_TOKENS, WINDOW_STEP_TOKENS = 384, 64, 128  # tokens; as published for BERT on SQuAD
N_BEST_SPANS, MAX_ANSWER_TOKENS = 20, 30


class Reference(NamedTuple):
    """The span of the first answer (a prediction), and what predictions are scored against."""

    start: int
    stop: int
    context: str
    answers: tuple[str, ...]
    lang: str
    scorer: str


def labels(corpus: Corpus[Question]) -> Labels:
    for question in corpus:
        gold(question)
    return {"span": SPAN_LABELS}


def network(model: LoadedModel, labels: Labels) -> nn.Module:
    return with_head(model, "span", labels["span"])


def encode(
    model: LoadedModel,
    corpus: Corpus[Question],
    labels: Labels,
    max_tokens: int = MAX_INPUT_TOKENS,
    step: int = WINDOW_STEP_TOKENS,
) -> list[Example]:
    """Each question with the windows of its paragraph.

    Arrays with one value per window: `start` and `end` (the answer's tokens there), `place` (where the paragraph
    begins in the window), `first` and `count` (which of the paragraph's tokens it holds). With one value per token
    of the paragraph: `low` and `high`, its characters.
    """
    frame, max_tokens = pair_frame(model), min(max_tokens, model.max_length)
    contexts = list(dict.fromkeys(question.context for question in corpus))  # several questions share one
    spans = dict(zip(contexts, token_spans(model, contexts), strict=True))
    max_question = min(MAX_QUESTION_TOKENS, (max_tokens - frame.size) // 2)
    question_ids = token_ids(model, [question.question for question in corpus])
    if cut := sum(len(ids) > max_question for ids in question_ids):
        warnings.warn(f"{cut} of {len(corpus)} questions truncated to {max_question} tokens", stacklevel=2)
    examples = [
        _example(frame, ids[:max_question], spans[question.context], question.answers, max_tokens, step)
        for question, ids in zip(corpus, question_ids, strict=True)
    ]
    check_ids(model, [window for example in examples for window in example.windows])
    return examples


def loss(network: nn.Module, batch: Batch) -> Tensor:
    """The mean of the cross-entropies of start and end, over the windows of questions that have an answer."""
    output, start, end = network(**batch.inputs), batch.arrays["start"], batch.arrays["end"]
    row = batch.first_row[:, None] + torch.arange(start.shape[1], device=start.device)
    row = row.where(start != IGNORE_INDEX, 0)
    padding = batch.attention_mask == 0
    losses = [
        mean_cross_entropy(scores.float().masked_fill(padding, float("-inf"))[row], target, batch.stack_size)
        for scores, target in ((output.start_logits, start), (output.end_logits, end))
    ]
    return (losses[0] + losses[1]) / 2


@torch.no_grad()
def predict(network: nn.Module, batch: Batch, labels: Labels) -> list[tuple[int, int]]:
    """The characters `(start, stop)` of each answer in its paragraph."""
    output, arrays = network(**batch.inputs), batch.arrays
    windows = arrays["first"] != IGNORE_INDEX
    place, count = arrays["place"][windows][:, None], arrays["count"][windows][:, None]
    token = torch.arange(batch.input_ids.shape[1], device=place.device)
    outside = (token < place) | (token >= place + count)
    start, end = (x.float().masked_fill(outside, float("-inf")) for x in (output.start_logits, output.end_logits))
    sums, starts, ends = best_spans(start, end, N_BEST_SPANS, MAX_ANSWER_TOKENS)
    shift = arrays["first"][windows][:, None] - place  # from a token of the window to one of the paragraph
    spans = torch.stack([sums, starts + shift, ends + shift], -1).double().cpu().numpy()
    low, high = arrays["low"].cpu().numpy(), arrays["high"].cpu().numpy()
    limits = np.append(batch.first_row.cpu().numpy(), len(spans))
    return [_best_span(spans[limits[i] : limits[i + 1]].reshape(-1, 3), low[i], high[i]) for i in range(len(batch))]


def entropy(network: nn.Module, batch: Batch) -> Tensor:
    """The mean entropy of the first and the last token of the answer."""
    output, outside = network(**batch.inputs), batch.attention_mask == 0
    ends = (output.start_logits, output.end_logits)
    return torch.stack([mean_entropy(scores.masked_fill(outside, float("-inf"))) for scores in ends]).mean()


def count(gold: Reference, predicted: Sequence[int]) -> AnswerCounts:
    """
    >>> question = Question("q", "Who barks?", "The dog barks.", (Answer("dog", 4),), context_lang="en")
    >>> count(gold(question), (0, 7)).exact_match
    1.0
    """
    answer = gold.context[predicted[0] : predicted[1]]
    return answer_counts(gold.answers, answer, gold.lang if gold.scorer == MlqaCounts.scorer else None)


def gold(question: Question, scorer: str = "") -> Reference:
    """The first answer, and what predictions are scored against with `scorer`, or with the script of the data set."""
    if not question.answers:
        raise Unlabelled(f"question {shown(question.id)}", "answer")
    first, texts = question.answers[0], tuple(answer.text for answer in question.answers)
    end, scorer = first.start + len(first.text), scorer or scorer_of(question)
    return Reference(first.start, end, question.context, texts, question.context_lang, scorer)


def scorer_of(question: Question) -> str:
    """The script of the question's data set; that of MLQA exists for seven languages."""
    is_mlqa = question.data_set == MLQA and question.context_lang in MLQA_ARTICLES
    return MlqaCounts.scorer if is_mlqa else SquadCounts.scorer


def check_gold(corpus: Corpus[Question], scorer: str = "") -> None:
    """Raise an error if no single script can score the corpus; warn if the data set does not say which."""
    where = corpus.origin or f"questions in {corpus.lang}"
    languages = sorted({question.context_lang for question in corpus} - set(MLQA_ARTICLES))
    if scorer == MlqaCounts.scorer and languages:
        known = ", ".join(MLQA_ARTICLES)
        raise UsageError(f"{where}: the scorer mlqa is for paragraphs in {known}, got {', '.join(languages)}")
    if scorer:
        return
    if len(scorers := sorted({scorer_of(question) for question in corpus})) > 1:
        got = f"questions for the scorers {' and '.join(scorers)}"
        raise UsageError(f"{where}: expected one data set, got {got}; separate them, or choose with scorer= (--scorer)")
    if any(item.data_set == UNKNOWN_DATA_SET and item.context_lang in MLQA_ARTICLES for item in corpus):
        advice = "choose another script with scorer= (--scorer)"
        message = f"{where}: neither SQuAD, XQuAD, TyDi-GoldP nor MLQA by its ids; scored with the SQuAD script"
        warnings.warn(f"{message}; {advice}", stacklevel=2)


def annotate(question: Question, span: tuple[int, int]) -> Question:
    text = question.context[span[0] : span[1]]
    return replace(question, answers=(Answer(text, span[0]),) if text else ())


def _example(
    frame: PairFrame, question: list[int], context: TokenSpans, answers: Sequence[Answer], max_tokens: int, step: int
) -> Example:
    size = max_tokens - frame.size - len(question)
    first = window_starts(len(context.ids), size, max(1, min(step, size // 2)))  # at least half is repeated
    pieces = [context.ids[start : start + size] for start in first]
    place = len(frame.before) + len(question) + len(frame.between)
    start, end = np.full((2, len(first)), IGNORE_INDEX)
    if answers:
        a, b = context.tokens(answers[0].start, answers[0].start + len(answers[0].text))
        contains_answer = (first <= a) & (a <= b) & (b < first + size)
        start, end = (np.where(contains_answer, place + token - first, 0) for token in (a, b))
    arrays = {
        "start": start,
        "end": end,
        "place": np.full(len(first), place),
        "first": first,
        "count": np.array([len(piece) for piece in pieces]),
        "low": context.low,
        "high": context.high,
    }
    windows = tuple(frame.join(question, piece) for piece in pieces)
    return Example(windows, tuple(s for piece in pieces for s in frame.segments(question, piece)), arrays)


def _best_span(spans: np.ndarray, low: np.ndarray, high: np.ndarray) -> tuple[int, int]:
    """The best of the spans `(score, first token, last token)` that contains more than spaces."""
    for score, first, last in spans[np.argsort(-spans[:, 0], kind="stable")]:
        if score > -np.inf and low[int(first)] < high[int(last)]:
            return int(low[int(first)]), int(high[int(last)])
    return 0, 0


TASK = Task(
    name="qa",
    summary="answers as spans of a paragraph: F1 and exact match",
    corpus="qa",
    metrics={"f1": Metric(count, "f1"), "exact_match": Metric(count, "exact_match")},
    defaults=TaskDefaults(epochs=2, batch=32, learning_rate=3e-5),
    labels=labels,
    network=network,
    encode=encode,
    loss=loss,
    predict=predict,
    entropy=entropy,
    gold=gold,
    annotate=annotate,
    scorers=(SquadCounts.scorer, MlqaCounts.scorer),
    check_gold=check_gold,
)
