"""Word-aligned bitexts: sentence pairs as words with the links between them.

They come from parallel text beside a Pharaoh file, from JSON lines
(`{"src_words": […], "tgt_words": […], "alignment": [[0, 0], …]}`, words counted from 0, -1 for "nothing"),
or from a folder of two treebanks with `alignment.json`, a list of `{"source word id": ["target word id", …]}`
where `X` stands for "nothing". The same JSON lines are what a bitext is written as.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from isogloss.core.errors import InputError, UsageError, shown
from isogloss.core.files import COMPRESSED, Repairs, read_lines, read_text
from isogloss.corpora import conllu
from isogloss.corpora.alignment import NOTHING, SURE, Alignment, Link, detect_base, pharaoh, within
from isogloss.corpora.corpus import Corpus, Format
from isogloss.corpora.objects import is_text, parse_json
from isogloss.corpora.parallel import ParallelSet
from isogloss.languages.codes import UNKNOWN, pair_code, pair_of_path

KEYS = ("src_words", "tgt_words", "alignment")
UNALIGNED = "X"
WordPair = tuple[tuple[str, ...], tuple[str, ...]]  # a sentence and its translation


@dataclass(frozen=True, slots=True)
class AlignedPair:
    """The words of a sentence, the words of its translation, and the links between them."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    alignment: Alignment


def stream(path: Path, repairs: Repairs) -> Iterator[AlignedPair]:
    """Pairs of a JSON-lines file. With repair allowed, a faulty line is left out and noted."""
    for number, line in enumerate(read_lines(path, repairs), 1):
        try:
            pair = _pair(parse_json(line))
        except (ValueError, TypeError, KeyError):
            expected = "{" + ", ".join(f'"{key}": […]' for key in KEYS) + "}"
            repairs.note(InputError(path, expected, shown(line), line=number))
            continue
        links = within(pair.alignment, len(pair.source), len(pair.target), repairs, path, number)
        yield replace(pair, alignment=links)


def unparse(pairs: Iterable[AlignedPair]) -> Iterator[str]:
    for pair in pairs:
        links = [[s, t] if mark == SURE else [s, t, mark] for s, t, mark in pair.alignment.links]
        yield json.dumps(dict(zip(KEYS, (pair.source, pair.target, links), strict=True)), ensure_ascii=False) + "\n"


def aligned(sentences: ParallelSet, path: Path, *, base: int | None = 0, repair: bool = False) -> Corpus[AlignedPair]:
    """The first two languages of a parallel set, joined with the links of a Pharaoh file.

    `base=None` finds out whether the file counts from 0 or from 1, and says so if it cannot.
    """
    if len(sentences.languages) != 2:
        raise UsageError(f"a bitext has two languages, not {len(sentences.languages)}; choose with .pair('en', 'fr')")
    source, target = sentences.languages
    words = list(zip(sentences.words(source), sentences.words(target), strict=True))
    repairs = Repairs(repair)
    pairs = tuple(join_links(words, path, base, repairs))
    made = (*sentences.repairs, *repairs.made)
    return Corpus(pairs, pair_code(source, target), FORMAT, str(path), made)


def join_links(words: Sequence[WordPair], path: Path, base: int | None, repairs: Repairs) -> Iterator[AlignedPair]:
    """The sentence pairs with the links that a Pharaoh file has for each."""
    if base is None:
        base = detect_base(path, [(len(s), len(t)) for s, t in words])
    alignments = list(pharaoh(base).stream(path, repairs))
    if len(alignments) != len(words):
        line = min(len(alignments), len(words)) + 1
        raise InputError(path, f"{len(words)} lines, one per sentence pair", f"{len(alignments)}", line=line)
    for number, ((s, t), alignment) in enumerate(zip(words, alignments, strict=True), 1):
        yield AlignedPair(s, t, within(alignment, len(s), len(t), repairs, path, number))


def read_folder(folder: Path, repair: bool = False) -> Corpus[AlignedPair]:
    """Two treebanks and the links between their words: `en.conllu`, `target.conllu`, `alignment.json`."""
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
        links = within(alignment, len(s.words), len(t.words), repairs, path, None, where)
        pairs.append(AlignedPair(tuple(s.words), tuple(t.words), links))
    return Corpus(tuple(pairs), _pair_code(folder / path.name), FORMAT, str(folder), tuple(repairs.made))


def _pair(record: dict[str, Any]) -> AlignedPair:
    source, target, links = (record[key] for key in KEYS)
    if not all(isinstance(part, list) for part in (source, target, links)) or not source or not target:
        raise TypeError
    if set(record) != set(KEYS) or not all(map(is_text, [*source, *target])):
        raise ValueError
    return AlignedPair(tuple(source), tuple(target), Alignment(tuple(_link(*link) for link in links)))


def _link(source: int, target: int, mark: str = SURE) -> Link:
    if (
        type(source) is not int
        or type(target) is not int
        or min(source, target) < NOTHING
        or mark not in ("-", "?", "p")
    ):
        raise ValueError
    return Link(source, target, mark)


def _links_by_id(sentence: dict[str, list[str]]) -> Alignment:
    """Word ids count from 1, as in the treebanks."""
    pairs = [(s, t) for s, targets in sentence.items() for t in targets if UNALIGNED not in (s, t)]
    if not all(s.isdecimal() and t.isdecimal() and s != "0" != t for s, t in pairs):
        raise ValueError("something else than word numbers from 1")
    return Alignment(tuple(Link(int(s) - 1, int(t) - 1) for s, t in pairs))


def _find(folder: Path, name: str) -> Path:
    for path in (folder / name, *(folder / f"{name}{suffix}" for suffix in sorted(COMPRESSED))):
        if path.exists():
            return path
    raise InputError(folder, f"a folder with {name}", "none there")


def _pair_code(path: Path) -> str:
    languages = pair_of_path(path)
    return pair_code(*languages) if languages else UNKNOWN


def _recognise(suffix: str, head: Sequence[str]) -> bool:
    return head[0].startswith("{") and all(f'"{key}"' in head[0] for key in KEYS)


def _count(pairs: Sequence[AlignedPair]) -> dict[str, int]:
    words = sum(len(pair.source) for pair in pairs), sum(len(pair.target) for pair in pairs)
    links = sum(NOTHING not in link for pair in pairs for link in pair.alignment.links)
    return {"sentence pairs": len(pairs), "source words": words[0], "target words": words[1], "links": links}


FORMAT: Format[AlignedPair] = Format(
    name="aligned-jsonl",
    kind="bitext",
    summary="word-aligned sentence pairs as JSON lines: src_words, tgt_words, alignment",
    stream=stream,
    unparse=unparse,
    recognise=_recognise,
    count=_count,
)
