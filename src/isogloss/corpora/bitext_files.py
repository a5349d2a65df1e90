"""Bitexts read from several files: parallel text with a Pharaoh file, or two treebanks with an alignment.

A folder of treebanks contains `alignment.json`, a list of `{"source word id": ["target word id", …]}` in which `X`
stands for "linked to nothing".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from isogloss.core.errors import InputError, UsageError
from isogloss.core.files import COMPRESSED, Repairs, read_text
from isogloss.corpora.corpus import Corpus
from isogloss.corpora.formats import conllu
from isogloss.corpora.formats.aligned_jsonl import FORMAT
from isogloss.corpora.formats.pharaoh import detect_base, links_within, pharaoh
from isogloss.corpora.formats.strict_json import parse_json
from isogloss.corpora.kinds.alignment import Alignment, Link
from isogloss.corpora.kinds.bitext import AlignedPair
from isogloss.corpora.parallel import ParallelSet
from isogloss.languages.codes import UNKNOWN, pair_code

UNALIGNED_MARK = "X"
WordPair = tuple[tuple[str, ...], tuple[str, ...]]  # a sentence and its translation


def join_alignment(sentences: ParallelSet, path: Path, base: int | None, repair: bool) -> Corpus[AlignedPair]:
    """A parallel set of two languages with the links of a Pharaoh file.

    `base=None` detects whether the file counts words from 0 or from 1; where that is ambiguous, it is an error.
    """
    if len(sentences.languages) != 2:
        raise UsageError(f"a bitext has two languages, not {len(sentences.languages)}; choose with .pair('en', 'fr')")
    source, target = sentences.languages
    words = list(zip(sentences.words(source), sentences.words(target), strict=True))
    repairs = Repairs(repair)
    pairs = tuple(join_links(words, path, base, repairs))
    return Corpus(pairs, pair_code(source, target), FORMAT, str(path), (*sentences.repairs, *repairs.made))


def join_links(words: Sequence[WordPair], path: Path, base: int | None, repairs: Repairs) -> Iterator[AlignedPair]:
    """Sentence pairs with their links from a Pharaoh file."""
    if base is None:
        base = detect_base(path, [(len(s), len(t)) for s, t in words], Repairs(repairs.allowed))
    alignments = list(pharaoh(base).stream(path, repairs))
    if len(alignments) != len(words):
        line = min(len(alignments), len(words)) + 1
        raise InputError(path, f"{len(words)} lines, one per sentence pair", f"{len(alignments)}", line=line)
    for number, ((s, t), alignment) in enumerate(zip(words, alignments, strict=True), 1):
        yield AlignedPair(s, t, links_within(alignment, len(s), len(t), repairs, path, number, base=base))


def read_folder(folder: Path, repair: bool = False) -> Corpus[AlignedPair]:
    """A folder with two treebanks and the links between their words: `en.conllu`, `target.conllu`, `alignment.json`."""
    repairs = Repairs(repair)
    path = _find(folder, "alignment.json")
    source, target = (list(conllu.stream(_find(folder, name), repairs)) for name in ("en.conllu", "target.conllu"))
    try:
        alignments = [_links_by_id(sentence) for sentence in parse_json(read_text(path, repairs))]
    except (ValueError, TypeError, AttributeError) as error:
        raise InputError(path, 'a list of {"word id": ["word id", …]}', str(error)) from None
    if not len(alignments) == len(source) == len(target):
        counts = f"{len(alignments)} for {len(source)} and {len(target)} sentences"
        raise InputError(path, "links for every sentence of both treebanks", counts)
    pairs = []
    for number, (s, t, alignment) in enumerate(zip(source, target, alignments, strict=True), 1):
        where = f" in sentence {number}"
        links = links_within(alignment, len(s.words), len(t.words), repairs, path, None, base=1, where=where)
        pairs.append(AlignedPair(tuple(s.words), tuple(t.words), links))
    return Corpus(tuple(pairs), UNKNOWN, FORMAT, str(folder), tuple(repairs.made))


def _links_by_id(sentence: dict[str, list[str]]) -> Alignment:
    """Word ids count from 1, as in the treebanks."""
    pairs = [(s, t) for s, targets in sentence.items() for t in targets if UNALIGNED_MARK not in (s, t)]
    if not all(s.isdecimal() and t.isdecimal() and s != "0" != t for s, t in pairs):
        raise ValueError("ids that are not word numbers from 1")
    return Alignment(tuple(Link(int(s) - 1, int(t) - 1) for s, t in pairs))


def _find(folder: Path, name: str) -> Path:
    for path in (folder / name, *(folder / f"{name}{suffix}" for suffix in sorted(COMPRESSED))):
        if path.exists():
            return path
    raise InputError(folder, f"a folder with {name}", "no such file")
