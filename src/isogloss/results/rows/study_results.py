"""The results of a study: scores, curves, distances, published values and errors."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import polars as pl

from isogloss.results.rows.curves import CURVE_COLUMNS, NEUTRAL_COLUMNS, Curves
from isogloss.results.rows.distance_histograms import NO_DISTANCES, DistanceHistograms
from isogloss.results.rows.results import Results, Schema

if TYPE_CHECKING:
    from isogloss.results.tables.tables import Table

TABLE_SUFFIXES = (".md", ".tex")
Stars = Literal["corrected", "paper"]
# the run of a curve, and whether it was measured before or after fine-tuning
RUN_COLUMNS: Schema = {
    **dict.fromkeys(["study", "run", "changes", "task"], pl.String),
    "seed": pl.Int64,
    "when": pl.String,
}


@dataclass(frozen=True)
class StudyResults(Results):
    """The return value of `run_study`: results and curves of all finished runs.

    `failed` has the errors of runs, and of single test sets of runs, by label.
    """

    curves: Curves = field(default_factory=lambda: Curves(pl.DataFrame(schema={**CURVE_COLUMNS, **RUN_COLUMNS})))
    reference: str = "REF"
    published: pl.DataFrame | None = None
    neutral: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema={**NEUTRAL_COLUMNS, **RUN_COLUMNS}))
    distances: DistanceHistograms = NO_DISTANCES

    def paper_table(self, stars: Stars = "corrected") -> Table:
        """Differences to the reference as in papers, with published values if known: of each target, and of the mean
        over languages (the target X) if there are several.

        For a study with one condition: means, standard deviations and gaps. `stars`: "corrected" as everywhere (see
        `results.comparisons.marks`), or "paper" with the meaning of the paper of the published values.
        """
        from isogloss.results.comparisons.differences import noted_differences
        from isogloss.results.comparisons.marks import stars_note
        from isogloss.results.comparisons.paper_stars import with_paper_stars
        from isogloss.results.comparisons.published_values import published_notes, with_published
        from isogloss.results.tables.tables import delta_table, score_table

        if self.frame["changes"].n_unique() < 2:
            scores = self.table().with_columns(change="changes")
            # for other conditions than the reference, differences are published
            if self.published is not None and self.reference in scores["change"]:
                scores = with_published(scores, self.published, reference=self.reference)
            notes = [*published_notes(scores, self.published), *self.failed_notes]
            return replace(score_table(scores), notes=tuple(notes))
        rows, notes = noted_differences(self.frame, self.predictions, reference=self.reference)
        rows = rows.sort("study", "model", "task", "source", maintain_order=True)
        if self.published is not None:
            rows = with_published(rows, self.published, reference=self.reference)
        note = stars_note(self.reference)
        if stars == "paper":
            rows, note = with_paper_stars(rows, self.frame, self.predictions, self.published)
        notes += [note] if rows["stars"].str.len_chars().sum() else []
        notes += [*published_notes(rows, self.published), *self.failed_notes]
        return replace(delta_table(rows, reference=self.reference), notes=tuple(notes))

    def write(self, path: str | os.PathLike[str], *, stars: Stars = "corrected") -> None:
        """As `Results.write`; `.md` and `.tex` are the paper's table (see `paper_table`). Without scores: curves or
        distances."""
        from isogloss.results.tables.curve_summary import curve_table
        from isogloss.results.tables.formats import write_table
        from isogloss.results.tables.tables import frame_table

        only_curves = self.frame.is_empty() and not self.curves.frame.is_empty()
        only_distances = self.frame.is_empty() and not only_curves and not self.distances.frame.is_empty()
        if Path(path).suffix in TABLE_SUFFIXES:
            table = frame_table(self.distances.labelled().table(), decimals=3) if only_distances else None
            write_table(table or (curve_table(self.curves) if only_curves else self.paper_table(stars)), path)
        elif only_curves:
            self.curves.write(path)
        elif only_distances:
            self.distances.labelled().write(path)
        else:
            super().write(path)
