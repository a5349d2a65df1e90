from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from toy import fingerprint, treebank, without_dropout

import isogloss as ig
from isogloss.core.errors import UsageError
from isogloss.corpora.corpus import AnyCorpus
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.tokenization.encoding import padding_id
from isogloss.tasks import TASKS
from isogloss.tasks.examples import collate
from isogloss.training.engine.settings import settings_for
from isogloss.training.finetuning.evaluation import annotate_corpus, predict
from isogloss.training.finetuning.finetune import count_loss_terms, finetune
from isogloss.training.finetuning.grid_search import grid_search

POS = TASKS["pos"]
QUICK = settings_for(POS.defaults, epochs=2, learning_rate=0.01)


def test_a_tiny_model_learns_tags_that_follow_from_words(bert: LoadedModel) -> None:
    before = fingerprint(bert.body)
    settings = settings_for(POS.defaults, epochs=6, batch=4, learning_rate=3e-3)
    tuned = finetune(bert, POS, treebank(150), treebank(40, seed=1), settings)
    assert tuned.log[-1].best == max(report.score or 0 for report in tuned.log) > 0.6
    unseen = treebank(20, "fr", seed=2)
    predictions = predict(tuned.network, POS, bert, POS.encode(bert, unseen, tuned.labels), tuned.labels)
    assert [tree.words for tree in annotate_corpus(POS, unseen, predictions)] == [tree.words for tree in unseen]
    assert fingerprint(bert.body) == before, "the model handed in was changed"


def test_the_seed_decides_head_order_and_dropout(bert: LoadedModel) -> None:
    prints = []
    for seed, noise in [(0, 1), (0, 2), (1, 1)]:
        torch.manual_seed(noise)
        prints.append(fingerprint(finetune(bert, POS, treebank(40), treebank(9), QUICK, seed=seed).network))
    assert prints[0] == prints[1] != prints[2]


def corpus_for(kind: str) -> AnyCorpus:
    lab = ig.Laboratory(seed=0)
    return {"treebank": lab.treebank, "ner": lab.ner, "nli": lab.nli, "qa": lab.qa}[kind]("qla", "train", 6)


@pytest.mark.parametrize("name", TASKS)
def test_losses_are_means_over_their_terms(bert: LoadedModel, name: str) -> None:
    """What accumulation and several workers rest on, for every task: parts weighed by their terms make the whole."""
    task = TASKS[name]
    corpus = corpus_for(task.corpus)
    labels = task.labels(corpus)
    torch.manual_seed(0)
    network = without_dropout(task.network(bert, labels))
    examples = task.encode(bert, corpus, labels)
    terms = np.array([count_loss_terms(example) for example in examples])
    with torch.no_grad():
        alone = [float(task.loss(network, collate([example], padding_id(bert)))) for example in examples]
        together = float(task.loss(network, collate(examples, padding_id(bert))))
    assert together == pytest.approx(float(np.average(alone, weights=terms)), rel=1e-4)


def test_words_without_gold_are_no_terms(bert: LoadedModel) -> None:
    bank = treebank(1, longest=9, seed=3)
    unknown = bank.with_items([bank[0].with_nodes(upos=["_", *bank[0].upos[1:]])])
    labels = POS.labels(treebank(50))
    counts = [count_loss_terms(POS.encode(bert, corpus, labels)[0]) for corpus in (bank, unknown)]
    assert counts == [len(bank[0].words), len(bank[0].words) - 1]


def test_the_wrong_corpus_is_an_error(bert: LoadedModel) -> None:
    with pytest.raises(UsageError, match="train: the task 'ner' reads a ner corpus, not treebank"):
        finetune(bert, TASKS["ner"], treebank(3), treebank(3), QUICK)
    with pytest.raises(UsageError, match="dev: the corpus is empty"):
        finetune(bert, POS, treebank(3), treebank(3)[:0], QUICK)
    with pytest.raises(UsageError, match="read the file first"):
        finetune(bert, POS, "train.conllu", treebank(3), QUICK)  # type: ignore[arg-type]


def test_the_grid_takes_the_best_and_is_not_searched_twice(
    bert: LoadedModel, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = (bert, POS, treebank(40), treebank(20, seed=1), settings_for(POS.defaults, epochs=2))
    options: dict[str, Any] = {"batch_sizes": [8, 16], "learning_rates": [1e-6, 3e-3], "out": tmp_path}
    grid = grid_search(*arguments, **options)
    assert grid.frame.select("batch", "learning_rate").rows() == [(8, 1e-6), (8, 3e-3), (16, 1e-6), (16, 3e-3)]
    best = grid.frame.sort("value", descending=True, maintain_order=True).row(0, named=True)
    assert (grid.best.batch, grid.best.learning_rate) == (best["batch"], best["learning_rate"])
    monkeypatch.setattr("isogloss.training.finetuning.grid_search.finetune", None)
    assert grid_search(*arguments, **options).frame.equals(grid.frame)
