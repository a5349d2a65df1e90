"""`isogloss transliterate FILE --lang CODE --out FILE`: convert a text or corpus to another script."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from isogloss.cli.arguments import Repair
from isogloss.cli.screen import out, print_note, print_repairs, show_table
from isogloss.core.errors import UsageError

if TYPE_CHECKING:
    from isogloss.corpora.corpus import AnyCorpus
    from isogloss.corpora.parallel import ParallelSet


def transliterate(
    file: Annotated[Path, Argument(help="Treebank, NER, NLI, QA, parallel TSV or raw text, also .gz, .xz or .bz2.")],
    output: Annotated[Path, Option("--out", "-o", help="File for the result, in the format of the input.")],
    lang: Annotated[str | None, Option(help="Language code; by default taken from the file name.")] = None,
    scheme: Annotated[
        str | None, Option(help="Transliteration scheme (see `isogloss ls schemes`); by default that of the language.")
    ] = None,
    inverse: Annotated[bool, Option("--inverse", help="Convert back to the original script, if reversible.")] = False,
    seed: Annotated[int, Option(help="Random seed for the scheme 'permutation'.")] = 0,
    format: Annotated[
        str | None,
        Option("--format", "-f", help="Format of the input (see `isogloss ls formats`); detected by default."),
    ] = None,
    repair: Repair = False,
) -> None:
    """Convert a corpus to the script of a related, well-resourced language; the annotation stays unchanged."""
    from isogloss.text.transliteration.schemes import scheme_for
    from isogloss.text.transliteration.transliterate import transliterate as transliterate_corpus

    if file.resolve() == output.resolve():
        raise UsageError("--out: expected another file than the input, got the input itself")
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
        print_note("nothing changed: no character has the script that the scheme converts (Latin text stays unchanged)")
    print_repairs(corpus)
    out.print("[green]done[/]")


def _read(file: Path, format: str | None, lang: str | None, repair: bool) -> AnyCorpus | ParallelSet:
    from isogloss.corpora.formats import FORMATS, detect_format
    from isogloss.corpora.readers import read_file, read_parallel

    if (FORMATS[format] if format else detect_format(file)).kind == "parallel":
        return read_parallel(file, repair=repair)
    return read_file(file, format, lang=lang, repair=repair)
