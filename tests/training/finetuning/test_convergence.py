"""Warnings of training that was too short, and of networks that predict one class."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from toy import treebank

import isogloss as ig
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.training.engine.progress import EpochMetrics
from isogloss.training.finetuning import transfer as module
from isogloss.training.finetuning.convergence import is_unfinished, predicts_one_class, unfinished_training
from isogloss.training.finetuning.finetune import FineTuned, finetune
from isogloss.training.finetuning.stored_results import read_log, write_log


def log(*epochs: tuple[float, float]) -> list[EpochMetrics]:
    """A log of pairs of loss and dev score."""
    best = 0.0
    rows = []
    for number, (loss, score) in enumerate(epochs, 1):
        best = max(best, score)
        rows.append(EpochMetrics(number, number, len(epochs), loss, score, best, 1.0, 0))
    return rows


@pytest.mark.parametrize(
    ("epochs", "unfinished"),
    [
        ([(1.9, 0.70), (0.8, 0.90)], True),
        ([(1.9, 0.70), (0.8, 0.90), (0.77, 0.92)], False),  # the loss falls by less than 5 %
        ([(1.9, 0.70), (0.8, 0.90), (0.75, 0.92)], True),
        ([(1.9, 0.70), (0.8, 0.92), (0.5, 0.92)], False),  # the dev score no longer rises
        ([(1.9, 0.93), (0.8, 0.90), (0.5, 0.92)], False),  # an earlier epoch is better
        ([(1.9, 0.70)], False),  # one epoch cannot be judged
    ],
)
def test_the_rule(epochs: list[tuple[float, float]], unfinished: bool, tmp_path: Path) -> None:
    metrics = log(*epochs)
    assert is_unfinished(metrics) is unfinished
    assert bool(unfinished_training(metrics)) is unfinished
    write_log(metrics, tmp_path)
    assert list(read_log(tmp_path)) == metrics


@pytest.mark.parametrize(
    ("predictions", "gold", "one_class"),
    [
        ([["NOUN"], ["NOUN", "NOUN"]], [["NOUN"], ["VERB", "NOUN"]], True),  # sentences of different lengths
        ([["O", "O"], ["O"]], [["B-PER", "O"], ["O"]], True),
        ([["NOUN"], ["VERB"]], [["NOUN"], ["NOUN"]], False),
        (["neutral", "neutral"], ["neutral", "entailment"], True),
        ([(0, 7), (0, 7)], ["Paris", "Rome"], True),
    ],
)
def test_one_class(predictions: list[object], gold: list[object], one_class: bool) -> None:
    assert predicts_one_class(predictions, gold) is one_class


@pytest.mark.parametrize(("last", "unfinished"), [((0.5, 0.9), True), ((0.5, 0.7), False)])
def test_transfer_warns_of_training_that_is_too_short(
    bert: LoadedModel, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, last: tuple[float, float], unfinished: bool
) -> None:
    """A network with a log that is known; the warning does not need the training: a stored network has its log."""

    def with_log(*arguments: Any, **options: Any) -> FineTuned:
        return replace(finetune(*arguments, **options), log=tuple(log((0.9, 0.8), last)))

    monkeypatch.setattr(module, "finetune", with_log)
    for tests in ({"en": treebank(3, seed=2)}, {"fr": treebank(3, "fr")}):  # the second time the network is read
        with warnings.catch_warnings(record=True) as messages:
            warnings.simplefilter("always")
            ig.transfer(bert, "pos", treebank(8), treebank(4), tests, epochs=1, batch=8, out=tmp_path)
        texts = [str(message.message) for message in messages if "still falls" in str(message.message)]
        assert [text.partition(" (")[0] for text in texts] == [
            "pos en seed 0: the training loss still falls"
        ] * unfinished
