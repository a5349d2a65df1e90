"""The tasks over the BiLSTM baseline: the same corpora, labels, metrics and predictions; a network of its own.

The vocabulary is the training corpus's and travels with the task's labels: `words` are lower-cased, `characters`
as they are, and both leave out what occurs once, so that training meets the unknown. To the batches a sentence is
one window of characters in which every word begins with a mark, whose place is the word's position.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from isogloss.core.errors import UsageError
from isogloss.corpora.corpus import AnyCorpus
from isogloss.corpora.kinds.treebank import Tree
from isogloss.metrics.attachment import Arc
from isogloss.models.bilstm.baseline import UNKNOWN_VECTOR, WordVectors
from isogloss.models.bilstm.networks import UNKNOWN_WORD, BilstmParser, BilstmTagger, Sentences
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.tasks.examples import IGNORE_INDEX, Batch, Example
from isogloss.tasks.parse import HEADS, RELATIONS, decode_predictions, parser_loss
from isogloss.tasks.tagging import TAGS, mean_cross_entropy
from isogloss.tasks.task import Labels, Task, TaskDefaults

WORDS, CHARACTERS, VECTORS, LENGTHS = "words", "characters", "vectors", "lengths"
MIN_OCCURRENCES = 2  # times that a word or character occurs, or it is unknown
WORD_START_ID, UNKNOWN_CHARACTER_ID, FIRST_CHARACTER_ID = 1, 2, 3  # 0 is padding
MAX_WORD_CHARACTERS = 40  # characters of a word; a longer one keeps its two ends
Gold = Callable[[Any, Labels], Mapping[str, Sequence[int]]]  # an item's gold labels as arrays


@dataclass(frozen=True)
class BilstmDefaults(TaskDefaults):
    """Adam without weight decay, with rates that suit LSTMs; in fp32, for these networks are small."""

    precision: str = "fp32"
    clip: float = 5.0
    weight_decay: float = 0.0
    warmup: float = 0.05


def task_for_model(model: object, task: Task) -> Task:
    """The task as it is done over this model: by the BiLSTM if it is the one of `bilstm()`, as it is otherwise."""
    baseline = isinstance(model, LoadedModel) and isinstance(model.body, WordVectors)
    return bilstm_task(task) if baseline else task


def bilstm_task(task: Task) -> Task:
    """The task with the BiLSTM in place of a pretrained model."""
    if task.name not in PARTS:
        raise UsageError(f"the bilstm baseline does {', '.join(PARTS)}; '{task.name}' needs a pretrained model")
    parts = PARTS[task.name]
    return replace(
        task,
        defaults=parts.defaults,
        labels=partial(labels_with_vocabulary, task),
        network=parts.network,
        encode=partial(encode, parts.gold),
        loss=parts.loss,
        predict=parts.predict,
    )


def labels_with_vocabulary(task: Task, corpus: AnyCorpus) -> Labels:
    """The task's labels and the vocabulary; for trees also the tags, where the treebank has them."""
    tags = {tag for tree in corpus for tag in tree.upos if tag != "_"} if task.name == "parse" else set()
    learnt_beside = {TAGS: tuple(sorted(tags))} if tags else {}
    return {**learnt_beside, **task.labels(corpus), **vocabulary(item.words for item in corpus)}


def vocabulary(encoder_inputs: Iterable[Sequence[str]]) -> Labels:
    """The words and characters that occur more than once, sorted.

    >>> vocabulary([["Da", "da", "de"]])
    {'words': ('da',), 'characters': ('a', 'd')}
    """
    words = Counter(word for sentence in encoder_inputs for word in sentence)
    lowered, characters = Counter[str](), Counter[str]()
    for word, times in words.items():
        lowered[word.lower()] += times
        for character in word:
            characters[character] += times
    return {WORDS: _frequent(lowered), CHARACTERS: _frequent(characters)}


def _frequent(counts: Counter[str]) -> tuple[str, ...]:
    return tuple(sorted(thing for thing, times in counts.items() if times >= MIN_OCCURRENCES))


def encode(gold: Gold, model: LoadedModel, corpus: AnyCorpus, labels: Labels) -> list[Example]:
    """Sentences as characters, with the arrays of their words and of the task's gold labels."""
    words = {word: number for number, word in enumerate(labels[WORDS], 1)}
    characters = {character: number for number, character in enumerate(labels[CHARACTERS], FIRST_CHARACTER_ID)}
    vectors: dict[str, int] = model.tokenizer.get_vocab()
    examples = []
    for item in corpus:
        columns = {
            WORDS: [words.get(word.lower(), UNKNOWN_WORD) for word in item.words],
            VECTORS: [vectors.get(word, vectors.get(word.lower(), UNKNOWN_VECTOR)) for word in item.words],
            **gold(item, labels),
        }
        examples.append(_character_example(item.words, characters, columns))
    return examples


def _character_example(
    words: Sequence[str], characters: Mapping[str, int], columns: Mapping[str, Sequence[int]]
) -> Example:
    spelled = [
        [WORD_START_ID, *(characters.get(c, UNKNOWN_CHARACTER_ID) for c in truncate_word(word))] for word in words
    ]
    lengths = np.array(list(map(len, spelled)), dtype=np.int64)
    arrays = {name: np.array(values, dtype=np.int64) for name, values in columns.items()}
    arrays |= {"window": np.zeros_like(lengths), "position": lengths.cumsum() - lengths, LENGTHS: lengths}
    return Example((np.concatenate(spelled).astype(np.int32),), arrays=arrays)


def truncate_word(word: str) -> str:
    """A word's two ends, where it is longer than any word of a language.

    >>> len(truncate_word("a" * 5000)), truncate_word("word")
    (40, 'word')
    """
    return (
        word
        if len(word) <= MAX_WORD_CHARACTERS
        else word[: MAX_WORD_CHARACTERS // 2] + word[-MAX_WORD_CHARACTERS // 2 :]
    )


def encoder_inputs(batch: Batch) -> Sentences:
    """A batch as the encoder reads it."""
    lengths, words, vectors = (batch.arrays[name] for name in (LENGTHS, WORDS, VECTORS))
    return Sentences(batch.input_ids, batch.token_index, lengths, words, vectors, batch.word_mask)


def tag_gold(item: Any, labels: Labels) -> dict[str, list[int]]:
    numbers = {tag: number for number, tag in enumerate(labels[TAGS])}
    tags = item.upos if isinstance(item, Tree) else item.tags or [""] * len(item.words)
    return {TAGS: [numbers.get(tag, IGNORE_INDEX) for tag in tags]}


def tree_gold(tree: Tree, labels: Labels) -> dict[str, list[int]]:
    numbers = {relation: number for number, relation in enumerate(labels[RELATIONS])}
    heads = [int(row.head) if row.head != "_" else IGNORE_INDEX for row in tree.nodes]
    arrays = {HEADS: heads, RELATIONS: [numbers.get(relation, IGNORE_INDEX) for relation in tree.deprels]}
    return {**arrays, **tag_gold(tree, labels)} if TAGS in labels else arrays


def tag_network(model: Any, labels: Labels) -> BilstmTagger:
    return BilstmTagger(model.body, *_sizes(labels), len(labels[TAGS]))


def chain_network(model: Any, labels: Labels) -> BilstmTagger:
    return BilstmTagger(model.body, *_sizes(labels), len(labels[TAGS]), chain=True)


def tree_network(model: Any, labels: Labels) -> BilstmParser:
    return BilstmParser(model.body, *_sizes(labels), len(labels[RELATIONS]), len(labels.get(TAGS, ())))


def _sizes(labels: Labels) -> tuple[int, int]:
    return len(labels[WORDS]) + 1, len(labels[CHARACTERS]) + FIRST_CHARACTER_ID


def tag_loss(network: Any, batch: Batch) -> Tensor:
    return mean_cross_entropy(network(encoder_inputs(batch)), batch.arrays[TAGS])


def chain_loss(network: Any, batch: Batch) -> Tensor:
    """Minus the log-likelihood of the tags, per word that has one."""
    tags = batch.arrays[TAGS]
    total: Tensor = network.crf.log_likelihood(network(encoder_inputs(batch)), tags, batch.word_mask).sum()
    return -total / (tags != IGNORE_INDEX).sum().clamp(min=1)


def tree_loss(network: Any, batch: Batch) -> Tensor:
    """That of the trees plus that of the tags, which are learnt beside them and not read."""
    scores, tags = network(encoder_inputs(batch))
    loss = parser_loss(network, scores, batch)
    return loss if tags is None else loss + mean_cross_entropy(tags, batch.arrays[TAGS])


@torch.no_grad()
def predict_tags(network: Any, batch: Batch, labels: Labels) -> list[list[str]]:
    scores = network(encoder_inputs(batch))
    best = scores.argmax(-1) if network.crf is None else network.crf.best(scores, batch.word_mask)
    lengths = batch.word_mask.sum(1).tolist()
    return [[labels[TAGS][tag] for tag in row[:length]] for row, length in zip(best.tolist(), lengths, strict=True)]


@torch.no_grad()
def predict_trees(network: Any, batch: Batch, labels: Labels) -> list[list[Arc]]:
    return decode_predictions(network, network(encoder_inputs(batch))[0], batch, labels)


@dataclass(frozen=True)
class Parts:
    """What a task does in its own way over the BiLSTM."""

    gold: Gold
    network: Callable[[LoadedModel, Labels], nn.Module]
    loss: Callable[[nn.Module, Batch], Tensor]
    predict: Callable[[nn.Module, Batch, Labels], list[Any]]
    defaults: BilstmDefaults


PARTS = {
    "pos": Parts(tag_gold, tag_network, tag_loss, predict_tags, BilstmDefaults(30, 32, 3e-3)),
    "parse": Parts(tree_gold, tree_network, tree_loss, predict_trees, BilstmDefaults(50, 32, 3e-3)),
    "ner": Parts(tag_gold, chain_network, chain_loss, predict_tags, BilstmDefaults(30, 32, 2e-3)),
}
