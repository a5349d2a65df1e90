"""`isogloss lab --out DIR`: write the laboratory's corpora in standard formats."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from isogloss.cli.screen import out, progress_bars


def lab(
    out_dir: Annotated[Path, typer.Option("--out", "-o", help="Folder to write to; made if absent.")],
    seed: Annotated[int, typer.Option(help="Same seed, same bytes.")] = 0,
    languages: Annotated[
        str | None, typer.Option(help="Codes, separated by commas (`isogloss ls laboratory`).")
    ] = None,
    train: Annotated[int, typer.Option(min=1, help="Items of each training set.")] = 3000,
    test: Annotated[int, typer.Option(min=1, help="Items of each dev and test set.")] = 500,
    parallel: Annotated[int, typer.Option(min=1, help="Parallel sentences.")] = 1000,
    text: Annotated[int, typer.Option(min=1, help="Lines of raw text in each language.")] = 20_000,
) -> None:
    """Write the artificial languages: treebanks, NER, NLI, QA, parallel text, alignments, lexicons, raw text."""
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
    out.print(f"laboratory written to {out_dir}", soft_wrap=True)
