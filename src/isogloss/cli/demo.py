"""`isogloss demo`: all steps of isogloss on artificial languages, in minutes and without a network."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from isogloss.cli.arguments import Device, Workers
from isogloss.cli.screen import err, library_warnings, out, print_error, show_result_table, show_table
from isogloss.cli.training import resumable, study_progress

if TYPE_CHECKING:
    import polars as pl

    from isogloss.demo.study import DemoSizes
    from isogloss.report.sections import Section
    from isogloss.store.entries import Store

BAR_CHARACTERS = " ▁▂▃▄▅▆▇█"
REPORT_FILE = "report.html"


def demo(
    output: Annotated[Path, Option("--out", "-o", help="Folder for the report and the store.")] = Path("isogloss-demo"),
    sentences: Annotated[int, Option(min=50, help="Number of parallel sentences to compare.")] = 200,
    workers: Workers = None,
    device: Device = None,
) -> None:
    """Show on artificial languages where a model aligns languages, what breaks transfer, and what repairs it."""
    _show_languages()  # shown before slow imports
    from isogloss.demo.study import DemoSizes
    from isogloss.store.entries import Store

    options: dict[str, Any] = {"device": device, **({} if workers is None else {"workers": workers})}
    store = Store(output / "store")
    with library_warnings(), resumable(output):
        parts = _run_demo(replace(DemoSizes(), parallel=sentences), output, store, options)
    out.print("\n[bold]In short[/]")
    for part in parts:
        out.print(f"{part.title.partition('.')[0]}. {part.sentences[0]}", soft_wrap=not out.is_terminal, markup=False)
    out.print(f"\nReport: {(output / REPORT_FILE).resolve()}", soft_wrap=True, markup=False)
    out.print(f"Next: isogloss serve {store.folder} · isogloss ls · isogloss --help", soft_wrap=True, markup=False)


def _show_languages() -> None:
    """Show the languages of the laboratory, and one sentence in all of them."""
    from isogloss.cli.ls import LISTINGS
    from isogloss.corpora.lab.laboratory import Laboratory

    columns, rows = LISTINGS["laboratory"]
    show_table("The laboratory: artificial languages with known structure", columns, rows())
    lab = Laboratory(seed=0)
    text = lab.parallel(list(lab.languages), 20)
    shortest = min(text, key=lambda meaning: len(meaning["qla"]))
    show_table("\nOne sentence in all languages", ("code", "sentence"), shortest.items())


def _run_demo(amounts: DemoSizes, folder: Path, store: Store, options: dict[str, Any]) -> list[Section]:
    """Run the five parts, show each, and write the report."""
    from isogloss.demo import story as story
    from isogloss.demo.study import STUDY_NAME, demo_diagnosis, demo_study
    from isogloss.diagnosis.diagnose import diagnose
    from isogloss.report.inputs import inputs_from_store
    from isogloss.report.statistics import compute_statistics
    from isogloss.report.write_report import write_report
    from isogloss.studies.execution.run_study import run_study

    _print_step("fine-tuning and measuring the encoder of the laboratory")
    with study_progress(store) as watch:
        failed = run_study(demo_study(amounts), store=store.folder, watch=watch, **options).failed
    for label, reason in failed.items():
        print_error(f"{label}: {reason}")
    if failed:
        raise typer.Exit(1)
    subject = inputs_from_store(store.folder, STUDY_NAME)
    analysis = compute_statistics(subject)
    parts = [story.similarity_section(subject), story.reinit_section(subject, analysis)]
    parts.append(story.gap_section(subject, analysis))
    for part in parts:
        _show_section(part)
    diagnosis = demo_diagnosis(amounts)
    with study_progress(store) as watch:
        verdict = diagnose(
            "laboratory",
            **diagnosis,
            out=folder / diagnosis["lang"],
            store=store.folder,
            watch=watch,
            on_progress=_print_step,
            **options,
        )
    parts += [story.unseen_section(verdict), story.adjustment_section(subject, analysis, amounts.bitext)]
    for part in parts[-2:]:
        _show_section(part)
    _histograms(subject.distances.frame.filter(metric=story.METRIC))
    write_report(replace(subject, title="isogloss demo"), folder / REPORT_FILE, sections=parts)
    return parts


def _print_step(what: str) -> None:
    err.print(f"{what} …", soft_wrap=True, markup=False)


def _show_section(part: Section) -> None:
    """Show the table of a section, or its sentences if it has none."""
    if part.table:
        show_result_table(f"\n{part.title}", part.table)
    else:
        out.print(f"\n[bold]{part.title}[/]")
        for sentence in part.sentences:
            out.print(sentence, markup=False)


def _histograms(frame: pl.DataFrame) -> None:
    """Show the distances of words for each model, as a histogram in one line."""
    rows = [
        (name, words, f"{min(bins['low']):.1f}", _bars(bins.sort("low")["share"].to_list()), f"{max(bins['high']):.1f}")
        for (name, words), bins in frame.group_by("model", "words", maintain_order=True)
    ]
    show_table("\nDistances between words", ("model", "words", "from", "share of pairs", "to"), rows)


def _bars(shares: list[float]) -> str:
    """
    >>> _bars([0.0, 0.1, 0.4, 0.2])
    ' ▂█▄'
    """
    highest = max(shares)
    return "".join(BAR_CHARACTERS[round(8 * share / highest)] for share in shares)
