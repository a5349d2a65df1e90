"""`isogloss demo`: the laboratory, and a first measurement, in a minute and without a network."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from isogloss.cli.screen import out, progress_bars, show_table

COMPARED = ["qla", "qlb", "qlc", "qld", "qlf"]  # the source, two relatives, one in other letters, two strangers


def demo(
    output: Annotated[Path, typer.Option("--out", "-o", help="Where the chart goes (.html, .svg, .png).")] = Path(
        "isogloss-demo.html"
    ),
    sentences: Annotated[int, typer.Option(min=50, help="Parallel sentences to compare.")] = 200,
) -> None:
    """Show the artificial languages of the laboratory and measure an encoder on them."""
    from isogloss.cli.ls import SHELVES
    from isogloss.corpora.lab.laboratory import Laboratory
    from isogloss.models.load import load_model
    from isogloss.models.similarity import similarity
    from isogloss.results.files import check_suffix

    check_suffix(output)
    lab = Laboratory(seed=0)
    columns, rows = SHELVES["laboratory"]
    show_table("The laboratory: artificial languages whose answers are known", columns, rows())
    text = lab.parallel(list(lab.languages), sentences)
    shortest = min(range(20), key=lambda i: len(text[i]["qla"]))
    show_table("\nOne meaning in all of them", ("code", "sentence"), text[shortest].items())

    with progress_bars("measuring the laboratory's 12-layer encoder") as bars:
        chosen = lab.parallel(COMPARED, sentences)
        curves = similarity(load_model("laboratory"), chosen, source="qla", progress=bars)
    out.print()
    for index in curves.indexes:
        values = curves.table(index).select("target", "0", "4", "8", "12").iter_rows()
        head = ("pair", "layer 0", "layer 4", "layer 8", "layer 12")
        show_table(index, head, ((f"qla–{t}", *_round(v)) for t, *v in values))
    curves.write(output)
    out.print(
        "\nThis encoder has read raw text of these languages, never a translation. Matching rises to a layer within "
        "and falls at the end: first it aligns, then it predicts. Relatives meet, even in other letters; strangers "
        "hardly do."
    )
    out.print(f"Chart: {output.resolve()}", soft_wrap=True)
    out.print("Next: isogloss similarity --help · isogloss lab --help · isogloss ls")


def _round(values: list[float]) -> list[str]:
    return [f"{value:.3f}" for value in values]
