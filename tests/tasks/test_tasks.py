"""The contract of every task: it round-trips the laboratory, learns, and does not see padding."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from isogloss.core.errors import IsoglossError
from isogloss.corpora.corpus import AnyCorpus, read_corpus
from isogloss.corpora.formats import FORMATS
from isogloss.corpora.kinds.qa import Answer, Question
from isogloss.corpora.lab.laboratory import Laboratory
from isogloss.metrics.counts import score_each, total
from isogloss.metrics.spans import read_spans
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.tokenization.encoding import padding_id
from isogloss.tasks import TASKS
from isogloss.tasks.examples import Batch, collate
from isogloss.tasks.task import Labels, Task

Tiny = Callable[[str], LoadedModel]
FAMILIES = ["bert", "xlm-roberta", "xglm", "mt5", "modernbert", "llama", "qwen2", "gemma3_text"]
LABORATORY = Laboratory(seed=0)


def corpus_of(task: Task, n: int = 4) -> AnyCorpus:
    made: AnyCorpus = getattr(LABORATORY, task.corpus)("qla", "train", n)
    short = (Question("short", "Ti?", "Ta 1982 Rove.", (Answer("Rove", 8),)),) if task.name == "qa" else ()
    return made.with_items((*short, *made))


def ready(task: Task, model: LoadedModel, corpus: AnyCorpus) -> tuple[nn.Module, Labels, list[Any]]:
    """A network in evaluation mode with no weight at zero, the labels and the examples."""
    labels = task.labels(corpus)
    torch.manual_seed(3)
    network = task.network(model, labels).eval()
    for parameter in network.parameters():
        if not parameter.any():
            nn.init.normal_(parameter, std=0.1)
    return network, labels, task.encode(model, corpus, labels)


def batch_of(model: LoadedModel, examples: list[Any]) -> Batch:
    return collate(examples, padding_id(model))


@pytest.fixture(params=TASKS)
def task(request: pytest.FixtureRequest) -> Task:
    return TASKS[request.param]


@pytest.mark.parametrize("family", FAMILIES)
def test_round_trip(tiny: Tiny, task: Task, family: str, tmp_path: Path) -> None:
    model, corpus = tiny(family), corpus_of(task)
    network, labels, examples = ready(task, model, corpus)
    predictions = task.predict(network, batch_of(model, examples), labels)
    assert len(predictions) == len(corpus)
    annotated = corpus.with_items(task.annotate(item, value) for item, value in zip(corpus, predictions, strict=True))
    annotated.write(tmp_path / "predicted.txt")
    again = read_corpus(tmp_path / "predicted.txt", corpus.format, lang="qla")
    assert type(again[0]) is type(corpus[0])
    written = [task.gold(item) for item in again]
    if task.name == "ner":
        assert [read_spans(tags) for tags in written] == [read_spans(tags) for tags in predictions]
    else:
        assert [gold[:2] if task.name == "qa" else gold for gold in written] == predictions


def test_gold_is_perfect_and_wrong_is_not(task: Task) -> None:
    corpus = corpus_of(task)
    gold = [task.gold(item) for item in corpus]
    for metric in task.metrics.values():
        assert metric.of(total(score_each(metric.count, gold, gold))) == 1.0
    wrong: dict[str, Any] = {"pos": "X", "ner": "B-NONE", "parse": (1, "none")}
    worse: list[Any] = [[wrong[task.name]] * len(g) if task.name in wrong else g for g in gold]
    worse = {"nli": ["none"] * len(gold), "qa": [(0, 1)] * len(gold)}.get(task.name, worse)
    for metric in task.metrics.values():
        assert metric.of(total(score_each(metric.count, gold, worse))) < 0.5


@pytest.mark.parametrize("family", FAMILIES)
def test_the_loss_falls(tiny: Tiny, task: Task, family: str) -> None:
    model, corpus = tiny(family), corpus_of(task, 3)
    before = {name: value.clone() for name, value in model.body.state_dict().items()}
    labels = task.labels(corpus)
    torch.manual_seed(0)
    network = task.network(model, labels)
    assert network.training
    network.eval()  # no dropout, so that every step shows
    batch = batch_of(model, task.encode(model, corpus, labels))
    optimizer = torch.optim.SGD(network.parameters(), lr=0.003)
    losses = []
    for _ in range(3):
        loss = task.loss(network, batch)
        losses.append(loss.item())
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(network.parameters(), 5.0)
        optimizer.step()
    assert all(value < float("inf") for value in losses)
    assert losses[-1] < losses[0]
    assert all(torch.equal(before[name], value) for name, value in model.body.state_dict().items()), "a copy is trained"


@pytest.mark.parametrize("family", FAMILIES)
def test_padding_changes_nothing(tiny: Tiny, task: Task, family: str) -> None:
    model, corpus = tiny(family), corpus_of(task)
    network, labels, examples = ready(task, model, corpus)
    together = batch_of(model, examples)
    alone = [batch_of(model, [example]) for example in examples]
    assert len({batch.input_ids.shape[1] for batch in alone}) > 1, "unlike lengths, or this shows nothing"
    assert [task.predict(network, batch, labels)[0] for batch in alone] == task.predict(network, together, labels)
    terms = torch.tensor([float(_terms(batch)) for batch in alone])
    with torch.no_grad():
        losses = torch.stack([task.loss(network, batch) for batch in alone])
        whole = task.loss(network, together)
    torch.testing.assert_close((losses * terms).sum() / terms.sum(), whole, rtol=2e-4, atol=2e-4)


def _terms(batch: Batch) -> int:
    return int(batch.word_mask.sum()) if "position" in batch.arrays else len(batch.input_ids)


@pytest.mark.parametrize("name", ["pos", "parse", "ner"])
@pytest.mark.parametrize("family", ["bert", "xlm-roberta", "qwen2"])
def test_sentences_longer_than_the_model_are_predicted_whole(tiny: Tiny, name: str, family: str) -> None:
    task, model = TASKS[name], replace(tiny(family), max_length=16)
    corpus = corpus_of(task)
    network, labels, examples = ready(task, model, corpus)
    assert all(len(example.windows) > 1 for example in examples[:2])
    predictions = task.predict(network, batch_of(model, examples), labels)
    assert [len(prediction) for prediction in predictions] == [len(item.words) for item in corpus]
    alone = [task.predict(network, batch_of(model, [example]), labels)[0] for example in examples]
    assert alone == predictions
    assert task.loss(network, batch_of(model, examples)).isfinite()


def test_heads_hang_on_the_global_seed(tiny: Tiny, task: Task) -> None:
    model, corpus = tiny("xlm-roberta"), corpus_of(task, 2)
    states = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        states.append(task.network(model, task.labels(corpus)).state_dict())
    assert all(torch.equal(states[0][name], states[1][name]) for name in states[0])
    assert not all(torch.equal(states[0][name], states[2][name]) for name in states[0])


def test_a_step_waits_for_nothing(tiny: Tiny, task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    """The loss reads no value off the device."""
    model, corpus = tiny("xlm-roberta"), corpus_of(task, 3)
    network, _, examples = ready(task, model, corpus)
    batch = batch_of(model, examples)

    def refuse(*_: Any) -> Any:
        raise AssertionError("host synchronisation")

    for name in ("item", "tolist", "nonzero", "cpu", "numpy"):
        monkeypatch.setattr(torch.Tensor, name, refuse)
    task.loss(network, batch).backward()  # type: ignore[no-untyped-call]


def test_without_annotation_it_predicts_but_does_not_score_or_learn(tiny: Tiny, task: Task) -> None:
    model, corpus = tiny("bert"), corpus_of(task, 3)
    bare = corpus.with_items(_bare(task, item) for item in corpus)
    network, labels, _ = ready(task, model, corpus)
    predictions = task.predict(network, batch_of(model, task.encode(model, bare, labels)), labels)
    assert predictions == task.predict(network, batch_of(model, task.encode(model, corpus, labels)), labels)
    with pytest.raises(IsoglossError, match=r"no .* to score against"):
        task.gold(bare[0])
    with pytest.raises(IsoglossError, match="learn from"):
        task.labels(bare)


def _bare(task: Task, item: Any) -> Any:
    if task.corpus == "treebank":
        blank = ["_"] * len(item.nodes)
        return item.with_nodes(upos=blank, head=blank, deprel=blank)
    if task.corpus == "ner":
        return replace(item, rows=tuple((word,) for word in item.words))
    return replace(item, label=None) if task.corpus == "nli" else replace(item, answers=())


def test_every_task_reads_a_known_kind_and_says_what_it_is(task: Task) -> None:
    assert task.corpus in {FORMATS[name].kind for name in FORMATS}
    assert task.summary
    assert task.main_metric in task.metrics
    assert TASKS[task.name] is task
