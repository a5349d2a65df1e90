"""`isogloss lab --out DIR`: write the laboratory's corpora in standard formats."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from isogloss.cli.screen import out


def lab(
    out_dir: Annotated[Path, typer.Option("--out", "-o", help="Folder to write to; made if absent.")],
    seed: Annotated[int, typer.Option(help="Same seed, same bytes.")] = 0,
) -> None:
    """Write the artificial languages: treebanks, NER, NLI, QA, parallel text, alignments, lexicons, raw text."""
    from isogloss.corpora.lab.export import write_laboratory

    write_laboratory(out_dir, seed=seed)
    out.print(f"laboratory written to {out_dir}", soft_wrap=True)
