"""Every corpus format by name, and detection of the format of a file.

To add a format: write one module with a `Format`, and add one line to `FORMATS`. Detection tries them in this order.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from isogloss.core.errors import InputError
from isogloss.core.files import bare_suffix, read_head
from isogloss.core.registry import Registry
from isogloss.corpora.corpus import FilePath, Format

FORMATS: Registry[Format[Any]] = Registry(
    "format",
    {
        "conllu": "isogloss.corpora.formats.conllu:FORMAT",
        "panx": "isogloss.corpora.formats.ner_columns:PANX",
        "ner-tsv": "isogloss.corpora.formats.ner_columns:NER_TSV",
        "ner-space": "isogloss.corpora.formats.ner_columns:NER_SPACE",
        "conll2003": "isogloss.corpora.formats.ner_columns:CONLL2003",
        "xnli": "isogloss.corpora.formats.nli:XNLI",
        "nli-jsonl": "isogloss.corpora.formats.nli:JSONL",
        "premise-jsonl": "isogloss.corpora.formats.nli:PREMISE_JSONL",
        "snli-numbered": "isogloss.corpora.formats.nli:NUMBERED",
        "squad": "isogloss.corpora.formats.squad:FORMAT",
        "parallel-tsv": "isogloss.corpora.formats.parallel:TSV",
        "fast-align": "isogloss.corpora.formats.parallel:FAST_ALIGN",
        "pharaoh": "isogloss.corpora.formats.pharaoh:FROM_ZERO",
        "pharaoh-1": "isogloss.corpora.formats.pharaoh:FROM_ONE",
        "aligned-jsonl": "isogloss.corpora.formats.aligned_jsonl:FORMAT",
        "lexicon": "isogloss.corpora.formats.lexicon:FORMAT",
        "nli-tsv": "isogloss.corpora.formats.nli:TSV",  # after the lexicon: two columns may be either
        "text": "isogloss.corpora.formats.text:FORMAT",
    },
)


def formats_of(kind: str | None = None) -> list[Format[Any]]:
    """The formats of one kind of corpus, or all of them."""
    return [format for format in FORMATS.values() if kind in (None, format.kind)]


def detect_format(path: FilePath, kind: str | None = None) -> Format[Any]:
    """The format of a file, from its suffix and its first lines; only formats of `kind` where it is given."""
    head = read_head(path)
    if bare_suffix(path) in (".yaml", ".yml"):
        raise InputError(path, "a corpus", "a YAML file; `isogloss run` does studies")
    if not head:
        raise InputError(path, "a corpus", "an empty file")
    for format in formats_of(kind):
        if format.recognise(bare_suffix(path), head):
            return format
    names = ", ".join(format.name for format in formats_of(kind))
    advice = "name it: --format NAME, or NAME:FILE in a study"
    raise InputError(Path(path), f"one of the formats {names}", "none of them", advice=advice)
