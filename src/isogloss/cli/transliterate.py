"""`isogloss transliterate FILE --lang CODE --out FILE`: a text or a whole corpus in other letters."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from isogloss.cli.screen import out, print_note, show_table
from isogloss.core.errors import UsageError

if TYPE_CHECKING:
    from isogloss.corpora.corpus import AnyCorpus
    from isogloss.corpora.parallel import ParallelSet


def transliterate(
    file: Annotated[Path, typer.Argument(help="Treebank, NER, NLI, QA, parallel TSV or raw text; .gz, .xz, .bz2 too.")],
    output: Annotated[Path, typer.Option("--out", "-o", help="Written in the format of the input.")],
    lang: Annotated[str | None, typer.Option(help="Language code, where the file's name does not say it.")] = None,
    scheme: Annotated[
        str | None, typer.Option(help="Another scheme than the language's own (`isogloss ls schemes`).")
    ] = None,
    inverse: Annotated[
        bool, typer.Option("--inverse", help="Back to the original letters, where that can be.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Of the scheme 'permutation'.")] = 0,
    format: Annotated[str | None, typer.Option("--format", "-f", help="Read the input as this format.")] = None,
    repair: Annotated[bool, typer.Option("--repair", help="Mend or leave out what is broken.")] = False,
) -> None:
    """Write a corpus in the letters of a related, well-resourced language; annotation stays what it was."""
    from isogloss.text.transliteration.schemes import scheme_for
    from isogloss.text.transliteration.transliterate import transliterate as transliterate_corpus

    if file.resolve() == output.resolve():
        raise UsageError("--out must be another file than the input")
    corpus: Any = _read(file, format, lang, repair)
    language = lang or (corpus.lang if hasattr(corpus, "lang") and corpus.lang != "und" else None)
    changed = transliterate_corpus(corpus, lang=language, scheme=scheme, inverse=inverse, seed=seed)
    changed.write(output)
    scheme_used = scheme_for(language, scheme, seed=seed)
    rows = [
        ("scheme", f"{scheme_used.name} ({scheme_used.summary}){', undone' if inverse else ''}"),
        ("written to", output),
    ]
    rows += [(what, f"{number:,}") for what, number in getattr(corpus, "counts", {"sentences": len(corpus)}).items()]
    show_table(str(file), ("", ""), rows)
    if changed == corpus:
        print_note("nothing changed: there was no letter of the scheme's script (Narabizi and other Latin text stays)")
    for error in corpus.repairs:
        print_note(f"repaired or left out: {error}")
    out.print("[green]done[/]")


def _read(file: Path, format: str | None, lang: str | None, repair: bool) -> AnyCorpus | ParallelSet:
    from isogloss.corpora.formats import FORMATS, detect_format
    from isogloss.corpora.readers import read_file, read_parallel

    if (FORMATS[format] if format else detect_format(file)).kind == "parallel":
        return read_parallel(file, repair=repair)
    return read_file(file, format, lang=lang, repair=repair)
