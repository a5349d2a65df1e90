"""The kinds of corpora by name.

To add a kind: write one module with its items and a `CorpusKind`, and add one line to `KINDS`.
"""

from __future__ import annotations

from typing import Any

from isogloss.core.registry import Registry
from isogloss.corpora.kinds.kind import CorpusKind

KINDS: Registry[CorpusKind[Any]] = Registry(
    "kind of corpus",
    {
        "treebank": "isogloss.corpora.kinds.treebank:TREEBANK",
        "ner": "isogloss.corpora.kinds.ner:NER",
        "nli": "isogloss.corpora.kinds.nli:NLI",
        "qa": "isogloss.corpora.kinds.qa:QA",
        "parallel": "isogloss.corpora.kinds.parallel:PARALLEL",
        "alignment": "isogloss.corpora.kinds.alignment:ALIGNMENT",
        "bitext": "isogloss.corpora.kinds.bitext:BITEXT",
        "lexicon": "isogloss.corpora.kinds.lexicon:LEXICON",
        "text": "isogloss.corpora.kinds.text:TEXT",
    },
)
