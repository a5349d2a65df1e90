"""Language codes: one canonical code per language, and the language that a file name states.

Codes are BCP-47 as standardised by `langcodes`: the shortest code of a language (`eng` → `en`, `kur` → `ku`). The
languages of a macro-language are kept apart (`kmr`, `ckb` and `ku` are three codes), with one exception: where the code
of the macro-language is in common use for one standard language, that language gets it (`STANDARD_LANGUAGES`:
`cmn` → `zh`, `arb` → `ar`), so that corpora from different sources agree.
"""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path

import langcodes

UNKNOWN = "und"  # "undetermined" in BCP-47

# the language that UD treebanks, Wikipedias and model cards mean by the code of the macro-language
STANDARD_LANGUAGES = {
    "als": "sq", "arb": "ar", "azj": "az", "cmn": "zh", "ekk": "et", "khk": "mn", "lvs": "lv", "npi": "ne",
    "ory": "or", "pes": "fa", "plt": "mg", "swh": "sw", "uzn": "uz", "ydd": "yi", "zsm": "ms",
}  # fmt: skip

# file names of common datasets; the first group is the language
FILE_NAMES = (
    r"^([a-z]{2,3})_[a-z]+-ud-(?:train|dev|test)",  # en_ewt-ud-train.conllu
    r"^([a-z]{2,3})-ud-(?:train|dev|test)",  # ar-ud-dev.conllu
    r"context-([a-z]{2,3})-question-",  # MLQA: the language of the paragraph
    r"^tatoeba\.[a-z]{3}-eng\.([a-z]{3})$",
    r"^(?:xquad|tydiqa\.goldp)\.([a-z]{2,3})\.",
    r"^(?:train|dev|test|valid|validation)[-_.]([a-z]{2,3})(?:\.|$)",  # PAN-X, XNLI
    r"^([a-z]{2,3})[-_.](?:train|dev|test|valid|validation)(?:\.|$)",
    r"^([a-z]{3})-[a-z]{3}[A-Za-z0-9]*$",  # eBible: wol-wolKYG
    r"^([a-z]{2,3})$",  # raw/en.txt
    r"\.([a-z]{2,3})$",  # Moses pairs: corpus.en-fr.fr
)
PAIR_NAMES = (
    r"(?:^|\.)([a-z]{2,3})[-_]([a-z]{2,3})(?:\.|$)",  # eng-rus.tsv, corpus.en-fr.en, the folder en-es
    r"^([a-z]{2})([a-z]{2})\.(?:gold|src-tgt)$",  # the gold alignments of awesome-align: enfr.gold
)

# valid codes that are usually other words in file names
NOT_LANGUAGES = {
    "all", "bin", "bpe", "cfg", "csv", "dep", "dev", "doc", "ext", "ids", "lab", "lex", "log", "low", "map", "mix",
    "mod", "ner", "new", "nli", "old", "par", "pos", "raw", "res", "run", "seg", "set", "src", "sub", "sys", "tag",
    "tgt", "tmp", "toy", "tsv", "txt", "vec", "xml",
}  # fmt: skip


@cache
def canonical(code: str) -> str:
    """The canonical form of a language code.

    >>> canonical("eng"), canonical("cmn"), canonical("kmr")
    ('en', 'zh', 'kmr')
    """
    try:
        language, *rest = langcodes.standardize_tag(code).split("-")
    except langcodes.LanguageTagError:
        return code
    return "-".join([STANDARD_LANGUAGES.get(language, language), *rest])


def pair_code(source: str, target: str) -> str:
    """The code of a language pair; with `>` because `en-ru` means English of Russia.

    >>> pair_code("eng", "rus")
    'en>ru'
    """
    return f"{canonical(source)}>{canonical(target)}"


def pair_of_path(path: str | os.PathLike[str]) -> tuple[str, str] | None:
    """The language pair that the name of a file or of its folder states.

    >>> pair_of_path("lexicons/eng-rus.tsv.xz"), pair_of_path("pud/en-fr/alignment.json")
    (('en', 'ru'), ('en', 'fr'))
    """
    path = Path(path)
    for name in (_stem(path), path.parent.name):
        for pattern in PAIR_NAMES:
            if (match := re.search(pattern, name)) and is_language(match[1]) and is_language(match[2]):
                return canonical(match[1]), canonical(match[2])
    return None


def language_of_path(path: str | os.PathLike[str]) -> str:
    """The language that the name of a file or of its folder states, or `und`.

    >>> language_of_path("ud/en_ewt-ud-train.conllu.xz"), language_of_path("masakhaner/bam/train.txt")
    ('en', 'bm')
    """
    path = Path(path)
    for pattern in FILE_NAMES:
        if (match := re.search(pattern, _stem(path))) and is_language(match[1]):
            return canonical(match[1])
    folder = path.parent.name
    return canonical(folder) if re.fullmatch(r"[a-z]{2,3}", folder) and is_language(folder) else UNKNOWN


def _stem(path: Path) -> str:
    """The file name without suffixes of compression and format."""
    return re.sub(r"(?:\.(?:gz|xz|bz2|conllu|tsv|csv|txt|json|jsonl))+$", "", path.name)


@cache
def is_language(code: str) -> bool:
    """Whether this is a registered code, and not a common word in file names.

    >>> is_language("wol"), is_language("dev")
    (True, False)
    """
    return langcodes.tag_is_valid(code) and code not in NOT_LANGUAGES
