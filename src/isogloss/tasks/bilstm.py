"""The tasks with the BiLSTM baseline: the same corpora, labels, metrics and predictions, with another network.

The vocabulary comes from the training corpus and is stored with the task's labels: `words` are lower-cased,
`characters` are not, and both leave out what occurs only once, so that unknown ones occur in training. A sentence is
one window of characters in which every word begins with a marker; its index is the position of the word.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from isogloss.core.errors import UsageError
from isogloss.corpora.corpus import AnyCorpus
from isogloss.models.bilstm.baseline import UNKNOWN_VECTOR, WordVectors
from isogloss.models.bilstm.networks import UNKNOWN_WORD, Sentences
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.tasks import TASKS
from isogloss.tasks.examples import Batch, Example
from isogloss.tasks.task import BilstmParts, Item, Labels, Task, TaskDefaults

WORDS, CHARACTERS, VECTORS, LENGTHS = "words", "characters", "vectors", "lengths"
MIN_OCCURRENCES = 2  # of a word or character; rarer ones are unknown
WORD_START_ID, UNKNOWN_CHARACTER_ID, FIRST_CHARACTER_ID = 1, 2, 3  # 0 is padding
MAX_WORD_CHARACTERS = 40  # longer words keep their beginning and end


@dataclass(frozen=True)
class BilstmDefaults(TaskDefaults):
    """Adam without weight decay, with learning rates for LSTMs; in fp32, because the networks are small."""

    precision: str = "fp32"
    clip: float = 5.0
    weight_decay: float = 0.0
    warmup: float = 0.05


def task_for_model(model: object, task: Task) -> Task:
    """The task as this model does it: with the BiLSTM parts for a model of `bilstm()`, else unchanged."""
    is_baseline = isinstance(model, LoadedModel) and isinstance(model.body, WordVectors)
    return bilstm_task(task) if is_baseline else task


def bilstm_task(task: Task) -> Task:
    """The task with the BiLSTM in place of a pretrained model."""
    parts = task.bilstm
    if parts is None:
        tasks = ", ".join(name for name in TASKS if TASKS[name].bilstm)
        raise UsageError(f"the bilstm baseline does {tasks}; '{task.name}' needs a pretrained model")
    return replace(
        task,
        defaults=parts.defaults,
        labels=partial(labels_with_vocabulary, task, parts),
        network=parts.network,
        encode=partial(encode, parts),
        loss=parts.loss,
        predict=parts.predict,
    )


def labels_with_vocabulary(task: Task, parts: BilstmParts, corpus: AnyCorpus) -> Labels:
    """The labels of all heads, and the vocabulary."""
    words = vocabulary(item.words for item in corpus)
    return {**parts.auxiliary_labels(corpus), **task.labels(corpus), **words}


def vocabulary(sentences: Iterable[Sequence[str]]) -> Labels:
    """The words and characters that occur more than once, sorted.

    >>> vocabulary([["Da", "da", "de"]])
    {'words': ('da',), 'characters': ('a', 'd')}
    """
    lowered, characters = Counter[str](), Counter[str]()
    for word, count in Counter(word for sentence in sentences for word in sentence).items():
        lowered[word.lower()] += count
        for character in word:
            characters[character] += count
    return {
        name: tuple(sorted(symbol for symbol, count in counts.items() if count >= MIN_OCCURRENCES))
        for name, counts in ((WORDS, lowered), (CHARACTERS, characters))
    }


def encode(parts: BilstmParts, model: LoadedModel, corpus: AnyCorpus, labels: Labels) -> list[Example]:
    """Sentences as characters, with the arrays of their words and of the task's gold labels."""
    words = {word: number for number, word in enumerate(labels[WORDS], 1)}
    characters = {character: number for number, character in enumerate(labels[CHARACTERS], FIRST_CHARACTER_ID)}
    vectors: dict[str, int] = model.tokenizer.get_vocab()

    def character_ids(word: str) -> list[int]:
        return [WORD_START_ID, *(characters.get(c, UNKNOWN_CHARACTER_ID) for c in truncate_word(word))]

    def example(item: Item) -> Example:
        ids = [character_ids(word) for word in item.words]
        lengths = np.array(list(map(len, ids)), dtype=np.int64)
        columns = {
            WORDS: [words.get(word.lower(), UNKNOWN_WORD) for word in item.words],
            VECTORS: [vectors.get(word, vectors.get(word.lower(), UNKNOWN_VECTOR)) for word in item.words],
            **parts.gold_arrays(item, labels),
        }
        arrays = {name: np.array(values, dtype=np.int64) for name, values in columns.items()}
        arrays |= {"window": np.zeros_like(lengths), "position": lengths.cumsum() - lengths, LENGTHS: lengths}
        return Example((np.concatenate(ids).astype(np.int32),), arrays=arrays)

    return [example(item) for item in corpus]


def truncate_word(word: str) -> str:
    """The beginning and the end of a word that is longer than the words of any language.

    >>> len(truncate_word("a" * 5000)), truncate_word("word")
    (40, 'word')
    """
    half = MAX_WORD_CHARACTERS // 2
    return word if len(word) <= MAX_WORD_CHARACTERS else word[:half] + word[-half:]


def encoder_inputs(batch: Batch) -> Sentences:
    """The inputs of the BiLSTM encoder."""
    lengths, words, vectors = (batch.arrays[name] for name in (LENGTHS, WORDS, VECTORS))
    return Sentences(batch.input_ids, batch.token_index, lengths, words, vectors, batch.word_mask)


def vocabulary_sizes(labels: Labels) -> tuple[int, int]:
    """The number of word and of character embeddings."""
    return len(labels[WORDS]) + 1, len(labels[CHARACTERS]) + FIRST_CHARACTER_ID
