"""Reads the corpora that a study names: files, datasets of the hub, items of the laboratory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from isogloss.core.errors import UsageError
from isogloss.corpora import readers
from isogloss.corpora.corpus import AnyCorpus, Corpus
from isogloss.corpora.kinds import KINDS
from isogloss.corpora.kinds.bitext import AlignedPair
from isogloss.corpora.kinds.kind import LabSelection
from isogloss.corpora.parallel import ParallelSet
from isogloss.languages.codes import canonical, is_language
from isogloss.studies.schema.references import LAB, TRANSLITERATED, mixed_parts, split_format


def read_corpora(references: Sequence[str], kind: str, *, lang: str | None = None) -> AnyCorpus:
    """One corpus of the given kind from one reference, or from several that are joined."""
    parts = [_read(reference, kind, lang) for reference in references]
    if others := {(part.lang, part.format.kind) for part in parts[1:]} - {(parts[0].lang, parts[0].format.kind)}:
        got = ", ".join(sorted(language for language, _ in others))
        raise UsageError(f"{references[0]}: only corpora of one language can be joined, got {parts[0].lang} and {got}")
    return parts[0].with_items(item for part in parts for item in part) if len(parts) > 1 else parts[0]


def read_bitexts(references: Sequence[str]) -> list[Corpus[AlignedPair]]:
    """Word-aligned sentence pairs, a corpus for each language pair."""
    return [
        _from_laboratory(reference, "bitext") if LAB.fullmatch(reference) else readers.read_bitext(reference)
        for reference in references
    ]


def read_parallel(files: Mapping[str, str]) -> ParallelSet:
    """Parallel text: a file for each language, or under "" one reference to all."""
    from isogloss.corpora.lab.laboratory import Laboratory

    matches = [match for match in map(LAB.fullmatch, files.values()) if match]
    if not matches:
        formats = {lang: split_format(reference)[0] for lang, reference in files.items()}
        if len(set(formats.values())) > 1:
            raise UsageError(f"parallel: expected the same format for every language, got {formats}")
        paths = {lang: split_format(reference)[1] for lang, reference in files.items()}
        return readers.read_parallel(paths.get("") or paths, format=next(iter(formats.values())))
    if len(matches) < len(files):
        raise UsageError("parallel: either all languages come from the laboratory or none does")
    selections = {(match["split"], int(match["number"]), int(match["seed"] or 0)) for match in matches}
    if len(selections) > 1:
        raise UsageError(f"parallel: expected the same sentences for every language, got {sorted(selections)}")
    ((split, number, seed),) = selections
    langs = matches[0]["langs"].split(",") if "" in files else list(files)
    return Laboratory(seed).parallel(langs, number, split)


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
    return _from_laboratory(reference, kind) if LAB.fullmatch(reference) else _from_file(reference, kind, lang)


def _from_file(reference: str, kind: str, lang: str | None) -> AnyCorpus:
    stated, (format, path) = KINDS[kind].language_in_name, split_format(reference)
    if stated and stated.search(Path(path).name):
        lang = None  # the file name states the language, which may differ from the one in the target's name
    return readers.read_kind(path, kind, format, lang=lang)


def _from_laboratory(reference: str, kind: str) -> AnyCorpus:
    from isogloss.corpora.lab.laboratory import Laboratory

    match, declared = LAB.fullmatch(reference), KINDS[kind]
    if match is None or declared.laboratory is None:
        raise UsageError(f"{reference}: the laboratory has no corpora of the kind '{kind}'")
    if match["domain"] and not declared.has_domains:
        known = " and ".join(name for name in KINDS if KINDS[name].has_domains)
        raise UsageError(f"{reference}: only {known} corpora of the laboratory have domains, not {kind}")
    part = LabSelection(match["langs"], match["split"], int(match["number"]), match["domain"] or "")
    return declared.laboratory(Laboratory(int(match["seed"] or 0)), part)


def _mixed(parts: Sequence[str], kind: str, lang: str | None) -> AnyCorpus:
    """Two parallel corpora combined into one whose items are in both languages."""
    mixture = KINDS[kind].mixture
    if mixture is None:
        known = " and ".join(name for name in KINDS if KINDS[name].mixture)
        raise UsageError(f"{'|'.join(parts)}: only {known} corpora can be mixed, not {kind}")
    first, second = parts
    first_lang = lang if mixture.first_in_target_language else None
    return mixture.join(_read(first, kind, first_lang), _read(second, kind, None))
