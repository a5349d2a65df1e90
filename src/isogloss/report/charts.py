"""The charts of a report as Vega-Lite specifications over the data set `rows`, which the page or the export fills.

Colours are told apart by colour-blind readers; shape, dash or label says the same once more.
"""

from __future__ import annotations

import json
from typing import Any

from isogloss.results.figures.curves import PALETTE

Spec = dict[str, Any]
COLOURS = [*PALETTE, "#5A4A5A", "#EE0044"]  # more could not be told apart; they begin again
CONFIG: Spec = {
    "font": "system-ui, sans-serif",
    "view": {"stroke": None},
    "axis": {"gridColor": "#e3e3e3", "labelColor": "#222", "titleColor": "#222", "labelFontSize": 12,
             "titleFontSize": 12, "labelLimit": 130, "domainColor": "#888", "tickColor": "#888"},
    "legend": {"labelFontSize": 12, "titleFontSize": 12, "labelLimit": 220, "orient": "top", "columns": 4,
               "symbolOpacity": 1},
}  # fmt: skip


def _spec(title: str, **parts: Any) -> Spec:
    return {
        "description": title,
        "data": {"name": "rows"},
        "width": "container",
        "config": CONFIG,
        **parts,
    }


def _tooltip(*names: str) -> list[Spec]:
    """Texts as they are, numbers (after `=`) with their format."""
    found = []
    for name in names:
        field, _, form = name.partition("=")
        found.append({"field": field, "type": "quantitative", "format": form} if form else {"field": field})
    return found


def _colour(field: str, title: str | None, **more: Any) -> Spec:
    return {"field": field, "type": "nominal", "sort": None, "scale": {"range": COLOURS}, "title": title, **more}


def _chosen(field: str, shown: float = 1.0, hidden: float = 0.12) -> tuple[list[Spec], Spec]:
    """A click on the legend brings one line out; with the shift key, several."""
    param = {"name": "chosen", "select": {"type": "point", "fields": [field]}, "bind": "legend"}
    return [param], {"condition": {"param": "chosen", "value": shown}, "value": hidden}


def score_spec() -> Spec:
    """A row per target, a dot per change: the mean over seeds, with its deviation."""
    params, opacity = _chosen("change")
    x = {"type": "quantitative", "scale": {"zero": False}, "title": "score (points)", "axis": {"tickCount": 8}}
    return _spec(
        "Scores by target, one dot for each change",
        height={"step": 24},
        encoding={
            "y": {"field": "target", "type": "nominal", "sort": None, "title": None},
            "color": _colour("change", None),
            "opacity": opacity,
            "tooltip": _tooltip("target", "change", "experiment", "score=.2f", "sd=.2f", "gap=.2f"),
        },
        layer=[
            {
                "mark": {"type": "rule", "strokeWidth": 1.5},
                "encoding": {"x": {"field": "low", **x}, "x2": {"field": "high"}},
            },
            {
                "params": params,
                "mark": {"type": "point", "filled": True, "size": 70},
                "encoding": {
                    "x": {"field": "score", **x},
                    "shape": {"field": "experiment", "type": "nominal", "sort": None, "title": None},
                },
            },
        ],
    )  # fmt: skip


def curve_spec() -> Spec:
    """Similarity over the layers, a line per target; the second experiment is dashed, the final norm a diamond."""
    params, opacity = _chosen("target")
    x = {"field": "layer", "type": "quantitative", "title": "layer", "axis": {"tickMinStep": 1, "format": "d"}}
    y = {"type": "quantitative", "title": "similarity", "scale": {"zero": False}}
    dash: Spec = {"field": "experiment", "type": "nominal", "sort": None, "title": None,
                  "scale": {"range": [[1, 0], [6, 4]]}}  # fmt: skip
    blocks, norm = {"filter": "datum.stage != 'final norm'"}, {"filter": "datum.stage == 'final norm'"}
    tip = _tooltip("target", "experiment", "layer", "stage", "value=.3f", "low=.3f", "high=.3f")
    return _spec(
        "Similarity by layer, one line for each target language",
        height=300,
        encoding={"x": x, "color": _colour("target", None), "opacity": opacity, "tooltip": tip},
        layer=[
            {
                "transform": [blocks],
                "mark": "area",
                "encoding": {
                    "y": {"field": "low", **y},
                    "y2": {"field": "high"},
                    "detail": {"field": "experiment"},
                    "opacity": {"condition": {"param": "chosen", "value": 0.15}, "value": 0.02},
                },
            },
            {
                "transform": [blocks],
                "params": params,
                "mark": {"type": "line", "strokeWidth": 2},
                "encoding": {"y": {"field": "value", **y}, "strokeDash": dash},
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


# of points that lie together the highest has its name above, the others below, right and left;
# a language is named once, beside the first experiment's point
BESIDE: list[Spec] = [
    {"filter": "datum.name"},
    {"joinaggregate": [{"op": op, "field": field, "as": f"{op}_{field}"}
                       for op in ("min", "max") for field in ("similarity", "gap")]},
    {"window": [{"op": "lag", "field": field, "as": f"last_{field}"} for field in ("similarity", "gap")],
     "sort": [{"field": "similarity"}]},
    {"calculate": "datum.last_similarity !== null"
     " && datum.similarity - datum.last_similarity < 0.05 * (datum.max_similarity - datum.min_similarity)"
     " && abs(datum.gap - datum.last_gap) < 0.09 * (datum.max_gap - datum.min_gap) ? 0 : 1", "as": "apart"},
    {"window": [{"op": "sum", "field": "apart", "as": "heap"}], "sort": [{"field": "similarity"}]},
    {"window": [{"op": "row_number", "as": "place"}], "groupby": ["heap"],
     "sort": [{"field": "gap", "order": "descending"}]},
]  # fmt: skip


def _by_place(*values: object) -> Spec:
    return {"expr": f"{json.dumps(values)}[(datum.place - 1) % {len(values)}]"}


def gap_spec() -> Spec:
    """The gap of each target against its similarity; a line leads from its place in one experiment to the other."""
    scale: Spec = {"zero": False, "nice": False, "padding": 20}
    place = {
        "x": {"field": "similarity", "type": "quantitative", "scale": scale, "axis": {"tickCount": 8}},
        "y": {"field": "gap", "type": "quantitative", "title": "gap (points)", "scale": scale},
    }
    return _spec(
        "Cross-lingual gap against similarity, one point for each target language",
        height=280,
        encoding={**place, "tooltip": _tooltip("target", "experiment", "similarity=.3f", "gap=.2f")},
        layer=[
            {"mark": {"type": "line", "color": "#8a8a8a", "strokeWidth": 1},
             "encoding": {"detail": {"field": "target"}}},
            {"mark": {"type": "point", "filled": True, "size": 70, "color": COLOURS[0], "opacity": 1},
             "encoding": {"color": _colour("experiment", None),
                          "shape": {"field": "experiment", "type": "nominal", "sort": None}}},
            {"mark": {"type": "text", "dx": _by_place(0, 0, 8, -8), "dy": _by_place(-11, 13, 1, 1), "limit": 90,
                      "align": _by_place("center", "center", "left", "right"), "baseline": "middle", "fontSize": 12},
             "transform": BESIDE, "encoding": {"text": {"field": "name"}}},
        ],
    )  # fmt: skip


def histogram_spec() -> Spec:
    """Distances of related and of unrelated words, over the same bins."""
    params, opacity = _chosen("words", shown=0.55, hidden=0.05)
    return _spec(
        "Histograms of the distances of related and of unrelated word pairs",
        height=220,
        params=params,
        mark={"type": "bar", "binSpacing": 0},
        encoding={
            "opacity": opacity,
            "x": {"field": "low", "type": "quantitative", "title": "distance", "bin": {"binned": True}},
            "x2": {"field": "high"},
            "y": {"field": "share", "type": "quantitative", "stack": None, "title": "share", "axis": {"format": "%"}},
            "color": _colour("words", None),
            "tooltip": _tooltip("words", "low=.3f", "high=.3f", "share=.2%"),
        },
    )  # fmt: skip
