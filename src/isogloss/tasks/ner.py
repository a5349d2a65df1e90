"""Named entities as BIO tags: F1 over entities, and over single tokens.

Each word takes its most probable tag. Sequences that BIO does not allow (`O I-PER`) are left as predicted: the
metrics read them as the CoNLL script does, an `I-` that continues nothing begins an entity.
"""

from __future__ import annotations

from isogloss.core.errors import shown
from isogloss.corpora.kinds.ner import NerSentence
from isogloss.metrics.spans import span_counts, token_counts
from isogloss.tasks.bilstm import BilstmDefaults
from isogloss.tasks.tagging import tagging_task
from isogloss.tasks.task import Metric, TaskDefaults, Unlabelled


def gold(sentence: NerSentence) -> list[str]:
    """
    >>> gold(NerSentence((("Marie", "I-PER"), ("Curie", "I-PER"))))
    ['B-PER', 'I-PER']
    """
    tags = sentence.tags
    if tags is None:
        raise Unlabelled(f"sentence {shown(' '.join(sentence.words))}", "entity tags")
    return tags


TASK = tagging_task(
    name="ner",
    summary="named entities in BIO: F1 of whole entities, micro F1 of tokens",
    corpus="ner",
    metrics={"f1": Metric(span_counts, "f1"), "token_f1": Metric(token_counts, "f1")},
    defaults=TaskDefaults(epochs=6, batch=16, learning_rate=3.5e-5),
    tags=lambda sentence: sentence.tags,
    tag_name="entity tags",
    gold=gold,
    annotate=NerSentence.with_tags,
    bilstm=BilstmDefaults(epochs=30, batch=32, learning_rate=2e-3),
    crf=True,
)
