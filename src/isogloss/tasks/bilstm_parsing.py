"""Dependency parsing with the BiLSTM baseline; universal tags, if the treebank has them, are an auxiliary loss."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

import torch
from torch import Tensor, nn

from isogloss.corpora.corpus import Corpus
from isogloss.corpora.kinds.treebank import Tree
from isogloss.metrics.attachment import Arc
from isogloss.models.bilstm.baseline import WordVectors
from isogloss.models.bilstm.networks import BilstmParser
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.tasks.bilstm import BilstmDefaults, encoder_inputs, vocabulary_sizes
from isogloss.tasks.bilstm_tagging import tag_numbers
from isogloss.tasks.examples import Batch
from isogloss.tasks.losses import mean_cross_entropy
from isogloss.tasks.parser_outputs import RELATIONS, decode_predictions, parser_loss, tree_arrays
from isogloss.tasks.tagging import TAGS
from isogloss.tasks.task import BilstmParts, Labels


def _tag_labels(corpus: Corpus[Tree]) -> Labels:
    tags = {tag for tree in corpus for tag in tree.upos if tag != "_"}
    return {TAGS: tuple(sorted(tags))} if tags else {}


def _gold_arrays(tree: Tree, labels: Labels) -> Mapping[str, Sequence[int]]:
    tags = {TAGS: tag_numbers(tree.upos, labels)} if TAGS in labels else {}
    return {**tree_arrays(tree, labels), **tags}


def _network(model: LoadedModel, labels: Labels) -> BilstmParser:
    body = cast(WordVectors, model.body)
    return BilstmParser(body, *vocabulary_sizes(labels), len(labels[RELATIONS]), len(labels.get(TAGS, ())))


def _loss(network: nn.Module, batch: Batch) -> Tensor:
    """The loss of the trees plus that of the tags, which are predicted beside them and not used as inputs."""
    scores, tags = network(encoder_inputs(batch))
    loss = parser_loss(cast(BilstmParser, network), scores, batch)
    return loss if tags is None else loss + mean_cross_entropy(tags, batch.arrays[TAGS])


@torch.no_grad()
def _predict(network: nn.Module, batch: Batch, labels: Labels) -> list[list[Arc]]:
    scores, _ = network(encoder_inputs(batch))
    return decode_predictions(cast(BilstmParser, network), scores, batch, labels)


BILSTM_PARSER = BilstmParts(BilstmDefaults(50, 32, 3e-3), _network, _loss, _predict, _gold_arrays, _tag_labels)
