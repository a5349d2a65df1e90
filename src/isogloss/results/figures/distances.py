"""Charts of distances between words: related and unrelated pairs overlaid, one panel per model."""

from __future__ import annotations

from collections.abc import Mapping

import altair as alt
import polars as pl

from isogloss.core.registry import check_name
from isogloss.results.figures.curves import PALETTE, concatenate

PANEL_WIDTH, PANEL_HEIGHT = 220, 140  # pixels


def distance_chart(frame: pl.DataFrame, summary: pl.DataFrame, metric: str) -> alt.ConcatChart:
    """Models side by side in their order, language pairs below each other, all on the same scale."""
    check_name(metric, frame["metric"].unique(maintain_order=True), "metric of these distances")
    rows = frame.filter(pl.col("metric") == metric)
    summaries = summary.filter(pl.col("metric") == metric)
    low, high = float(rows["low"].min()), float(rows["high"].max())  # type: ignore[arg-type]
    scale = alt.Scale(domain=[min(low, 0.0), high])
    panels = [
        _panel(rows.filter(pl.col("model") == row["model"], pl.col("pair") == row["pair"]), row, scale)
        for row in summaries.iter_rows(named=True)
    ]
    return concatenate(panels, columns=summaries["model"].n_unique())


def _panel(rows: pl.DataFrame, summary: Mapping[str, str | float], scale: alt.Scale) -> alt.Chart:
    title = alt.TitleParams(
        f"{summary['model']} · {summary['pair']}",
        subtitle=f"overlap {summary['overlap']:.2f}, separation {summary['separation']:.3f}",
    )
    distance = f"{summary['metric']} distance, layer {summary['layer']}"
    bars = alt.Chart(alt.InlineData(values=rows.to_dicts())).mark_bar(opacity=0.55, binSpacing=0)
    chart: alt.Chart = bars.encode(
        x=alt.X("low:Q", bin="binned", title=distance, scale=scale),
        x2="high:Q",
        y=alt.Y("share:Q", title="share of pairs", stack=None),
        color=alt.Color("words:N", scale=alt.Scale(range=PALETTE), title=None),
        tooltip=["words:N", alt.Tooltip("low:Q", format=".2f"), alt.Tooltip("share:Q", format=".3f"), "count:Q"],
    ).properties(title=title, width=PANEL_WIDTH, height=PANEL_HEIGHT)
    return chart
