"""Charts of distances between words: related and unrelated pairs over each other, a panel for each model."""

from __future__ import annotations

from typing import Any

import altair as alt
import polars as pl

from isogloss.core.registry import check_name
from isogloss.results.figures.curves import PALETTE

PANEL = {"width": 220, "height": 140}


def distance_chart(frame: pl.DataFrame, summary: pl.DataFrame, metric: str) -> alt.ConcatChart:
    """Models side by side in the order given, language pairs below each other, all on the same scale."""
    check_name(metric, frame["metric"].unique(maintain_order=True), "metric of these distances")
    rows = frame.filter(pl.col("metric") == metric)
    told = summary.filter(pl.col("metric") == metric)
    low, high = float(rows["low"].min()), float(rows["high"].max())  # type: ignore[arg-type]
    scale = alt.Scale(domain=[min(low, 0.0), high])
    panels = [
        _panel(rows.filter(pl.col("model") == row["model"], pl.col("pair") == row["pair"]), row, scale)
        for row in told.iter_rows(named=True)
    ]
    chart: alt.ConcatChart = alt.concat(*panels, columns=told["model"].n_unique())
    configured: alt.ConcatChart = chart.configure_axis(gridOpacity=0.4).configure_view(stroke=None)
    return configured


def _panel(rows: pl.DataFrame, told: dict[str, Any], scale: alt.Scale) -> Any:
    title = alt.TitleParams(
        f"{told['model']} · {told['pair']}",
        subtitle=f"overlap {told['overlap']:.2f}, separation {told['separation']:.3f}",
    )
    return (
        alt.Chart(alt.InlineData(values=rows.to_dicts()))
        .mark_bar(opacity=0.55, binSpacing=0)
        .encode(
            x=alt.X("low:Q", bin="binned", title=f"{told['metric']} distance, layer {told['layer']}", scale=scale),
            x2="high:Q",
            y=alt.Y("share:Q", title="share of pairs", stack=None),
            color=alt.Color("words:N", scale=alt.Scale(range=PALETTE), title=None),
            tooltip=["words:N", alt.Tooltip("low:Q", format=".2f"), alt.Tooltip("share:Q", format=".3f"), "count:Q"],
        )
        .properties(title=title, **PANEL)
    )
