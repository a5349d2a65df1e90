"""The corpora that a study names, read: files, data sets of the hub, items of the laboratory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from isogloss.core.errors import UsageError
from isogloss.corpora import readers
from isogloss.corpora.bitext import AlignedPair
from isogloss.corpora.corpus import AnyCorpus, Corpus
from isogloss.corpora.nli import mixed_language
from isogloss.corpora.parallel import ParallelSet
from isogloss.corpora.questions import MLQA_NAME, pair_languages
from isogloss.languages.codes import canonical, is_language
from isogloss.studies.schema.references import LAB, TRANSLITERATED, mixed_parts

READERS: dict[str, Any] = {
    "treebank": readers.read_treebank,
    "ner": readers.read_ner,
    "nli": readers.read_nli,
    "qa": readers.read_qa,
    "text": readers.read_text,
}


def read_corpora(references: Sequence[str], kind: str, *, lang: str | None = None) -> AnyCorpus:
    """One corpus of the given kind from one reference, or from several that are joined."""
    parts = [_read(one, kind, lang) for one in references]
    if odd := {(part.lang, part.format.kind) for part in parts[1:]} - {(parts[0].lang, parts[0].format.kind)}:
        got = ", ".join(sorted(language for language, _ in odd))
        raise UsageError(f"{references[0]}: only corpora of one language can be joined, got {parts[0].lang} and {got}")
    return parts[0].with_items(item for part in parts for item in part) if len(parts) > 1 else parts[0]


def read_bitexts(references: Sequence[str]) -> list[Corpus[AlignedPair]]:
    """Word-aligned sentence pairs, a corpus for each language pair."""
    return [_bitext_of_lab(one) if LAB.fullmatch(one) else readers.read_bitext(one) for one in references]


def read_parallel(files: Mapping[str, str]) -> ParallelSet:
    """Parallel text: a file for each language, or under "" one reference to all."""
    if "" not in files:
        artificial = [bool(LAB.fullmatch(one)) for one in files.values()]
        if any(artificial) and not all(artificial):
            raise UsageError("parallel: either all languages come from the laboratory or none does")
        if all(artificial):
            return _parallel_of_lab(",".join(files), set(map(_place, files.values())))
        return readers.read_parallel(dict(files))
    (one,) = files.values()
    if match := LAB.fullmatch(one):
        return _parallel_of_lab(match["langs"], {_place(one)})
    return readers.read_parallel(one)


def language_of_name(name: str) -> str | None:
    """The language that the name of a source or target begins with, as in fr or fr-gsd.

    >>> language_of_name("fr-gsd"), language_of_name("gold")
    ('fr', None)
    """
    first = name.replace("_", "-").partition("-")[0]
    return canonical(first) if is_language(first) else None


def _read(reference: str, kind: str, lang: str | None) -> AnyCorpus:
    if reference.startswith(TRANSLITERATED):
        from isogloss.text.transliteration.transliterate import transliterate

        return transliterate(_read(reference.removeprefix(TRANSLITERATED), kind, lang))
    if parts := mixed_parts(reference):
        return _mixed(parts, kind, lang)
    match = LAB.fullmatch(reference)
    if not match:
        if kind == "qa" and MLQA_NAME.search(Path(reference).name):
            lang = (
                None  # the name tells the paragraphs' language, which may not be the one that the target is called by
            )
        corpus: AnyCorpus = READERS[kind](reference, lang=lang)
        return corpus
    from isogloss.corpora.lab.laboratory import Laboratory

    lab, number = Laboratory(int(match["seed"] or 0)), int(match["number"])
    if kind == "text":
        return lab.text(match["langs"], number)
    domain = {"domain": match["domain"]} if match["domain"] else {}
    if domain and kind not in ("treebank", "ner"):
        raise UsageError(f"{reference}: only treebanks and entities of the laboratory have domains, not {kind}")
    made: AnyCorpus = getattr(lab, kind)(match["langs"], match["split"], number, **domain)
    return made


def _mixed(parts: Sequence[str], kind: str, lang: str | None) -> AnyCorpus:
    """Two parallel corpora as one whose items are in both languages."""
    first, second = parts
    if kind == "nli":
        return mixed_language(_read(first, kind, lang), _read(second, kind, None), seed=0)
    if kind == "qa":  # either side may be in the language that the target is called by
        return pair_languages(_read(first, kind, None), _read(second, kind, None))
    raise UsageError(f"{'|'.join(parts)}: only inference pairs and questions can be mixed, not a {kind} corpus")


def _bitext_of_lab(reference: str) -> Corpus[AlignedPair]:
    from isogloss.corpora.lab.laboratory import Laboratory

    match = LAB.fullmatch(reference)
    assert match
    langs = match["langs"].split(",")
    if len(langs) != 2:
        raise UsageError(f"bitext: expected two languages such as lab:qla,qlc/train/1000, got {reference}")
    split, number, seed = _place(reference)
    return Laboratory(seed).bitext(langs[0], langs[1], number, split)


def _place(reference: str) -> tuple[str, int, int]:
    """Split, number and seed of a reference to the laboratory."""
    match = LAB.fullmatch(reference)
    assert match
    return match["split"], int(match["number"]), int(match["seed"] or 0)


def _parallel_of_lab(langs: str, places: set[tuple[str, int, int]]) -> ParallelSet:
    from isogloss.corpora.lab.laboratory import Laboratory

    if len(places) > 1:
        raise UsageError(f"parallel: expected the same sentences for every language, got {sorted(places)}")
    ((split, number, seed),) = places
    return Laboratory(seed).parallel(langs.split(","), number, split)
