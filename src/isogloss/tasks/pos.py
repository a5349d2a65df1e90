"""Part-of-speech tagging: the universal tag (UPOS) of each syntactic word; accuracy over words.

A tag that training never saw cannot be predicted, so its words count as wrong.
"""

from __future__ import annotations

from isogloss.core.errors import UsageError
from isogloss.corpora.corpus import Corpus
from isogloss.corpora.kinds.treebank import Tree
from isogloss.metrics.tagging import tag_counts
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.tasks.bilstm import BilstmDefaults
from isogloss.tasks.bilstm_tagging import bilstm_tagger
from isogloss.tasks.examples import Example
from isogloss.tasks.tagging import encode_tagged, predict_tags, tag_entropy, tag_labels, tag_loss, tag_network
from isogloss.tasks.task import Labels, Metric, Task, TaskDefaults


def labels(corpus: Corpus[Tree]) -> Labels:
    return tag_labels((tree.upos for tree in corpus), corpus.origin or corpus.lang, "UPOS tags")


def encode(model: LoadedModel, corpus: Corpus[Tree], labels: Labels, subword: str = "first") -> list[Example]:
    return encode_tagged(model, [tree.words for tree in corpus], [tree.upos for tree in corpus], labels, subword)


def gold(tree: Tree) -> list[str]:
    """
    >>> from isogloss.corpora.kinds.treebank import Row
    >>> gold(Tree((), (Row("1", "Yes", "_", "INTJ", "_", "_", "0", "root", "_", "_"),)))
    ['INTJ']
    """
    if set(tree.upos) == {"_"}:
        raise UsageError(f"sentence {tree.sent_id or tree.text!r}: no UPOS tags to score against")
    return tree.upos


def annotate(tree: Tree, tags: list[str]) -> Tree:
    return tree.with_nodes(upos=tags)


TASK = Task(
    name="pos",
    summary="part-of-speech tags of words: accuracy",
    corpus="treebank",
    metrics={"accuracy": Metric(tag_counts, "accuracy")},
    defaults=TaskDefaults(epochs=6, batch=16, learning_rate=5e-5),
    labels=labels,
    network=tag_network,
    encode=encode,
    loss=tag_loss,
    predict=predict_tags,
    entropy=tag_entropy,
    gold=gold,
    annotate=annotate,
    bilstm=bilstm_tagger(BilstmDefaults(30, 32, 3e-3), lambda tree: tree.upos),
)
