"""Every corpus format by name, the public readers, and finding out what a file is.

To add a format: write one module that defines its items and a `Format`, and add one line to `FORMATS`.
Readers take `hub:` names too, as `isogloss.corpora.hub` describes them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from isogloss.core.errors import InputError, UsageError
from isogloss.core.files import bare_suffix, read_head
from isogloss.core.registry import Registry
from isogloss.corpora import bitext, hub, parallel_files, raw
from isogloss.corpora.alignment import Alignment, pharaoh
from isogloss.corpora.bitext import AlignedPair
from isogloss.corpora.columns import NerSentence
from isogloss.corpora.conllu import Tree
from isogloss.corpora.corpus import AnyCorpus, Corpus, Format, read_corpus
from isogloss.corpora.lexicon import Entry
from isogloss.corpora.nli import NliPair
from isogloss.corpora.parallel import ParallelSet
from isogloss.corpora.questions import Question, in_languages
from isogloss.languages.codes import UNKNOWN, pair_code, pair_of_path

T = TypeVar("T")

FORMATS: Registry[Format[Any]] = Registry(
    "format",
    {
        "conllu": "isogloss.corpora.conllu:FORMAT",
        "panx": "isogloss.corpora.columns:PANX",
        "ner-tsv": "isogloss.corpora.columns:NER_TSV",
        "ner-space": "isogloss.corpora.columns:NER_SPACE",
        "conll2003": "isogloss.corpora.columns:CONLL2003",
        "xnli": "isogloss.corpora.nli_formats:XNLI",
        "nli-jsonl": "isogloss.corpora.nli_formats:JSONL",
        "snli-numbered": "isogloss.corpora.nli_formats:NUMBERED",
        "squad": "isogloss.corpora.squad:FORMAT",
        "parallel-tsv": "isogloss.corpora.parallel_formats:TSV",
        "fast-align": "isogloss.corpora.parallel_formats:FAST_ALIGN",
        "pharaoh": "isogloss.corpora.alignment:FROM_ZERO",
        "pharaoh-1": "isogloss.corpora.alignment:FROM_ONE",
        "aligned-jsonl": "isogloss.corpora.bitext:FORMAT",
        "lexicon": "isogloss.corpora.lexicon:FORMAT",
        "nli-tsv": "isogloss.corpora.nli_formats:TSV",  # below the lexicon: two columns may be either
        "text": "isogloss.corpora.raw:FORMAT",
    },
)

OF_PAIRS = ("parallel", "alignment", "bitext", "lexicon")  # kinds whose language is a pair of languages


def read_treebank(path: str | os.PathLike[str], *, lang: str | None = None, repair: bool = False) -> Corpus[Tree]:
    """A CoNLL-U file (`.gz`, `.xz`, `.bz2` too). `bank.write(path)` gives the same bytes back."""
    return _read(path, "treebank", "conllu", lang=lang, repair=repair)


def read_ner(
    path: str | os.PathLike[str], *, lang: str | None = None, repair: bool = False, format: str | None = None
) -> Corpus[NerSentence]:
    """Named entities in columns; `tags` are BIO whatever the file's scheme, and None where it has no tags.

    `format` is found out if not given: "panx", "ner-tsv", "ner-space" or "conll2003".
    """
    return _read(path, "ner", format, lang=lang, repair=repair)


def read_nli(
    path: str | os.PathLike[str], *, lang: str | None = None, repair: bool = False, format: str | None = None
) -> Corpus[NliPair]:
    """Inference pairs; `label` is None where there is no gold label. `lang` chooses from XNLI's official files.

    `format` is found out if not given: "xnli", "nli-tsv", "nli-jsonl" or "snli-numbered".
    """
    return _read(path, "nli", format, lang=lang, repair=repair)


def read_qa(path: str | os.PathLike[str], *, lang: str | None = None, repair: bool = False) -> Corpus[Question]:
    """Questions of a SQuAD file with their paragraphs; every answer is checked to stand where the file says."""
    return in_languages(_read(path, "qa", "squad", lang=lang, repair=repair))


def read_parallel(
    source: str | os.PathLike[str] | Mapping[str, str | os.PathLike[str]] | Sequence[str | os.PathLike[str]],
    *,
    languages: Sequence[str] | None = None,
    verses: str | os.PathLike[str] | None = None,
    words: bool = False,
    repair: bool = False,
) -> ParallelSet:
    """The same sentences in several languages.

    `source` is a file per language (`{"en": "en.txt", "fr": "fr.txt"}`, or a list whose names declare their
    languages), one file that holds all (TSV, `source ||| target`), or the common start of such names
    (`corpus.en-fr` for `corpus.en-fr.en` and `.fr`). Treebanks are joined by sentence id; eBible's files by
    verse, with the list `verses` (found as `vref.txt` beside them). `words=True` splits tokenised text.
    """
    if hub.is_hub(source):
        return hub.read_parallel(str(source), languages=languages, words=words)
    if isinstance(source, (str, os.PathLike)):
        if Path(source).exists():
            return parallel_files.read_file(Path(source), languages=languages, words=words, repair=repair)
        source = parallel_files.moses_pair(Path(source))
    files = source if isinstance(source, Mapping) else parallel_files.by_name(source)
    return parallel_files.read_files(files, verses=Path(verses) if verses else None, words=words, repair=repair)


def read_alignment(
    path: str | os.PathLike[str], *, base: int = 0, lang: str | None = None, repair: bool = False
) -> Corpus[Alignment]:
    """A Pharaoh file whose words are counted from `base`; `read_bitext` joins it with its sentences."""
    return _of_pair(read_corpus(path, pharaoh(base), repair=repair), lang)


def read_bitext(
    source: str | os.PathLike[str] | ParallelSet,
    alignment: str | os.PathLike[str] | None = None,
    *,
    base: int | None = 0,
    lang: str | None = None,
    repair: bool = False,
) -> Corpus[AlignedPair]:
    """Word-aligned sentence pairs: JSON lines, a folder of aligned treebanks, or parallel text with a Pharaoh file.

    `base=None` finds out from the sentences whether the Pharaoh file counts from 0 or from 1.
    """
    if alignment is not None:
        sentences = source if isinstance(source, ParallelSet) else read_parallel(source, words=True, repair=repair)
        return bitext.aligned(sentences, Path(alignment), base=base, repair=repair)
    if isinstance(source, ParallelSet):
        raise UsageError("a parallel set has no word links; give the file of its alignment")
    if Path(source).is_dir():
        return _of_pair(bitext.read_folder(Path(source), repair), lang)
    return _of_pair(read_corpus(source, bitext.FORMAT, repair=repair), lang)


def read_lexicon(path: str | os.PathLike[str], *, lang: str | None = None, repair: bool = False) -> Corpus[Entry]:
    """A bilingual lexicon, one `source<TAB>target` a line; `lang` such as "en>ru" where the file name has none."""
    return _of_pair(read_corpus(path, FORMATS["lexicon"], repair=repair), lang)


def read_text(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], *, lang: str | None = None, repair: bool = False
) -> Corpus[str]:
    """Raw text of a file, of several, or of a folder: one sentence or paragraph a line, empty lines skipped."""
    if hub.is_hub(path):
        return hub.read(str(path), "text", lang=lang, repair=repair)
    return raw.read([path] if isinstance(path, (str, os.PathLike)) else path, lang=lang, repair=repair)


def read_file(
    path: str | os.PathLike[str], format: str | None = None, *, lang: str | None = None, repair: bool = False
) -> AnyCorpus:
    """A corpus file of any kind, in the format named or found out."""
    chosen = FORMATS[format] if format else detect_format(path)
    if chosen.kind in OF_PAIRS:
        return _of_pair(read_corpus(path, chosen, repair=repair), lang)
    return read_corpus(path, chosen, lang=lang, repair=repair)


def _of_pair(corpus: Corpus[T], lang: str | None) -> Corpus[T]:
    """The corpus under the code of its language pair: as given ("en>fr"), or as its file's name declares."""
    pair = tuple(lang.split(">")) if lang else pair_of_path(corpus.origin)
    if lang and len(pair or ()) != 2:
        raise UsageError(f"a language pair is written 'en>fr', not '{lang}'")
    return replace(corpus, lang=pair_code(*pair) if pair else UNKNOWN)


def _read(path: str | os.PathLike[str], kind: str, format: str | None, *, lang: str | None, repair: bool) -> AnyCorpus:
    if hub.is_hub(path):
        return hub.read(str(path), kind, lang=lang, repair=repair)
    return read_corpus(path, _format_of(path, kind, format), lang=lang, repair=repair)


def _format_of(path: str | os.PathLike[str], kind: str, name: str | None) -> Format[Any]:
    if name is None:
        return detect_format(path, kind)
    if FORMATS[name].kind != kind:
        raise UsageError(f"the format '{name}' is for {FORMATS[name].kind}, not {kind}")
    return FORMATS[name]


def detect_format(path: str | os.PathLike[str], kind: str | None = None) -> Format[Any]:
    """The format a file is in, from its suffix and first lines; of one `kind` only if given."""
    head = read_head(path)
    if bare_suffix(path) in (".yaml", ".yml"):
        raise InputError(path, "a corpus", "a YAML file; `isogloss run` does studies")
    if not head:
        raise InputError(path, "a corpus", "an empty file")
    for name in FORMATS:
        format = FORMATS[name]
        if kind in (None, format.kind) and format.recognise(bare_suffix(path), head):
            return format
    known = ", ".join(name for name in FORMATS if kind in (None, FORMATS[name].kind))
    raise InputError(Path(path), f"one of the formats {known}", "none of them", advice="name it with --format")
