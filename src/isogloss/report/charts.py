"""The charts of a report as Vega-Lite specifications over the data set `rows`, which the page or the export fills.

Colours are Okabe and Ito's, told apart by colour-blind readers; shape, dash or label says the same once more.
"""

from __future__ import annotations

from typing import Any

from isogloss.results.curve_figures import PALETTE

Spec = dict[str, Any]
# beyond the eight: the same hues, darker or lighter
COLOURS = [*PALETTE, "#004C77", "#8F3F00", "#00614A", "#8A4F70", "#9A6A00", "#2F7FA8", "#666666", "#9C9412"]
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


def gap_spec() -> Spec:
    """The gap of each target against its similarity."""
    place = {
        "x": {
            "field": "similarity",
            "type": "quantitative",
            "scale": {"zero": False, "padding": 20},
            "axis": {"tickCount": 8},
        },
        "y": {"field": "gap", "type": "quantitative", "title": "gap (points)", "scale": {"zero": False, "padding": 14}},
    }
    return _spec(
        "Cross-lingual gap against similarity, one point for each target language",
        height=280,
        encoding={**place, "tooltip": _tooltip("target", "experiment", "similarity=.3f", "gap=.2f")},
        layer=[
            {"mark": {"type": "point", "filled": True, "size": 70},
             "encoding": {"color": _colour("experiment", None),
                          "shape": {"field": "experiment", "type": "nominal", "sort": None}}},
            {"mark": {"type": "text", "dy": -10, "fontSize": 12, "limit": 90},
             "encoding": {"text": {"field": "target"}}},
        ],
    )  # fmt: skip


def histogram_spec() -> Spec:
    """Distances of related and of unrelated words, over the same bins."""
    return _spec(
        "Histograms of the distances of related and of unrelated word pairs",
        height=220,
        mark={"type": "bar", "opacity": 0.55, "binSpacing": 0},
        encoding={
            "x": {"field": "low", "type": "quantitative", "title": "distance", "bin": {"binned": True}},
            "x2": {"field": "high"},
            "y": {"field": "share", "type": "quantitative", "stack": None, "title": "share", "axis": {"format": "%"}},
            "color": _colour("words", None),
            "tooltip": _tooltip("words", "low=.3f", "high=.3f", "share=.2%"),
        },
    )  # fmt: skip
