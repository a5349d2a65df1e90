"""Charts of similarity by layer: one panel per index, one line per language pair or per model."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import polars as pl

from isogloss.indexes.labels import index_label
from isogloss.results.rows.curves import CURVE_VALUES, FINAL_NORM

# distinguishable by colour-blind readers and dark enough for thin lines: from Okabe & Ito's palette, and others
PALETTE = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#8A2BE2", "#6B3410", "#14297A"]
PANEL_WIDTH, PANEL_HEIGHT = 300, 220  # pixels


def curve_chart(frame: pl.DataFrame, indexes: Sequence[str], labels: Sequence[str], pairs: bool) -> alt.ConcatChart:
    """Panels side by side; hovering shows values, a click on the legend highlights a line."""
    line, rows = _line_names(frame, labels, pairs)
    if not pairs:
        rows = rows.with_columns(
            value="mean", low=pl.col("mean") - pl.col("spread"), high=pl.col("mean") + pl.col("spread")
        )
    selected = alt.selection_point(fields=[line], bind="legend", name="selected")
    panels = [_panel(rows.filter(pl.col("index") == index), index, line, selected) for index in indexes]
    panels[0] = panels[0].add_params(selected)  # one legend serves all panels
    return concatenate(panels, columns=3)


def concatenate(panels: Sequence[alt.LayerChart | alt.Chart], columns: int) -> alt.ConcatChart:
    """Panels in a grid, with faint grid lines."""
    chart: alt.ConcatChart = alt.concat(*panels, columns=columns)
    configured: alt.ConcatChart = chart.configure_axis(gridOpacity=0.4).configure_view(stroke=None)
    return configured


def _panel(rows: pl.DataFrame, index: str, line: str, selected: alt.Parameter) -> alt.LayerChart:
    """Lines over the layers with a band for the interval; diamonds are the output of the final norm."""
    lines = rows[line].n_unique()
    numbers = CURVE_VALUES if rows["low"].is_finite().any() else CURVE_VALUES[:1]  # without intervals, no bounds
    colours = alt.Scale(range=PALETTE) if lines <= len(PALETTE) else alt.Scale(scheme="tableau20")
    base = alt.Chart(alt.InlineData(values=rows.to_dicts())).encode(
        x=alt.X("layer:Q", title="layer", axis=alt.Axis(tickMinStep=1, format="d")),
        y=alt.Y("value:Q", title=index_label(index), scale=alt.Scale(zero=False)),
        color=alt.Color(f"{line}:N", scale=colours, title=line, legend=alt.Legend(symbolOpacity=1)),
        opacity=alt.condition(selected, alt.value(1.0), alt.value(0.12)),
        tooltip=[f"{line}:N", "layer:O", "stage:N", *(alt.Tooltip(f"{x}:Q", format=".3f") for x in numbers)],
    )
    blocks = base.transform_filter("datum.stage != 'final norm'")
    band = (
        blocks.transform_filter("isValid(datum.low)")
        .mark_area()
        .encode(y="low:Q", y2="high:Q", opacity=alt.condition(selected, alt.value(0.18), alt.value(0.02)))
    )
    marks = [blocks.mark_line(point=alt.OverlayMarkDef(size=22))]
    marks[:0] = [band] if len(numbers) > 1 else []
    if FINAL_NORM in rows["stage"]:
        marks.append(base.transform_filter("datum.stage == 'final norm'").mark_point(shape="diamond", size=60))
    panel: alt.LayerChart = alt.layer(*marks).properties(
        title=index_label(index), width=PANEL_WIDTH, height=PANEL_HEIGHT
    )
    return panel


def _line_names(rows: pl.DataFrame, labels: Sequence[str], pairs: bool) -> tuple[str, pl.DataFrame]:
    """The name of the lines: the pair, the model, or all properties with several values."""
    names = [*labels]
    if pairs:
        rows, names = rows.with_columns(pair=pl.col("source") + "–" + pl.col("target")), [*labels, "pair"]
    distinct = [name for name in names if rows[name].n_unique() > 1] or ["pair" if pairs else "model"]
    line = " and ".join(distinct)
    return line, rows.with_columns(pl.concat_str(distinct, separator=" ", ignore_nulls=True).alias(line))
