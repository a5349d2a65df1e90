"""The charts of a report: Vega-Lite specifications over the data set `rows`, which the page or the export provides.

Colours are distinguishable by colour-blind readers; shapes, dashes or labels repeat the same information.
"""

from __future__ import annotations

import json

from isogloss.results.figures.curves import PALETTE
from isogloss.results.figures.vega import VegaSpec

COLOURS = [*PALETTE, "#5A4A5A", "#EE0044"]  # more would not be distinguishable; they repeat
CONFIG: VegaSpec = {
    "font": "system-ui, sans-serif",
    "view": {"stroke": None},
    "axis": {"gridColor": "#e3e3e3", "labelColor": "#222", "titleColor": "#222", "labelFontSize": 12,
             "titleFontSize": 12, "labelLimit": 130, "domainColor": "#888", "tickColor": "#888"},
    "legend": {"labelFontSize": 12, "titleFontSize": 12, "labelLimit": 220, "orient": "top", "columns": 4,
               "symbolOpacity": 1},
}  # fmt: skip


def _spec(title: str, **parts: object) -> VegaSpec:
    return {"description": title, "data": {"name": "rows"}, "width": "container", "config": CONFIG, **parts}


def _tooltip(*names: str) -> list[VegaSpec]:
    """Fields of a tooltip; `name=format` is a number."""
    fields: list[VegaSpec] = []
    for name in names:
        field, _, form = name.partition("=")
        fields.append({"field": field, "type": "quantitative", "format": form} if form else {"field": field})
    return fields


def _nominal(field: str, *values: object) -> VegaSpec:
    """A channel of names in the order of the rows, without a title; `values` are its colours or dashes."""
    scale = {"scale": {"range": list(values)}} if values else {}
    return {"field": field, "type": "nominal", "sort": None, "title": None, **scale}


def _legend_selection(field: str, shown: float = 1.0, hidden: float = 0.12) -> tuple[list[VegaSpec], VegaSpec]:
    """A click on a legend entry highlights it; with the shift key, several."""
    param = {"name": "selected", "select": {"type": "point", "fields": [field]}, "bind": "legend"}
    return [param], {"condition": {"param": "selected", "value": shown}, "value": hidden}


def score_spec() -> VegaSpec:
    """One row per target, one dot per condition: the mean over seeds, with its standard deviation."""
    params, opacity = _legend_selection("interventions")
    x = {"type": "quantitative", "scale": {"zero": False}, "title": "score (points)", "axis": {"tickCount": 8}}
    return _spec(
        "Scores by target, one dot for each condition",
        height={"step": 24},
        encoding={
            "y": _nominal("target"),
            "color": _nominal("interventions", *COLOURS),
            "opacity": opacity,
            "tooltip": _tooltip("target", "interventions", "experiment", "score=.2f", "sd=.2f", "gap=.2f"),
        },
        layer=[
            {"name": "interval", "mark": {"type": "rule", "strokeWidth": 1.5},
             "encoding": {"x": {"field": "low", **x}, "x2": {"field": "high"}}},
            {"mark": {"type": "point", "filled": True, "size": 70}, "params": params,
             "encoding": {"x": {"field": "score", **x}, "shape": _nominal("experiment")}},
        ],
    )  # fmt: skip


def curve_spec() -> VegaSpec:
    """Similarity by layer, one line per target; the second experiment is dashed, the final norm a diamond."""
    params, opacity = _legend_selection("target")
    x = {"field": "layer", "type": "quantitative", "title": "layer", "axis": {"tickMinStep": 1, "format": "d"}}
    y = {"type": "quantitative", "title": "similarity", "scale": {"zero": False}}
    blocks, norm = {"filter": "datum.stage != 'final norm'"}, {"filter": "datum.stage == 'final norm'"}
    tip = _tooltip("target", "experiment", "layer", "stage", "value=.3f", "low=.3f", "high=.3f")
    return _spec(
        "Similarity by layer, one line for each target language",
        height=300,
        encoding={"x": x, "color": _nominal("target", *COLOURS), "opacity": opacity, "tooltip": tip},
        layer=[
            {
                "name": "interval",
                "transform": [blocks, {"filter": "isValid(datum.low)"}],
                "mark": "area",
                "encoding": {
                    "y": {"field": "low", **y},
                    "y2": {"field": "high"},
                    "detail": {"field": "experiment"},
                    "opacity": {"condition": {"param": "selected", "value": 0.15}, "value": 0.02},
                },
            },
            {
                "transform": [blocks],
                "params": params,
                "mark": {"type": "line", "strokeWidth": 2},
                "encoding": {"y": {"field": "value", **y}, "strokeDash": _nominal("experiment", [1, 0], [6, 4])},
            },
            {"transform": [blocks], "mark": {"type": "circle", "size": 26}, "encoding": {"y": {"field": "value", **y}}},
            {
                "name": "final norm",
                "transform": [norm],
                "mark": {"type": "point", "shape": "diamond", "size": 70},
                "encoding": {"y": {"field": "value", **y}},
            },
        ],
    )


# positions of the names in a cluster of points: of the highest point above it, of the others below, right and left;
# a language is named once, at the point of the first experiment
LABEL_POSITIONS: list[VegaSpec] = [
    {"filter": "datum.name"},
    {"joinaggregate": [{"op": op, "field": field, "as": f"{op}_{field}"}
                       for op in ("min", "max") for field in ("similarity", "gap")]},
    {"window": [{"op": "lag", "field": field, "as": f"last_{field}"} for field in ("similarity", "gap")],
     "sort": [{"field": "similarity"}]},
    {"calculate": "datum.last_similarity !== null"
     " && datum.similarity - datum.last_similarity < 0.05 * (datum.max_similarity - datum.min_similarity)"
     " && abs(datum.gap - datum.last_gap) < 0.09 * (datum.max_gap - datum.min_gap) ? 0 : 1", "as": "starts_cluster"},
    {"window": [{"op": "sum", "field": "starts_cluster", "as": "cluster"}], "sort": [{"field": "similarity"}]},
    {"window": [{"op": "row_number", "as": "position"}], "groupby": ["cluster"],
     "sort": [{"field": "gap", "order": "descending"}]},
]  # fmt: skip


def _by_position(*values: object) -> VegaSpec:
    return {"expr": f"{json.dumps(values)}[(datum.position - 1) % {len(values)}]"}


def gap_spec(heading: str = "gap") -> VegaSpec:
    """The gap of each target against its similarity; a line connects the points of a target in two experiments.

    `heading` says what the gap is the difference to, such as "gap to source test".
    """
    scale: VegaSpec = {"zero": False, "nice": False, "padding": 20}
    axes = {
        "x": {"field": "similarity", "type": "quantitative", "scale": scale, "axis": {"tickCount": 8}},
        "y": {"field": "gap", "type": "quantitative", "title": f"{heading} (points)", "scale": scale},
    }
    return _spec(
        "Cross-lingual gap against similarity, one point for each target language",
        height=280,
        encoding={**axes, "tooltip": _tooltip("target", "experiment", "similarity=.3f", "gap=.2f")},
        layer=[
            {"mark": {"type": "line", "color": "#8a8a8a", "strokeWidth": 1},
             "encoding": {"detail": {"field": "target"}}},
            {"mark": {"type": "point", "filled": True, "size": 70, "color": COLOURS[0], "opacity": 1},
             "encoding": {"color": _nominal("experiment", *COLOURS),
                          "shape": {"field": "experiment", "type": "nominal", "sort": None}}},
            {"mark": {"type": "text", "dx": _by_position(0, 0, 8, -8), "dy": _by_position(-11, 13, 1, 1), "limit": 90,
                      "align": _by_position("center", "center", "left", "right"), "baseline": "middle", "fontSize": 12},
             "transform": LABEL_POSITIONS, "encoding": {"text": {"field": "name"}}},
        ],
    )  # fmt: skip


def histogram_spec() -> VegaSpec:
    """Distances of related and of unrelated words, in the same bins."""
    params, opacity = _legend_selection("words", shown=0.55, hidden=0.05)
    return _spec(
        "Histograms of the distances of related and unrelated word pairs",
        height=220,
        params=params,
        mark={"type": "bar", "binSpacing": 0},
        encoding={
            "opacity": opacity,
            "x": {"field": "low", "type": "quantitative", "title": "distance", "bin": {"binned": True}},
            "x2": {"field": "high"},
            "y": {"field": "share", "type": "quantitative", "stack": None, "title": "share", "axis": {"format": "%"}},
            "color": _nominal("words", *COLOURS),
            "tooltip": _tooltip("words", "low=.3f", "high=.3f", "share=.2%"),
        },
    )  # fmt: skip
