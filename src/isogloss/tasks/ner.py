"""Named entities as BIO tags: F1 over entities, and over single tokens.

Each word takes its most probable tag. Sequences that BIO does not allow (`O I-PER`) are left as predicted: the
metrics read them as the CoNLL script does, an `I-` that continues nothing begins an entity.
"""

from __future__ import annotations

from isogloss.core.errors import UsageError, shown
from isogloss.corpora.corpus import Corpus
from isogloss.corpora.kinds.ner import NerSentence
from isogloss.metrics.spans import span_counts, token_counts
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.tasks.bilstm import BilstmDefaults
from isogloss.tasks.bilstm_tagging import bilstm_tagger
from isogloss.tasks.examples import Example
from isogloss.tasks.tagging import encode_tagged, predict_tags, tag_entropy, tag_labels, tag_loss, tag_network
from isogloss.tasks.task import Labels, Metric, Task, TaskDefaults


def labels(corpus: Corpus[NerSentence]) -> Labels:
    return tag_labels((sentence.tags for sentence in corpus), corpus.origin or corpus.lang, "entity tags")


def encode(model: LoadedModel, corpus: Corpus[NerSentence], labels: Labels, subword: str = "first") -> list[Example]:
    words, tags = [sentence.words for sentence in corpus], [sentence.tags for sentence in corpus]
    return encode_tagged(model, words, tags, labels, subword)


def gold(sentence: NerSentence) -> list[str]:
    """
    >>> gold(NerSentence((("Marie", "I-PER"), ("Curie", "I-PER"))))
    ['B-PER', 'I-PER']
    """
    tags = sentence.tags
    if tags is None:
        raise UsageError(f"sentence {shown(' '.join(sentence.words))}: no entity tags to score against")
    return tags


def annotate(sentence: NerSentence, tags: list[str]) -> NerSentence:
    return sentence.with_tags(tags)


TASK = Task(
    name="ner",
    summary="named entities in BIO: F1 of whole entities, micro F1 of tokens",
    corpus="ner",
    metrics={"f1": Metric(span_counts, "f1"), "token_f1": Metric(token_counts, "f1")},
    defaults=TaskDefaults(epochs=6, batch=16, learning_rate=3.5e-5),
    labels=labels,
    network=tag_network,
    encode=encode,
    loss=tag_loss,
    predict=predict_tags,
    entropy=tag_entropy,
    gold=gold,
    annotate=annotate,
    bilstm=bilstm_tagger(BilstmDefaults(30, 32, 2e-3), lambda sentence: sentence.tags, crf=True),
)
