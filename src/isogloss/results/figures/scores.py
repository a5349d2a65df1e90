"""Charts of scores by target: a dot for each seed, a bar for their mean, a colour for each experiment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import polars as pl

from isogloss.results.figures.curves import PALETTE

ROW_HEIGHT, WIDTH = 22, 320


def score_chart(rows: pl.DataFrame, metrics: Sequence[str]) -> alt.Chart:
    """Panels side by side, one per metric; targets from the best to the worst."""
    named = rows.with_columns(experiment=_experiment(rows))
    order = rows.group_by("target").agg(pl.col("value").mean()).sort("value", descending=True)["target"].to_list()
    panels = [_panel(named.filter(pl.col("metric") == metric), metric, order) for metric in metrics]
    chart: alt.Chart = alt.concat(*panels, columns=2).configure_axis(gridOpacity=0.4).configure_view(stroke=None)
    return chart


def _panel(rows: pl.DataFrame, metric: str, order: Sequence[str]) -> Any:
    several = rows["experiment"].n_unique()
    base = alt.Chart({"values": rows.to_dicts()}).encode(
        y=alt.Y("target:N", sort=list(order), title=None),
        yOffset=alt.YOffset("experiment:N"),
        color=alt.Color(
            "experiment:N", scale=alt.Scale(range=PALETTE), title=None, legend=alt.Legend() if several > 1 else None
        ),
    )
    seeds = base.mark_circle(size=30, opacity=0.5).encode(
        x=alt.X("value:Q", title=metric, scale=alt.Scale(zero=False)),
        tooltip=["experiment:N", "target:N", "seed:O", alt.Tooltip("value:Q", format=".4f")],
    )
    means = base.mark_tick(thickness=3).encode(x="mean(value):Q")
    height = ROW_HEIGHT * max(1, several) * max(1, len(order))
    return alt.layer(seeds, means).properties(title=metric, width=WIDTH, height=height)


def _experiment(rows: pl.DataFrame) -> pl.Expr:
    """What tells experiments apart: those of model, changes, task and source that differ; the model if none does."""
    telling = [name for name in ("model", "changes", "task", "source") if rows[name].n_unique() > 1] or ["model"]
    return pl.concat_str(*telling, separator=" ")
