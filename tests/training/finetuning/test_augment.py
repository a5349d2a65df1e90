"""Noise and dropped sub-words while fine-tuning: another training corpus in every epoch, and only there."""

from __future__ import annotations

import numpy as np
import pytest

from isogloss import Laboratory
from isogloss.core.errors import UsageError
from isogloss.models.bilstm.baseline import bilstm
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.tasks import TASKS
from isogloss.tasks.bilstm import task_for_model
from isogloss.training.engine.epochs import step_items
from isogloss.training.engine.settings import NoisyTrainingSettings, TrainingSettings, settings_for
from isogloss.training.finetuning.augmentation import training_examples
from isogloss.training.finetuning.finetune import finetune, objective

POS = TASKS["pos"]
BANK = Laboratory(seed=0).treebank("qla", "train", 12)
LABELS = POS.labels(BANK)


def noisy(**changes: float) -> TrainingSettings:
    return settings_for(POS.defaults, epochs=3, batch=4, **changes)


def test_settings_without_noise_are_what_they_were() -> None:
    assert type(settings_for(POS.defaults, epochs=3, subword_dropout=0.0)) is TrainingSettings
    assert isinstance(noisy(subword_dropout=0.1), NoisyTrainingSettings)
    with pytest.raises(UsageError, match=r"subword_dropout: expected a number of at least 0 and below 1, got 1\.0"):
        noisy(subword_dropout=1.0)
    with pytest.raises(UsageError, match=r"character_noise: expected a number of at least 0 and at most 1, got 2\.0"):
        noisy(character_noise=2.0)


@pytest.mark.parametrize("change", ["subword_dropout", "character_noise"])
def test_each_epoch_has_a_version_of_its_own(bert: LoadedModel, change: str) -> None:
    examples, versions = training_examples(bert, POS, BANK, LABELS, noisy(**{change: 0.5}), seed=1)
    assert versions == 3 and len(examples) == 3 * len(BANK)
    for i, tree in enumerate(BANK):
        several = [examples[i + e * len(BANK)] for e in range(3)]
        assert all(len(one.arrays["tags"]) == len(tree.words) for one in several)
        assert all((one.arrays["tags"] == several[0].arrays["tags"]).all() for one in several)
        assert len({tuple(np.concatenate(one.windows).tolist()) for one in several}) > 1
    again, _ = training_examples(bert, POS, BANK, LABELS, noisy(**{change: 0.5}), seed=1)
    assert all((a.windows[0] == b.windows[0]).all() for a, b in zip(examples, again, strict=True))


def test_the_loop_reads_one_version_an_epoch(bert: LoadedModel) -> None:
    settings = noisy(character_noise=0.2)
    learning = objective(bert, POS, BANK, BANK[:3], LABELS, None, settings, seed=1)
    for epoch in range(settings.epochs):
        steps = step_items(learning, settings, [1], epoch)
        items = sorted(int(item) for (batch,) in steps for item in batch)
        assert items == list(range(epoch * len(BANK), (epoch + 1) * len(BANK)))


def test_training_with_both_is_reproducible(bert: LoadedModel) -> None:
    settings = noisy(character_noise=0.2, subword_dropout=0.2)
    runs = [finetune(bert, POS, BANK, BANK[:4], settings, seed=seed) for seed in (1, 1)]
    plain = finetune(bert, POS, BANK, BANK[:4], noisy(), seed=1)
    weights = [next(run.network.parameters()).detach().numpy() for run in (*runs, plain)]
    assert (weights[0] == weights[1]).all()
    assert (weights[0] != weights[2]).any()
    assert not hasattr(runs[0].model.tokenizer, "_probability")  # the model that is kept reads as before


def test_a_model_without_sub_words_cannot_drop_any() -> None:
    model = bilstm()
    task = task_for_model(model, POS)
    with pytest.raises(UsageError, match="supports BPE, WordPiece and Unigram, not the tokenizer of 'bilstm'"):
        finetune(model, task, BANK, BANK[:4], noisy(subword_dropout=0.2), seed=1)
