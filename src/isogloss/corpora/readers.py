"""The public readers: one function per kind of corpus, and reading a file of any kind.

Without `repair`, an invalid item raises `InputError`. Names of datasets (`hub:…`): see `isogloss.corpora.hub`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from isogloss.core.errors import UsageError
from isogloss.core.files import Repairs
from isogloss.corpora import bitext_files, hub, parallel_files
from isogloss.corpora.corpus import AnyCorpus, Corpus, FilePath, Format, read_corpus
from isogloss.corpora.formats import FORMATS, detect_format, formats_of, text
from isogloss.corpora.formats.pharaoh import detect_base, pharaoh
from isogloss.corpora.kinds import KINDS
from isogloss.corpora.kinds.alignment import Alignment
from isogloss.corpora.kinds.bitext import AlignedPair
from isogloss.corpora.kinds.lexicon import Entry
from isogloss.corpora.kinds.ner import NerSentence
from isogloss.corpora.kinds.nli import NliPair
from isogloss.corpora.kinds.qa import Question
from isogloss.corpora.kinds.treebank import Tree
from isogloss.corpora.parallel import ParallelSet
from isogloss.languages.checks import check_language
from isogloss.languages.codes import UNKNOWN, pair_code, pair_of_path

T = TypeVar("T")


def read_treebank(path: FilePath, *, lang: str | None = None, repair: bool = False) -> Corpus[Tree]:
    """Read a treebank in CoNLL-U. `bank.write(path)` writes the same bytes.

    `path`: a file (also `.gz`, `.xz`, `.bz2`) or `hub:…`. `lang`: language code, by default from the file name.
    `repair`: skip invalid sentences and list them in `bank.repairs`.
    """
    return read_kind(path, "treebank", lang=lang, repair=repair)


def read_ner(
    path: FilePath, *, lang: str | None = None, repair: bool = False, format: str | None = None
) -> Corpus[NerSentence]:
    """Read named entities in columns. `tags` are always BIO, and None if the file has no tags.

    `path`, `lang`, `repair`: as for `read_treebank`. `format`: "panx", "ner-tsv", "ner-space" or "conll2003"; detected
    if not given.
    """
    return read_kind(path, "ner", format, lang=lang, repair=repair)


def read_nli(
    path: FilePath, *, lang: str | None = None, repair: bool = False, format: str | None = None
) -> Corpus[NliPair]:
    """Read inference pairs. `label` is None for pairs without a gold label.

    `path`, `repair`: as for `read_treebank`. `lang`: language code; selects one language of XNLI's official files.
    `format`: "xnli", "nli-tsv", "nli-jsonl", "premise-jsonl" or "snli-numbered"; detected if not given.
    """
    return read_kind(path, "nli", format, lang=lang, repair=repair)


def read_qa(path: FilePath, *, lang: str | None = None, repair: bool = False) -> Corpus[Question]:
    """Read questions with their paragraphs from SQuAD JSON. Every answer must be at its stated position.

    `path`, `lang`: as for `read_treebank`. `repair`: correct the position of answers that occur exactly once in the
    paragraph, skip the others.
    """
    return read_kind(path, "qa", lang=lang, repair=repair)


def read_parallel(
    source: FilePath | Mapping[str, FilePath] | Sequence[FilePath],
    *,
    languages: Sequence[str] | None = None,
    verses: FilePath | None = None,
    words: bool = False,
    repair: bool = False,
    format: str | None = None,
) -> ParallelSet:
    """Read the same sentences in several languages.

    `source`: one file per language (`{"en": "en.txt", "fr": "fr.txt"}`, or a list of files whose names state their
    languages), one file with all languages (TSV, `source ||| target`), the common prefix of such files
    (`corpus.en-fr` for `corpus.en-fr.en` and `corpus.en-fr.fr`), or `hub:…`. Treebanks are joined by sentence id.
    `languages`: the languages of one file, if it does not state them. `verses`: the list of verse ids of eBible files;
    by default `vref.txt` in their folder. `words`: split tokenised text into words at spaces. `repair`: skip rows that
    are invalid in one of the languages and list them in `.repairs`. `format`: "parallel-tsv" or "fast-align" for one
    file; "text", "conllu" or "nli-tsv" for one file per language; detected if not given.
    """
    if hub.is_hub(source):
        return hub.read_parallel(str(source), languages=languages, words=words)
    if isinstance(source, (str, os.PathLike)):
        if Path(source).exists():
            path = Path(source)
            return parallel_files.read_file(path, languages=languages, words=words, repair=repair, format=format)
        source = parallel_files.moses_pair(Path(source))
    files = source if isinstance(source, Mapping) else parallel_files.files_by_language(source)
    verse_ids = Path(verses) if verses else None
    return parallel_files.read_files(files, verses=verse_ids, words=words, repair=repair, format=format)


def read_alignment(
    path: FilePath, *, base: int | None = None, lang: str | None = None, repair: bool = False
) -> Corpus[Alignment]:
    """Read word alignments in the Pharaoh format; `read_bitext` reads them together with their sentences.

    `base`: the number of the first word, 0 or 1; by default 1 if no word has the number 0. `lang`: the language pair,
    such as "en>fr", by default from the file name. `repair`: drop the links of invalid lines.
    """
    base = detect_base(Path(path), repairs=Repairs(repair)) if base is None else base
    return _read(path, pharaoh(base), lang, repair)


def read_bitext(
    source: FilePath | ParallelSet,
    alignment: FilePath | None = None,
    *,
    base: int | None = None,
    lang: str | None = None,
    repair: bool = False,
) -> Corpus[AlignedPair]:
    """Read word-aligned sentence pairs.

    `source`: JSON lines, a folder of two aligned treebanks, or parallel text. `alignment`: the Pharaoh file of parallel
    text. `base`: the number of the first word in the Pharaoh file, 0 or 1; by default detected from sentence lengths.
    `lang`: the language pair, such as "en>fr", by default from the file name. `repair`: skip invalid lines, and links
    outside the sentences.
    """
    if alignment is not None:
        sentences = source if isinstance(source, ParallelSet) else read_parallel(source, words=True, repair=repair)
        return bitext_files.join_alignment(sentences, Path(alignment), base, repair)
    if isinstance(source, ParallelSet):
        raise UsageError("a parallel set has no word links; give the Pharaoh file with its links as alignment=")
    if Path(source).is_dir():
        return _of_pair(bitext_files.read_folder(Path(source), repair), lang)
    return read_kind(source, "bitext", lang=lang, repair=repair)


def read_lexicon(path: FilePath, *, lang: str | None = None, repair: bool = False) -> Corpus[Entry]:
    """Read a bilingual lexicon: one `source<TAB>target` per line.

    `lang`: the language pair, such as "en>ru", by default from the file name. `repair`: skip invalid lines.
    """
    return read_kind(path, "lexicon", lang=lang, repair=repair)


def read_text(path: FilePath | Sequence[FilePath], *, lang: str | None = None, repair: bool = False) -> Corpus[str]:
    """Read raw text: one sentence or paragraph per line, without empty lines.

    `path`: a file, several files, a folder, or `hub:…`. `lang`: language code, by default from the names of the files.
    `repair`: replace bytes that are not UTF-8.
    """
    if isinstance(path, (str, os.PathLike)):
        return read_kind(path, "text", lang=lang, repair=repair)
    return text.read_several(path, lang=lang, repair=repair)


def read_kind(
    path: FilePath, kind: str, format: str | None = None, *, lang: str | None = None, repair: bool = False
) -> AnyCorpus:
    """A corpus of one of the `KINDS`, from a file or from the Hugging Face hub.

    Without `format`, the format is detected if the kind has several.
    """
    if hub.is_hub(path):
        return KINDS[kind].after_reading(hub.read(str(path), kind, lang=lang, repair=repair))
    if format and FORMATS[format].kind != kind:
        raise UsageError(f"the format '{format}' is for {FORMATS[format].kind}, not {kind}")
    formats = formats_of(kind)
    chosen = FORMATS[format] if format else formats[0] if len(formats) == 1 else detect_format(path, kind)
    return _read(path, chosen, lang, repair)


def read_file(path: FilePath, format: str | None = None, *, lang: str | None = None, repair: bool = False) -> AnyCorpus:
    """A corpus file of any kind; the format is detected if it is not named."""
    return _read(path, FORMATS[format] if format else detect_format(path), lang, repair)


def _read(path: FilePath, format: Format[T], lang: str | None, repair: bool) -> Corpus[T]:
    kind = KINDS[format.kind]
    if kind.is_language_pair:
        return _of_pair(read_corpus(path, format, repair=repair), lang)
    return kind.after_reading(read_corpus(path, format, lang=lang, repair=repair))


def _of_pair(corpus: Corpus[T], lang: str | None) -> Corpus[T]:
    """The corpus with the code of its language pair: `lang` ("en>fr"), or the pair that the file name states."""
    pair = tuple(check_language(lang).split(">")) if lang else pair_of_path(corpus.origin)
    if lang and len(pair or ()) != 2:
        raise UsageError(f"a language pair is written 'en>fr', not '{lang}'")
    return replace(corpus, lang=pair_code(*pair) if pair else UNKNOWN)
