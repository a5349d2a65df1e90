"""The public readers: one function per kind of corpus, and reading a file of any kind.

Readers also accept names of Hugging Face datasets (`hub:…`), described in `isogloss.corpora.hub`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from isogloss.core.errors import UsageError
from isogloss.corpora import bitext_files, hub, parallel_files
from isogloss.corpora.corpus import AnyCorpus, Corpus, Format, read_corpus
from isogloss.corpora.formats import FORMATS, detect_format, formats_of, text
from isogloss.corpora.formats.pharaoh import pharaoh
from isogloss.corpora.kinds import KINDS
from isogloss.corpora.kinds.alignment import Alignment
from isogloss.corpora.kinds.bitext import AlignedPair
from isogloss.corpora.kinds.lexicon import Entry
from isogloss.corpora.kinds.ner import NerSentence
from isogloss.corpora.kinds.nli import NliPair
from isogloss.corpora.kinds.qa import Question
from isogloss.corpora.kinds.treebank import Tree
from isogloss.corpora.parallel import ParallelSet
from isogloss.languages.codes import UNKNOWN, pair_code, pair_of_path

T = TypeVar("T")


def read_treebank(path: str | os.PathLike[str], *, lang: str | None = None, repair: bool = False) -> Corpus[Tree]:
    """A CoNLL-U file (`.gz`, `.xz`, `.bz2` too). `bank.write(path)` gives the same bytes back."""
    return read_kind(path, "treebank", lang=lang, repair=repair)


def read_ner(
    path: str | os.PathLike[str], *, lang: str | None = None, repair: bool = False, format: str | None = None
) -> Corpus[NerSentence]:
    """Named entities in columns; `tags` are BIO whatever the file's scheme, and None where it has no tags.

    `format` is found out if not given: "panx", "ner-tsv", "ner-space" or "conll2003".
    """
    return read_kind(path, "ner", format, lang=lang, repair=repair)


def read_nli(
    path: str | os.PathLike[str], *, lang: str | None = None, repair: bool = False, format: str | None = None
) -> Corpus[NliPair]:
    """Inference pairs; `label` is None where there is no gold label. `lang` chooses from XNLI's official files.

    `format` is found out if not given: "xnli", "nli-tsv", "nli-jsonl" or "snli-numbered".
    """
    return read_kind(path, "nli", format, lang=lang, repair=repair)


def read_qa(path: str | os.PathLike[str], *, lang: str | None = None, repair: bool = False) -> Corpus[Question]:
    """Questions of a SQuAD file with their paragraphs; every answer is checked to stand where the file says."""
    return read_kind(path, "qa", lang=lang, repair=repair)


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
    return _read(path, pharaoh(base), lang, repair)


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
        return bitext_files.aligned(sentences, Path(alignment), base=base, repair=repair)
    if isinstance(source, ParallelSet):
        raise UsageError("a parallel set has no word links; give the file of its alignment")
    if Path(source).is_dir():
        return _of_pair(bitext_files.read_folder(Path(source), repair), lang)
    return read_kind(source, "bitext", lang=lang, repair=repair)


def read_lexicon(path: str | os.PathLike[str], *, lang: str | None = None, repair: bool = False) -> Corpus[Entry]:
    """A bilingual lexicon, one `source<TAB>target` a line; `lang` such as "en>ru" where the file name has none."""
    return read_kind(path, "lexicon", lang=lang, repair=repair)


def read_text(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], *, lang: str | None = None, repair: bool = False
) -> Corpus[str]:
    """Raw text of a file, of several, or of a folder: one sentence or paragraph a line, empty lines skipped."""
    if isinstance(path, (str, os.PathLike)):
        return read_kind(path, "text", lang=lang, repair=repair)
    return text.read_several(path, lang=lang, repair=repair)


def read_kind(
    path: str | os.PathLike[str], kind: str, format: str | None = None, *, lang: str | None = None, repair: bool = False
) -> AnyCorpus:
    """A corpus of one of the `KINDS`, from a file or from the Hugging Face hub.

    Without `format`, the format is detected if the kind has several.
    """
    if hub.is_hub(path):
        return KINDS[kind].after_reading(hub.read(str(path), kind, lang=lang, repair=repair))
    if format and FORMATS[format].kind != kind:
        raise UsageError(f"the format '{format}' is for {FORMATS[format].kind}, not {kind}")
    known = formats_of(kind)
    chosen = FORMATS[format] if format else known[0] if len(known) == 1 else detect_format(path, kind)
    return _read(path, chosen, lang, repair)


def read_file(
    path: str | os.PathLike[str], format: str | None = None, *, lang: str | None = None, repair: bool = False
) -> AnyCorpus:
    """A corpus file of any kind; the format is detected if it is not named."""
    return _read(path, FORMATS[format] if format else detect_format(path), lang, repair)


def _read(path: str | os.PathLike[str], format: Format[T], lang: str | None, repair: bool) -> Corpus[T]:
    kind = KINDS[format.kind]
    if kind.is_language_pair:
        return _of_pair(read_corpus(path, format, repair=repair), lang)
    return kind.after_reading(read_corpus(path, format, lang=lang, repair=repair))


def _of_pair(corpus: Corpus[T], lang: str | None) -> Corpus[T]:
    """The corpus with the code of its language pair: `lang` ("en>fr"), or the pair that the file name states."""
    pair = tuple(lang.split(">")) if lang else pair_of_path(corpus.origin)
    if lang and len(pair or ()) != 2:
        raise UsageError(f"a language pair is written 'en>fr', not '{lang}'")
    return replace(corpus, lang=pair_code(*pair) if pair else UNKNOWN)
