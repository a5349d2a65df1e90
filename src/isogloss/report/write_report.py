"""`write_report`: results as one HTML page, and optionally every table and figure as a file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from isogloss.core.errors import UsageError
from isogloss.core.files import atomic_write_binary
from isogloss.report.export import Progress, export
from isogloss.report.inputs import ReportInputs, inputs_from_results, read_inputs
from isogloss.report.page import page
from isogloss.report.sections import Section
from isogloss.report.statistics import compute_statistics
from isogloss.results.rows.curves import Curves
from isogloss.results.rows.results import RESULT_COLUMNS, Results

About = ReportInputs | Results | Curves | str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


def write_report(
    about: About,
    path: str | os.PathLike[str],
    *,
    study: str | None = None,
    folder: str | os.PathLike[str] | None = None,
    title: str | None = None,
    progress: Progress | None = None,
    sections: Sequence[Section] = (),
) -> None:
    """Write a page about results: a store (`study` names the study if there are several), files of rows, or the
    return value of `transfer`, `run_study` or `similarity`. `folder`: also write every table and figure there.
    `sections`: text and tables to show before the findings.
    """
    if Path(path).suffix != ".html":
        raise UsageError(f"{os.fspath(path)}: a report is one page; expected .html, got '{Path(path).suffix}'")
    inputs = _inputs(about, study, title or Path(path).stem)
    statistics = compute_statistics(inputs)
    content = page(inputs, statistics, sections)
    with atomic_write_binary(path) as file:
        file.write(content.encode("utf-8", "replace"))  # lone surrogates cannot be encoded
    if folder is not None:
        export(inputs, statistics, folder, progress, sections)


def _inputs(about: About, study: str | None, title: str) -> ReportInputs:
    if isinstance(about, ReportInputs):
        return about
    if isinstance(about, Results):
        return inputs_from_results(about, title=title)
    if isinstance(about, Curves):
        return inputs_from_results(Results(pl.DataFrame(schema=RESULT_COLUMNS)), about, title=title)
    return read_inputs([about] if isinstance(about, str | os.PathLike) else about, study)
