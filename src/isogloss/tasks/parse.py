"""Dependency parsing: the head and the relation of each syntactic word; LAS and UAS as CoNLL 2018 counts them.

Heads are the best tree with a single root by the sum of log-probabilities; the relation is the most probable
one given the head, where `root` is for the root's child and for no other word.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from isogloss.core.errors import UsageError
from isogloss.corpora.corpus import Corpus
from isogloss.corpora.kinds.treebank import Tree
from isogloss.metrics.attachment import Arc, attachment_counts
from isogloss.models.heads.biaffine import BiaffineParser, ParserScores
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.tasks.examples import IGNORE_INDEX, Batch, Example
from isogloss.tasks.tagging import add_array, mean_cross_entropy
from isogloss.tasks.task import Labels, Metric, Task, TaskDefaults
from isogloss.tasks.windows import encode_sentences

HEADS, RELATIONS = "heads", "relations"
ROOT = "root"


def labels(corpus: Corpus[Tree]) -> Labels:
    for tree in corpus:
        gold(tree)
    return {RELATIONS: tuple(sorted({relation for tree in corpus for relation in tree.deprels}))}


def network(model: LoadedModel, labels: Labels) -> nn.Module:
    return BiaffineParser(model, tuple(labels[RELATIONS]))


def encode(model: LoadedModel, corpus: Corpus[Tree], labels: Labels, subword: str = "first") -> list[Example]:
    """Sentences as windows, with the arrays `heads` and `relations`; what is unknown takes no part in the loss."""
    numbers = {relation: number for number, relation in enumerate(labels[RELATIONS])}
    examples = []
    for example, tree in zip(encode_sentences(model, [tree.words for tree in corpus], subword), corpus, strict=True):
        heads = [int(row.head) if row.head != "_" else IGNORE_INDEX for row in tree.nodes]
        relations = [numbers.get(relation, IGNORE_INDEX) for relation in tree.deprels]
        examples.append(add_array(add_array(example, HEADS, heads), RELATIONS, relations))
    return examples


def loss(network: Any, batch: Batch) -> Tensor:
    """Cross-entropy of the heads plus that of the relations given the gold heads, each the mean over words."""
    return parser_loss(network, _scores(network, batch), batch)


def parser_loss(network: Any, scores: ParserScores, batch: Batch) -> Tensor:
    heads = batch.arrays[HEADS]
    relations = network.relations(scores, heads.clamp(min=0))
    arcs = mean_cross_entropy(scores.arcs, heads, batch.stack_size)
    return arcs + mean_cross_entropy(relations, batch.arrays[RELATIONS], batch.stack_size)


@torch.no_grad()
def predict(network: Any, batch: Batch, labels: Labels) -> list[list[Arc]]:
    return decode_predictions(network, _scores(network, batch), batch, labels)


def decode_predictions(network: Any, scores: ParserScores, batch: Batch, labels: Labels) -> list[list[Arc]]:
    """The best tree of each sentence by these scores."""
    from isogloss.tasks.spanning_tree import decode_trees  # with its compiler, which takes half a second to load

    lengths = batch.word_mask.sum(1).cpu().numpy()
    trees = decode_trees(scores.arcs.log_softmax(-1).cpu().numpy(), lengths)
    heads = torch.from_numpy(np.maximum(trees, 0)).to(scores.arcs.device)
    best = best_relations(network.relations(scores, heads), heads, labels).tolist()
    return [
        [(head, labels[RELATIONS][number]) for head, number in zip(tree[:length], row[:length], strict=True)]
        for tree, row, length in zip(trees.tolist(), best, lengths.tolist(), strict=True)
    ]


def best_relations(scores: Tensor, heads: Tensor, labels: Labels) -> Tensor:
    """The best relation of each word: `root` where the head is 0, and only there."""
    if ROOT not in labels[RELATIONS]:
        return scores.argmax(-1)
    root = labels[RELATIONS].index(ROOT)
    non_root = scores.index_fill(-1, torch.tensor([root], device=scores.device), float("-inf"))
    return non_root.argmax(-1).where(heads != 0, root)


def gold(tree: Tree) -> list[Arc]:
    """
    >>> from isogloss.corpora.kinds.treebank import Row
    >>> gold(Tree((), (Row("1", "Yes", "_", "INTJ", "_", "_", "0", "root", "_", "_"),)))
    [(0, 'root')]
    """
    if any(row.head == "_" for row in tree.nodes):
        raise UsageError(f"sentence {tree.sent_id or tree.text!r}: no heads to learn from or to score against")
    return list(zip(tree.heads, tree.deprels, strict=True))


def annotate(tree: Tree, arcs: list[Arc]) -> Tree:
    return tree.with_nodes(head=[str(head) for head, _ in arcs], deprel=[relation for _, relation in arcs])


def _scores(network: Any, batch: Batch) -> ParserScores:
    scores: ParserScores = network(**batch.inputs, places=batch.token_index, known=batch.word_mask)
    return scores


TASK = Task(
    name="parse",
    summary="dependency trees: labelled and unlabelled attachment score",
    corpus="treebank",
    metrics={"las": Metric(attachment_counts, "las"), "uas": Metric(attachment_counts, "uas")},
    defaults=TaskDefaults(epochs=15, batch=32, learning_rate=5e-5),
    labels=labels,
    network=network,
    encode=encode,
    loss=loss,
    predict=predict,
    gold=gold,
    annotate=annotate,
)
