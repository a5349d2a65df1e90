"""Charts of scores by target: one dot per seed, a bar for their mean, one colour per experiment."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import polars as pl

from isogloss.results.figures.curves import PALETTE, concatenate

ROW_HEIGHT, PANEL_WIDTH = 22, 320  # pixels


def score_chart(rows: pl.DataFrame, metrics: Sequence[str]) -> alt.ConcatChart:
    """Panels side by side, one per metric; targets sorted from best to worst."""
    # the name of an experiment: the properties that differ; the model if none differs
    distinct = [name for name in ("model", "changes", "task", "source") if rows[name].n_unique() > 1] or ["model"]
    labelled = rows.with_columns(experiment=pl.concat_str(*distinct, separator=" "))
    order = rows.group_by("target").agg(pl.col("value").mean()).sort("value", descending=True)["target"].to_list()
    panels = [_panel(labelled.filter(pl.col("metric") == metric), metric, order) for metric in metrics]
    return concatenate(panels, columns=2)


def _panel(rows: pl.DataFrame, metric: str, order: Sequence[str]) -> alt.LayerChart:
    experiments = rows["experiment"].n_unique()
    legend = alt.Legend() if experiments > 1 else None
    base = alt.Chart({"values": rows.to_dicts()}).encode(
        y=alt.Y("target:N", sort=list(order), title=None),
        yOffset=alt.YOffset("experiment:N"),
        color=alt.Color("experiment:N", scale=alt.Scale(range=PALETTE), title=None, legend=legend),
    )
    seeds = base.mark_circle(size=30, opacity=0.5).encode(
        x=alt.X("value:Q", title=metric, scale=alt.Scale(zero=False)),
        tooltip=["experiment:N", "target:N", "seed:O", alt.Tooltip("value:Q", format=".4f")],
    )
    means = base.mark_tick(thickness=3).encode(x="mean(value):Q")
    height = ROW_HEIGHT * max(1, experiments) * max(1, len(order))
    panel: alt.LayerChart = alt.layer(seeds, means).properties(title=metric, width=PANEL_WIDTH, height=height)
    return panel
