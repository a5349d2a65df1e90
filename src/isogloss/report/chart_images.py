"""Charts as SVG images in a page, without a script."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from isogloss.results.figures.vega import vega_converter

if TYPE_CHECKING:
    import altair


@dataclass(frozen=True)
class ChartImage:
    """An SVG element, inserted into the page unescaped, so it must be the rendering of a chart; `alt` describes it."""

    svg: str
    alt: str


def render_chart(chart: altair.TopLevelMixin | Mapping[str, object], alt: str) -> ChartImage:
    """The image of an Altair chart or of a Vega-Lite specification."""
    spec = chart if isinstance(chart, Mapping) else chart.to_dict()
    return ChartImage(vega_converter().vegalite_to_svg(spec), alt)
