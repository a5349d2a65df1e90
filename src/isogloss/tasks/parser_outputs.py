"""Losses and trees from the scores of a biaffine parser, whatever encodes the words."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from isogloss.corpora.kinds.treebank import Tree
from isogloss.metrics.attachment import Arc
from isogloss.models.heads.biaffine import BiaffineScorer, ParserScores
from isogloss.tasks.examples import IGNORE_INDEX, Batch
from isogloss.tasks.losses import mean_cross_entropy
from isogloss.tasks.task import Labels

HEADS, RELATIONS = "heads", "relations"
ROOT = "root"


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
