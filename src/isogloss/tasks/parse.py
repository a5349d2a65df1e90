"""Dependency parsing: head and relation of each syntactic word; LAS and UAS as defined by CoNLL 2018.

Heads are the best tree with a single root by the sum of log-probabilities. The relation is the most probable one given
the head; `root` is only for the child of the root. With the BiLSTM baseline, universal tags, if the treebank has them,
are an auxiliary loss.
"""

from __future__ import annotations

from typing import cast

import numpy as np
import torch
from torch import Tensor, nn

from isogloss.corpora.corpus import Corpus
from isogloss.corpora.kinds.treebank import Tree
from isogloss.metrics.attachment import Arc, attachment_counts
from isogloss.models.bilstm.baseline import WordVectors
from isogloss.models.bilstm.networks import BilstmParser
from isogloss.models.heads.biaffine import BiaffineParser, BiaffineScorer, ParserScores
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.tasks.bilstm import BilstmDefaults, encoder_inputs, vocabulary_sizes
from isogloss.tasks.examples import IGNORE_INDEX, Batch, Example
from isogloss.tasks.losses import mean_cross_entropy, mean_entropy
from isogloss.tasks.tagging import TAGS, tag_numbers
from isogloss.tasks.task import BilstmParts, Labels, Metric, Task, TaskDefaults, Unlabelled
from isogloss.tasks.windows import add_arrays, encode_sentences

HEADS, RELATIONS = "heads", "relations"
ROOT = "root"


def labels(corpus: Corpus[Tree]) -> Labels:
    for tree in corpus:
        gold(tree)
    return {RELATIONS: tuple(sorted({relation for tree in corpus for relation in tree.deprels}))}


def network(model: LoadedModel, labels: Labels) -> nn.Module:
    return BiaffineParser(model, tuple(labels[RELATIONS]))


def encode(model: LoadedModel, corpus: Corpus[Tree], labels: Labels) -> list[Example]:
    """Sentences as windows, with the arrays `heads` and `relations`."""
    examples = encode_sentences(model, [tree.words for tree in corpus])
    return [add_arrays(example, tree_arrays(tree, labels)) for example, tree in zip(examples, corpus, strict=True)]


def loss(network: nn.Module, batch: Batch) -> Tensor:
    return parser_loss(cast(BiaffineParser, network), _scores(network, batch), batch)


@torch.no_grad()
def predict(network: nn.Module, batch: Batch, labels: Labels) -> list[list[Arc]]:
    return decode_predictions(cast(BiaffineParser, network), _scores(network, batch), batch, labels)


def entropy(network: nn.Module, batch: Batch) -> Tensor:
    """The mean entropy of the heads."""
    return mean_entropy(_scores(network, batch).arcs[batch.word_mask])


def _scores(network: nn.Module, batch: Batch) -> ParserScores:
    scores: ParserScores = network(**batch.inputs, places=batch.token_index, word_mask=batch.word_mask)
    return scores


def gold(tree: Tree) -> list[Arc]:
    """
    >>> from isogloss.corpora.kinds.treebank import Row
    >>> gold(Tree((), (Row("1", "Yes", "_", "INTJ", "_", "_", "0", "root", "_", "_"),)))
    [(0, 'root')]
    """
    for name, values in {"heads": [row.head for row in tree.nodes], "relations": tree.deprels}.items():
        if "_" in values:
            raise Unlabelled(f"sentence {tree.sent_id or tree.text!r}", name)
    return list(zip(tree.heads, tree.deprels, strict=True))


def annotate(tree: Tree, arcs: list[Arc]) -> Tree:
    return tree.with_nodes(head=[str(head) for head, _ in arcs], deprel=[relation for _, relation in arcs])


def tree_arrays(tree: Tree, labels: Labels) -> dict[str, list[int]]:
    """The arrays `heads` and `relations` of a tree; unknown ones do not enter the loss."""
    numbers = {relation: number for number, relation in enumerate(labels[RELATIONS])}
    heads = [int(row.head) if row.head != "_" else IGNORE_INDEX for row in tree.nodes]
    return {HEADS: heads, RELATIONS: [numbers.get(relation, IGNORE_INDEX) for relation in tree.deprels]}


def parser_loss(network: BiaffineScorer, scores: ParserScores, batch: Batch) -> Tensor:
    """Cross-entropy of the heads plus that of the relations given the gold heads, each the mean over words."""
    heads = batch.arrays[HEADS]
    relations = network.relations(scores, heads.clamp(min=0))
    arcs = mean_cross_entropy(scores.arcs, heads, batch.stack_size)
    return arcs + mean_cross_entropy(relations, batch.arrays[RELATIONS], batch.stack_size)


def decode_predictions(network: BiaffineScorer, scores: ParserScores, batch: Batch, labels: Labels) -> list[list[Arc]]:
    """The best tree of each sentence, as pairs of head and relation."""
    from isogloss.tasks.spanning_tree import decode_trees  # its compiler takes half a second to import

    lengths = batch.word_mask.sum(1).cpu().numpy()
    trees = decode_trees(scores.arcs.log_softmax(-1).cpu().numpy(), lengths)
    heads = torch.from_numpy(np.maximum(trees, 0)).to(scores.arcs.device)
    best = best_relations(network.relations(scores, heads), heads, labels).tolist()
    return [
        [(head, labels[RELATIONS][number]) for head, number in zip(tree[:length], row[:length], strict=True)]
        for tree, row, length in zip(trees.tolist(), best, lengths.tolist(), strict=True)
    ]


def best_relations(scores: Tensor, heads: Tensor, labels: Labels) -> Tensor:
    """The best relation of each word: `root` if the head is 0, and only then."""
    if ROOT not in labels[RELATIONS]:
        return scores.argmax(-1)
    root = labels[RELATIONS].index(ROOT)
    non_root = scores.index_fill(-1, torch.tensor([root], device=scores.device), float("-inf"))
    return non_root.argmax(-1).where(heads != 0, root)


def _bilstm_network(model: LoadedModel, labels: Labels) -> BilstmParser:
    body = cast(WordVectors, model.body)
    return BilstmParser(body, *vocabulary_sizes(labels), len(labels[RELATIONS]), len(labels.get(TAGS, ())))


def _bilstm_loss(network: nn.Module, batch: Batch) -> Tensor:
    """The loss of the trees plus that of the tags, which are predicted beside them and not used as inputs."""
    scores, tags = network(encoder_inputs(batch))
    tree_loss = parser_loss(cast(BilstmParser, network), scores, batch)
    return tree_loss if tags is None else tree_loss + mean_cross_entropy(tags, batch.arrays[TAGS])


@torch.no_grad()
def _predict_bilstm(network: nn.Module, batch: Batch, labels: Labels) -> list[list[Arc]]:
    scores, _ = network(encoder_inputs(batch))
    return decode_predictions(cast(BilstmParser, network), scores, batch, labels)


def _bilstm_arrays(tree: Tree, labels: Labels) -> dict[str, list[int]]:
    tags = {TAGS: tag_numbers(tree.upos, labels)} if TAGS in labels else {}
    return {**tree_arrays(tree, labels), **tags}


def _tag_labels(corpus: Corpus[Tree]) -> Labels:
    tags = {tag for tree in corpus for tag in tree.upos if tag != "_"}
    return {TAGS: tuple(sorted(tags))} if tags else {}


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
    entropy=entropy,
    gold=gold,
    annotate=annotate,
    bilstm=BilstmParts(
        BilstmDefaults(epochs=50, batch=32, learning_rate=3e-3),
        _bilstm_network,
        _bilstm_loss,
        _predict_bilstm,
        _bilstm_arrays,
        _tag_labels,
    ),
)
