"""Every corpus format by name, the public readers, and finding out what a file is.

To add a format: write one module that defines its items and a `Format`, and add one line to `FORMATS`.
"""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path
from typing import Any

from isogloss.core.errors import InputError
from isogloss.core.files import Repairs, bare_suffix, read_lines
from isogloss.core.registry import Registry
from isogloss.corpora.conllu import Tree
from isogloss.corpora.corpus import Corpus, Format, read_corpus

FORMATS: Registry[Format[Any]] = Registry(
    "format",
    {
        "conllu": "isogloss.corpora.conllu:FORMAT",
    },
)


def read_treebank(path: str | os.PathLike[str], *, lang: str | None = None, repair: bool = False) -> Corpus[Tree]:
    """A CoNLL-U file (`.gz`, `.xz`, `.bz2` too). `bank.write(path)` gives the same bytes back."""
    return read_corpus(path, FORMATS["conllu"], lang=lang, repair=repair)


def detect_format(path: str | os.PathLike[str], kind: str | None = None) -> Format[Any]:
    """The format a file is in, from its suffix and first lines; of one `kind` only if given."""
    head = list(islice(read_lines(path, Repairs(allowed=True)), 50))
    if not head:
        raise InputError(path, "a corpus", "an empty file")
    for name in FORMATS:
        format = FORMATS[name]
        if kind in (None, format.kind) and format.recognise(bare_suffix(path), head):
            return format
    known = ", ".join(name for name in FORMATS if kind in (None, FORMATS[name].kind))
    raise InputError(Path(path), f"one of the formats {known}", "none of them", advice="name it with --format")
