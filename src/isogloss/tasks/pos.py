"""Part-of-speech tagging: the universal tag (UPOS) of each syntactic word; accuracy over words.

A tag that training never saw cannot be predicted, so its words count as wrong.
"""

from __future__ import annotations

from isogloss.corpora.kinds.treebank import Tree
from isogloss.metrics.tagging import tag_counts
from isogloss.tasks.bilstm import BilstmDefaults
from isogloss.tasks.tagging import tagging_task
from isogloss.tasks.task import Metric, TaskDefaults, Unlabelled


def gold(tree: Tree) -> list[str]:
    """
    >>> from isogloss.corpora.kinds.treebank import Row
    >>> gold(Tree((), (Row("1", "Yes", "_", "INTJ", "_", "_", "0", "root", "_", "_"),)))
    ['INTJ']
    """
    if "_" in (tags := tree.upos):
        missing = "UPOS tags" if set(tags) == {"_"} else f"UPOS tag for {tags.count('_')} of {len(tags)} words"
        raise Unlabelled(f"sentence {tree.sent_id or tree.text!r}", missing)
    return tags


TASK = tagging_task(
    name="pos",
    summary="part-of-speech tags of words: accuracy",
    corpus="treebank",
    metrics={"accuracy": Metric(tag_counts, "accuracy")},
    defaults=TaskDefaults(epochs=6, batch=16, learning_rate=5e-5),
    tags=lambda tree: tree.upos,
    tag_name="UPOS tags",
    gold=gold,
    annotate=lambda tree, tags: tree.with_nodes(upos=tags),
    bilstm=BilstmDefaults(epochs=30, batch=32, learning_rate=3e-3),
)
