"""`write_report`: results to one HTML page, and every table and figure to files of its own."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from isogloss.core.errors import UsageError
from isogloss.core.files import atomic_write_binary
from isogloss.report.analysis import analyse
from isogloss.report.export import Progress, export
from isogloss.report.one_page import Section
from isogloss.report.page import page
from isogloss.report.subject import Subject, of_results, read_subject
from isogloss.results.rows.curves import Curves
from isogloss.results.rows.results import RESULT_COLUMNS, Results

About = Subject | Results | Curves | str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


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
    """A page about results: those of a study in a store (`study` names it if there are several), files of rows, or
    what `transfer`, `run_study` or `similarity` returned. `folder`: where every table and figure goes as well.
    `sections`: what somebody has to say of the results, before all that the page says by itself.
    """
    if Path(path).suffix != ".html":
        raise UsageError(f"{os.fspath(path)}: a report is one page; expected .html, got '{Path(path).suffix}'")
    subject = _subject(about, study, title or Path(path).stem)
    analysis = analyse(subject)
    with atomic_write_binary(path) as file:
        content = page(subject, analysis, sections)
        file.write(content.encode("utf-8", "replace"))  # half a surrogate pair is no character
    if folder is not None:
        export(subject, analysis, folder, progress, sections)


def _subject(about: About, study: str | None, title: str) -> Subject:
    if isinstance(about, Subject):
        return about
    if isinstance(about, Results):
        return of_results(about, title=title)
    if isinstance(about, Curves):
        return _of_curves(about, title)
    return read_subject([about] if isinstance(about, str | os.PathLike) else about, study)


def _of_curves(curves: Curves, title: str) -> Subject:
    return of_results(Results(pl.DataFrame(schema=RESULT_COLUMNS)), curves, title=title)
