"""Reading parallel text: line-aligned files, Moses pairs, TSV, `source ||| target`, treebanks joined by id.

From the TSV files of XNLI the premises are read. Sentences are not changed. Whatever would misalign sentences is an
error with file and line: files of different length always; an empty sentence, or a tab in a sentence, unless
`repair=True`, which skips the row in all languages and records it.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from isogloss.core.errors import InputError, UsageError, shown
from isogloss.core.files import COMPRESSED, Repairs, bare_suffix, read_head, read_lines
from isogloss.core.registry import check_name
from isogloss.corpora.corpus import FilePath, garbage_collection_paused
from isogloss.corpora.formats import conllu
from isogloss.corpora.formats import nli as nli_formats
from isogloss.corpora.formats.lines import tokens
from isogloss.corpora.formats.parallel import FAST_ALIGN, Row, fast_align, tsv
from isogloss.corpora.parallel import ParallelSet, zip_files
from isogloss.corpora.verses import join_verses
from isogloss.languages.checks import check_language
from isogloss.languages.codes import UNKNOWN, canonical, is_language, language_of_path, pair_of_path

Sources = Mapping[str, Path]
FORMATS_OF_FILE = ("parallel-tsv", "fast-align")
FORMATS_OF_FILES = ("conllu", "nli-tsv", "text")


def read_files(
    paths: Mapping[str, FilePath], *, verses: Path | None, words: bool, repair: bool, format: str | None = None
) -> ParallelSet:
    """One file per language: treebanks joined by sentence id, `.tsv` of XNLI and text by line, Bibles by verse.

    `format`: one of `FORMATS_OF_FILES`; by default from the suffixes.
    """
    if format is not None:
        check_name(format, FORMATS_OF_FILES, "format of one file per language")
    sources = {check_language(lang): Path(path) for lang, path in paths.items()}
    if len(sources) < len(paths) or not sources:
        raise UsageError(f"parallel text needs one file for each of several languages, got {', '.join(paths)}")
    repairs = Repairs(repair)
    trees = [format == "conllu" or (not format and bare_suffix(path) == ".conllu") for path in sources.values()]
    if any(trees):
        if not all(trees):
            raise UsageError("treebanks and plain text cannot be joined; give .conllu files for all languages or none")
        return join_treebanks(sources, repairs)
    if format == "nli-tsv" or (not format and all(bare_suffix(path) == ".tsv" for path in sources.values())):
        return parallel_set(join_premises(sources), sources, repairs, _origin(sources.values()), words)
    verses = verses or _verse_ids_beside(sources.values())
    rows = join_verses(sources, verses, repairs) if verses else join_lines(sources, repairs)
    return parallel_set(rows, sources, repairs, _origin(sources.values()), words)


def read_file(
    path: Path, *, languages: Sequence[str] | None, words: bool, repair: bool, format: str | None = None
) -> ParallelSet:
    """One file with several languages: `source ||| target` of fast_align, or TSV; detected unless `format` says it."""
    if format is not None:
        check_name(format, FORMATS_OF_FILE, "format of one file with all languages")
    languages = [check_language(lang) for lang in languages] if languages else None
    repairs = Repairs(repair)
    head = read_head(path, 10)
    if format == FAST_ALIGN.name or (not format and head and FAST_ALIGN.recognise(bare_suffix(path), head)):
        languages = languages or pair_of_path(path)
        if not languages or len(languages) != 2:
            raise UsageError(f"{path}: expected two languages, got {languages}; give languages=('en', 'fr')")
        pairs = fast_align(languages).stream(path, repairs)
        stripped = ({lang: text.strip(" \t") for lang, text in row.items()} for row in pairs)
        return parallel_set(_numbered(stripped), languages, repairs, os.fspath(path), words=True)
    return parallel_set(_numbered(tsv(languages).stream(path, repairs)), languages, repairs, os.fspath(path), words)


def moses_pair(prefix: Path) -> dict[str, Path]:
    """The files `prefix.en`, `prefix.fr`, … beside each other, compressed or not."""
    files: dict[str, Path] = {}
    expected = pair_of_path(prefix)  # "corpus.en-fr" selects these two languages
    for path in sorted(prefix.parent.glob(glob.escape(prefix.name) + ".*")):
        name = path.stem if path.suffix in COMPRESSED else path.name
        code = name[len(prefix.name) + 1 :]
        if is_language(code) and (expected is None or canonical(code) in expected):
            _add_file(files, canonical(code), path)
    if len(files) < 2:
        raise InputError(prefix, f"a file, or a pair such as {prefix.name}.en and {prefix.name}.fr", "neither")
    return files


def files_by_language(paths: Iterable[FilePath]) -> dict[str, Path]:
    """Files by the language that their names state."""
    files: dict[str, Path] = {}
    for path in map(Path, paths):
        lang = language_of_path(path)
        if lang == UNKNOWN:
            raise InputError(path, "a file name that states a language", shown(path.name), advice="give a mapping")
        _add_file(files, lang, path)
    return files


def _add_file(files: dict[str, Path], lang: str, path: Path) -> None:
    if lang in files:
        raise InputError(path, "one file per language", f"{files[lang]} as well")
    files[lang] = path


def join_lines(sources: Sources, repairs: Repairs) -> Iterator[tuple[str, Row]]:
    """Rows of line-aligned files, with the line number as id."""
    for number, texts in enumerate(zip_files(list(sources.values()), partial(read_lines, repairs=repairs)), 1):
        faults = (_sentence_fault(path, number, text) for path, text in zip(sources.values(), texts, strict=True))
        if fault := next(filter(None, faults), None):
            repairs.note(fault)
        else:
            yield str(number), dict(zip(sources, texts, strict=True))


def join_premises(sources: Sources) -> Iterator[tuple[str, Row]]:
    """The premises of XNLI's line-aligned files; a premise that occurs several times only at its first line.

    There is no repair: a pair skipped in one language would misalign all later pairs.
    """
    rows = zip_files(list(sources.values()), lambda path: nli_formats.TSV.stream(path, Repairs()))
    premises_before: set[str] = set()
    for number, pairs in enumerate(rows, 1):
        if pairs[0].premise not in premises_before:
            premises_before.add(pairs[0].premise)
            yield str(number), {lang: pair.premise for lang, pair in zip(sources, pairs, strict=True)}


def join_treebanks(sources: Sources, repairs: Repairs) -> ParallelSet:
    """Treebanks such as PUD, joined by `sent_id` in the order of the first language."""
    with garbage_collection_paused():
        banks = {lang: _trees_by_id(path, repairs) for lang, path in sources.items()}
    every = dict.fromkeys(id for bank in banks.values() for id in bank)
    ids = tuple(id for id in every if all(id in bank for bank in banks.values()))
    for lang, path in sources.items():
        missing = [id for id in every if id not in banks[lang]]
        if missing:
            other_path = next(sources[other] for other, bank in banks.items() if missing[0] in bank)
            expected = f"the sentence {missing[0]} of {other_path}"
            advice = f"repair=True (--repair) keeps the {len(ids)} sentences that all files share"
            repairs.note(InputError(path, expected, f"{len(missing)} missing", advice=advice))
    if not ids:
        raise InputError(_origin(sources.values()), "sentence ids in common", "none")
    texts = {lang: tuple(bank[id].text for id in ids) for lang, bank in banks.items()}
    tokens = {lang: tuple(tuple(bank[id].words) for id in ids) for lang, bank in banks.items()}
    return ParallelSet(texts, ids, tokens, _origin(sources.values()), tuple(repairs.made))


def parallel_set(
    rows: Iterable[tuple[str, Row]], languages: Iterable[str] | None, repairs: Repairs, origin: str, words: bool
) -> ParallelSet:
    """A parallel set from rows with their ids."""
    ids: list[str] = []
    columns: dict[str, list[str]] = {lang: [] for lang in languages or ()}
    for id, row in rows:
        ids.append(id)
        for lang, text in row.items():
            columns.setdefault(canonical(lang), []).append(text)
    if not ids:
        raise InputError(origin, "at least one sentence in all languages", "none")
    texts = {lang: tuple(column) for lang, column in columns.items()}
    words_by_language = {lang: tuple(map(tokens, column)) for lang, column in texts.items()} if words else {}
    return ParallelSet(texts, tuple(ids), words_by_language, origin, tuple(repairs.made))


def _trees_by_id(path: Path, repairs: Repairs) -> dict[str, conllu.Tree]:
    trees: dict[str, conllu.Tree] = {}
    for number, tree in enumerate(conllu.stream(path, repairs), 1):
        if tree.sent_id is None:
            raise InputError(path, "a '# sent_id' in every sentence", f"none in sentence {number}")
        if tree.sent_id in trees:
            raise InputError(path, "each sentence id once", f"{shown(tree.sent_id)} again in sentence {number}")
        trees[tree.sent_id] = tree
    return trees


def _sentence_fault(path: Path, line: int, text: str) -> InputError | None:
    advice = "repair=True (--repair) leaves the line out in all languages"
    if not text.strip():
        return InputError(path, "a sentence", "an empty line", line=line, advice=advice)
    if "\t" in text:
        return InputError(path, "one sentence without tabs", shown(text), line=line, advice=advice)
    return None


def _numbered(rows: Iterable[Row]) -> Iterator[tuple[str, Row]]:
    return ((str(i), row) for i, row in enumerate(rows, 1))


def _verse_ids_beside(paths: Iterable[Path]) -> Path | None:
    """The verse list of eBible, if it is in the folder of all the files."""
    folders = {path.parent for path in paths}
    names = ["vref.txt", *(f"vref.txt{suffix}" for suffix in sorted(COMPRESSED))]
    lists = [folder / name for folder in folders for name in names if (folder / name).exists()]
    return lists[0] if lists and len(folders) == 1 else None


def _origin(paths: Iterable[Path]) -> str:
    return ", ".join(map(os.fspath, paths))
