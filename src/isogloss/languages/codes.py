"""Language codes: one spelling per language, and the code a file name carries.

Codes are BCP-47 as `langcodes` standardises them, members of a macro-language folded into it
(`eng` → `en`, `cmn` → `zh`, `arb` → `ar`), so that corpora from different sources meet.
"""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path

import langcodes

UNKNOWN = "und"  # BCP-47's own word for "undetermined"

# Naming habits of the data sets of this field; the first group is the language.
FILE_NAMES = [
    re.compile(pattern)
    for pattern in (
        r"^([a-z]{2,3})_[a-z]+-ud-(?:train|dev|test)",  # en_ewt-ud-train.conllu
        r"^([a-z]{2,3})-ud-(?:train|dev|test)",  # ar-ud-dev.conllu
        r"context-([a-z]{2,3})-question-",  # MLQA: the paragraph's language
        r"^tatoeba\.[a-z]{3}-eng\.([a-z]{3})$",
        r"^(?:xquad|tydiqa\.goldp)\.([a-z]{2,3})\.",
        r"^(?:train|dev|test|valid|validation)[-_.]([a-z]{2,3})(?:\.|$)",  # PAN-X, XNLI
        r"^([a-z]{2,3})[-_.](?:train|dev|test|valid|validation)(?:\.|$)",
        r"^([a-z]{3})-[a-z]{3}[A-Za-z0-9]*$",  # eBible: wol-wolKYG
        r"^([a-z]{2,3})$",  # raw/en.txt
        r"\.([a-z]{2,3})$",  # Moses pairs: corpus.en-fr.fr
    )
]


@cache
def canonical(code: str) -> str:
    """The one spelling of a language code.

    >>> canonical("eng"), canonical("cmn"), canonical("ckb")
    ('en', 'zh', 'ckb')
    """
    try:
        return langcodes.standardize_tag(code, macro=True)
    except langcodes.LanguageTagError:
        return code


def language_of_path(path: str | os.PathLike[str]) -> str:
    """The language a file's name (or its folder's) declares, or `und`.

    >>> language_of_path("ud/en_ewt-ud-train.conllu.xz"), language_of_path("masakhaner/bam/train.txt")
    ('en', 'bm')
    """
    path = Path(path)
    stem = re.sub(r"(?:\.(?:gz|xz|bz2|conllu|tsv|csv|txt|json|jsonl))+$", "", path.name)
    for pattern in FILE_NAMES:
        if (match := pattern.search(stem)) and _is_language(match[1]):
            return canonical(match[1])
    folder = path.parent.name
    return canonical(folder) if re.fullmatch(r"[a-z]{2,3}", folder) and _is_language(folder) else UNKNOWN


@cache
def _is_language(code: str) -> bool:
    """Registered codes only, and no word that file names use for something else ("dev" is Domung)."""
    return langcodes.tag_is_valid(code) and code not in {"dev", "src", "tgt", "ref", "raw", "all", "out", "new", "tmp"}
