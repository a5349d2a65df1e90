"""Charts of scores by target: one dot per seed, a bar for their mean, one colour per experiment."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import polars as pl

from isogloss.results.figures.curves import PALETTE

ROW_HEIGHT, PANEL_WIDTH = 22, 320  # pixels


def score_chart(rows: pl.DataFrame, metrics: Sequence[str]) -> alt.Chart:
    """Panels side by side, one per metric; targets sorted from best to worst."""
    labelled = rows.with_columns(experiment=_experiment(rows))
    order = rows.group_by("target").agg(pl.col("value").mean()).sort("value", descending=True)["target"].to_list()
    panels = [_panel(labelled.filter(pl.col("metric") == metric), metric, order) for metric in metrics]
    chart: alt.Chart = alt.concat(*panels, columns=2).configure_axis(gridOpacity=0.4).configure_view(stroke=None)
    return chart


def _panel(rows: pl.DataFrame, metric: str, order: Sequence[str]) -> alt.LayerChart | alt.FacetChart:
    experiments = rows["experiment"].n_unique()
    base = alt.Chart({"values": rows.to_dicts()}).encode(
        y=alt.Y("target:N", sort=list(order), title=None),
        yOffset=alt.YOffset("experiment:N"),
        color=alt.Color(
            "experiment:N", scale=alt.Scale(range=PALETTE), title=None, legend=alt.Legend() if experiments > 1 else None
        ),
    )
    seeds = base.mark_circle(size=30, opacity=0.5).encode(
        x=alt.X("value:Q", title=metric, scale=alt.Scale(zero=False)),
        tooltip=["experiment:N", "target:N", "seed:O", alt.Tooltip("value:Q", format=".4f")],
    )
    means = base.mark_tick(thickness=3).encode(x="mean(value):Q")
    height = ROW_HEIGHT * max(1, experiments) * max(1, len(order))
    return alt.layer(seeds, means).properties(title=metric, width=PANEL_WIDTH, height=height)


def _experiment(rows: pl.DataFrame) -> pl.Expr:
    """The name of an experiment: those of model, changes, task and source that differ; the model if none differs."""
    distinct = [name for name in ("model", "changes", "task", "source") if rows[name].n_unique() > 1] or ["model"]
    return pl.concat_str(*distinct, separator=" ")
