"""Reading parallel text: line-aligned files, Moses pairs, TSV, `source ||| target`, treebanks joined by id.

XNLI's TSV files give their premises. Sentences are kept as written. What would break the pairing is an
error that names the file and the line: files of unequal length always; an empty sentence or a tab inside
one unless `repair=True`, which leaves the row out in every language and notes it.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from isogloss.core.errors import InputError, UsageError, shown
from isogloss.core.files import COMPRESSED, Repairs, bare_suffix, read_head
from isogloss.corpora.corpus import collector_paused
from isogloss.corpora.formats import conllu
from isogloss.corpora.formats import nli as nli_formats
from isogloss.corpora.formats.parallel import FAST_ALIGN, Row, fast_align, tsv
from isogloss.corpora.parallel import ParallelSet, zip_files, zip_lines
from isogloss.corpora.verses import join_verses
from isogloss.languages.codes import UNKNOWN, canonical, is_language, language_of_path, pair_of_path

Sources = Mapping[str, Path]


def read_files(
    paths: Mapping[str, str | os.PathLike[str]], *, verses: Path | None, words: bool, repair: bool
) -> ParallelSet:
    """A file per language: treebanks joined by sentence id, XNLI's `.tsv` and plain text by line, Bibles by verse."""
    sources = {canonical(lang): Path(path) for lang, path in paths.items()}
    if len(sources) < len(paths) or not sources:
        raise UsageError(f"parallel text needs one file for each of several languages, got {', '.join(paths)}")
    repairs = Repairs(repair)
    trees = [bare_suffix(path) == ".conllu" for path in sources.values()]
    if any(trees):
        if not all(trees):
            raise UsageError("treebanks and plain text cannot be joined; give .conllu files for all languages or none")
        return join_treebanks(sources, repairs)
    if all(bare_suffix(path) == ".tsv" for path in sources.values()):
        return gather(join_premises(sources), sources, repairs, _origin(sources.values()), words)
    verses = verses or _verse_ids_beside(sources.values())
    rows = join_verses(sources, verses, repairs) if verses else join_lines(sources, repairs)
    return gather(rows, sources, repairs, _origin(sources.values()), words)


def read_file(path: Path, *, languages: Sequence[str] | None, words: bool, repair: bool) -> ParallelSet:
    """One file that holds several languages: fast_align's bars, or a TSV."""
    repairs = Repairs(repair)
    head = read_head(path, 10)
    if head and FAST_ALIGN.recognise(bare_suffix(path), head):
        languages = languages or pair_of_path(path)
        if not languages or len(languages) != 2:
            raise UsageError(f"{path}: in which two languages? give languages=('en', 'fr')")
        pairs = fast_align(languages).stream(path, repairs)
        stripped = ({lang: text.strip() for lang, text in row.items()} for row in pairs)
        return gather(_numbered(stripped), languages, repairs, os.fspath(path), words=True)
    return gather(_numbered(tsv(languages).stream(path, repairs)), languages, repairs, os.fspath(path), words)


def moses_pair(prefix: Path) -> dict[str, Path]:
    """The files `prefix.en`, `prefix.fr`, … beside each other, compressed or not."""
    found: dict[str, Path] = {}
    expected = pair_of_path(prefix)  # "corpus.en-fr" means these two, whatever else lies there
    for path in sorted(prefix.parent.glob(glob.escape(prefix.name) + ".*")):
        name = path.stem if path.suffix in COMPRESSED else path.name
        code = name[len(prefix.name) + 1 :]
        if is_language(code) and (expected is None or canonical(code) in expected):
            if canonical(code) in found:
                raise InputError(path, "one file per language", f"{found[canonical(code)]} as well")
            found[canonical(code)] = path
    if len(found) < 2:
        raise InputError(prefix, f"a file, or a pair such as {prefix.name}.en and {prefix.name}.fr", "neither")
    return found


def by_name(paths: Iterable[str | os.PathLike[str]]) -> dict[str, Path]:
    """Files by the language that each one's name declares."""
    found: dict[str, Path] = {}
    for path in map(Path, paths):
        lang = language_of_path(path)
        if lang == UNKNOWN:
            raise InputError(path, "a file name that declares a language", shown(path.name), advice="give a mapping")
        if lang in found:
            raise InputError(path, "one file per language", f"{found[lang]} as well")
        found[lang] = path
    return found


def join_lines(sources: Sources, repairs: Repairs) -> Iterator[tuple[str, Row]]:
    """Line-aligned files, row by row with the line's number as its id."""
    for number, texts in enumerate(zip_lines(list(sources.values()), repairs), 1):
        fault = None
        for path, text in zip(sources.values(), texts, strict=True):
            fault = fault or _sentence_fault(path, number, text)
        if fault:
            repairs.note(fault)
        else:
            yield str(number), dict(zip(sources, texts, strict=True))


def join_premises(sources: Sources) -> Iterator[tuple[str, Row]]:
    """The premises of XNLI's files, which are line-aligned; each once, at its first line.

    Nothing is repaired here: a pair left out in one language would shift all that follow.
    """
    streams = [nli_formats.TSV.stream(path, Repairs()) for path in sources.values()]
    seen: set[str] = set()
    for number, pairs in enumerate(zip_files(list(sources.values()), streams), 1):
        if pairs[0].premise not in seen:
            seen.add(pairs[0].premise)
            yield str(number), {lang: pair.premise for lang, pair in zip(sources, pairs, strict=True)}


def join_treebanks(sources: Sources, repairs: Repairs) -> ParallelSet:
    """Treebanks such as PUD's, joined by `sent_id` in the order of the first language."""
    with collector_paused():
        banks = {lang: _trees_by_id(path, repairs) for lang, path in sources.items()}
    every = dict.fromkeys(id for bank in banks.values() for id in bank)
    ids = tuple(id for id in every if all(id in bank for bank in banks.values()))
    for lang, path in sources.items():
        missing = [id for id in every if id not in banks[lang]]
        if missing:
            other = next(sources[other] for other in sources if missing[0] in banks[other])
            advice = f"repair=True (--repair) keeps the {len(ids)} sentences that all files share"
            error = InputError(path, f"the sentence {missing[0]} of {other}", f"{len(missing)} missing", advice=advice)
            repairs.note(error)
    if not ids:
        raise InputError(_origin(sources.values()), "sentence ids in common", "none")
    texts = {lang: tuple(bank[id].text for id in ids) for lang, bank in banks.items()}
    tokens = {lang: tuple(tuple(bank[id].words) for id in ids) for lang, bank in banks.items()}
    return ParallelSet(texts, ids, tokens, _origin(sources.values()), tuple(repairs.made))


def gather(
    rows: Iterable[tuple[str, Row]], languages: Iterable[str] | None, repairs: Repairs, origin: str, words: bool
) -> ParallelSet:
    """Rows with their ids, made into columns."""
    ids: list[str] = []
    columns: dict[str, list[str]] = {lang: [] for lang in languages or ()}
    for id, row in rows:
        ids.append(id)
        for lang, text in row.items():
            columns.setdefault(canonical(lang), []).append(text)
    if not ids:
        raise InputError(origin, "at least one sentence in all languages", "none")
    texts = {lang: tuple(column) for lang, column in columns.items()}
    tokens = {lang: tuple(tuple(text.split()) for text in column) for lang, column in texts.items()} if words else {}
    return ParallelSet(texts, tuple(ids), tokens, origin, tuple(repairs.made))


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
    """eBible's list of verses, if it lies in the folder of all the files."""
    folders = {path.parent for path in paths}
    names = ["vref.txt", *(f"vref.txt{suffix}" for suffix in sorted(COMPRESSED))]
    found = [folder / name for folder in folders for name in names if (folder / name).exists()]
    return found[0] if found and len(folders) == 1 else None


def _origin(paths: Iterable[Path]) -> str:
    return ", ".join(map(os.fspath, paths))
