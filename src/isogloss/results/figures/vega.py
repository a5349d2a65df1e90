"""Vega-Lite specifications and their conversion to files, by the optional package vl-convert-python."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, cast

from isogloss.core.errors import MissingExtra

VegaSpec = dict[str, Any]  # JSON


class VegaConverter(Protocol):
    """The part of the module `vl_convert` that isogloss uses."""

    def vegalite_to_html(self, vl_spec: Mapping[str, object], bundle: bool = ...) -> str: ...
    def vegalite_to_svg(self, vl_spec: Mapping[str, object]) -> str: ...
    def vegalite_to_png(self, vl_spec: Mapping[str, object], scale: float = ...) -> bytes: ...
    def vegalite_to_pdf(self, vl_spec: Mapping[str, object]) -> bytes: ...
    def svg_to_png(self, svg: str, scale: float = ...) -> bytes: ...
    def svg_to_pdf(self, svg: str) -> bytes: ...
    def javascript_bundle(self, snippet: str) -> str: ...


def vega_converter() -> VegaConverter:
    try:
        import vl_convert
    except ImportError:
        raise MissingExtra("vl-convert-python", "figures") from None
    return cast(VegaConverter, vl_convert)
