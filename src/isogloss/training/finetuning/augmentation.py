"""Training examples with noise: character noise and sub-word dropout, sampled in every epoch."""

from __future__ import annotations

from isogloss.core.seeds import derive_seed
from isogloss.corpora.corpus import AnyCorpus
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.tokenization.subword_dropout import with_subword_dropout
from isogloss.tasks.examples import Example
from isogloss.tasks.task import Labels, Task
from isogloss.text.changes.noise import noise
from isogloss.training.engine.settings import NoisyTrainingSettings, TrainingSettings


def training_examples(
    model: LoadedModel, task: Task, corpus: AnyCorpus, labels: Labels, settings: TrainingSettings | None, seed: int
) -> tuple[list[Example], int]:
    """The examples of all versions of a corpus, and the number of versions: with noise, one per epoch."""
    if not isinstance(settings, NoisyTrainingSettings):
        return task.encode(model, corpus, labels), 1
    noise_rate, subword_dropout = settings.character_noise, settings.subword_dropout
    examples: list[Example] = []
    for epoch in range(settings.epochs):
        dropout_seed = derive_seed(seed, "epoch", epoch)
        noisy_model = with_subword_dropout(model, subword_dropout, dropout_seed) if subword_dropout else model
        noisy = noise(corpus, noise_rate, seed=seed, epoch=epoch) if noise_rate else corpus
        examples += task.encode(noisy_model, noisy, labels)
    return examples, settings.epochs
