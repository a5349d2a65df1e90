"""`isogloss lab --out FOLDER`: write the corpora of the laboratory in standard formats."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Option

from isogloss.cli.screen import print_written, progress_bars


def lab(
    out_dir: Annotated[Path, Option("--out", "-o", help="Folder for the corpora; created if it does not exist.")],
    seed: Annotated[int, Option(help="Random seed; the same seed writes the same bytes.")] = 0,
    languages: Annotated[
        str | None, Option(help="Language codes, separated by commas (see `isogloss ls laboratory`); by default all.")
    ] = None,
    train: Annotated[int, Option(min=1, help="Number of items in each training set.")] = 3000,
    test: Annotated[int, Option(min=1, help="Number of items in each development and test set.")] = 500,
    parallel: Annotated[int, Option(min=1, help="Number of parallel sentences.")] = 1000,
    text: Annotated[int, Option(min=1, help="Number of lines of raw text in each language.")] = 20_000,
) -> None:
    """Write corpora of artificial languages: treebanks, NER, NLI, QA, parallel text, alignments, lexicons, raw text."""
    from isogloss.corpora.lab.export import Sizes, write_laboratory

    chosen = [code.strip() for code in languages.split(",")] if languages else None
    with progress_bars("laboratory") as bars:
        write_laboratory(
            out_dir,
            seed=seed,
            sizes=Sizes(train, test, test, parallel, text),
            languages=chosen,
            progress=lambda done, total: bars("languages", done, total),
        )
    print_written(out_dir)
