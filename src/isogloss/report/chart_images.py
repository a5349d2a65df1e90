"""Charts that stand in a page as they are, without a script to draw them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from isogloss.core.errors import MissingExtra

if TYPE_CHECKING:
    import altair


@dataclass(frozen=True)
class ChartImage:
    """An SVG element that is put into the page as it is, so one that a chart made; `alt` says what it shows."""

    svg: str
    alt: str


def render_chart(chart: altair.TopLevelMixin | Mapping[str, Any], alt: str) -> ChartImage:
    """A chart of Altair, or a Vega-Lite specification."""
    try:
        import vl_convert
    except ImportError:
        raise MissingExtra("vl-convert-python", "figures") from None
    convert: Any = vl_convert
    spec = chart if isinstance(chart, Mapping) else chart.to_dict()
    return ChartImage(convert.vegalite_to_svg(spec), alt)
