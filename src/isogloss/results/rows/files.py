"""Write rows and charts to files atomically; the suffix selects the format."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from isogloss.core.errors import UsageError
from isogloss.core.files import atomic_write_binary
from isogloss.results.figures.vega import vega_converter

if TYPE_CHECKING:
    import altair

ROW_SUFFIXES = (".csv", ".tsv", ".parquet", ".json")
CHART_SUFFIXES = (".html", ".svg", ".png", ".pdf")


def check_suffix(path: str | os.PathLike[str]) -> str:
    """The suffix of a file in a known format, checked before any computation."""
    suffix = Path(path).suffix
    if suffix not in ROW_SUFFIXES + CHART_SUFFIXES:
        expected = ", ".join(ROW_SUFFIXES + CHART_SUFFIXES)
        raise UsageError(f"{os.fspath(path)}: expected one of {expected}, got '{suffix}'")
    return suffix


def write_rows(frame: pl.DataFrame, path: str | os.PathLike[str]) -> bool:
    """Write the rows if the suffix is a format of rows; False if it is a format of charts."""
    suffix = check_suffix(path)
    if suffix in CHART_SUFFIXES:
        return False
    with atomic_write_binary(path) as file:
        file.write(encode_rows(frame, suffix))
    return True


def encode_rows(frame: pl.DataFrame, suffix: str) -> bytes:
    buffer = io.BytesIO()
    if suffix == ".parquet":
        frame.write_parquet(buffer)
    elif suffix == ".json":
        frame.write_json(buffer)
    else:
        frame.write_csv(buffer, separator="\t" if suffix == ".tsv" else ",")
    return buffer.getvalue()


def write_chart(chart: altair.TopLevelMixin, path: str | os.PathLike[str]) -> None:
    """A chart as one file: an interactive page that needs no network, or an image."""
    convert, spec, suffix = vega_converter(), chart.to_dict(), Path(path).suffix
    if suffix == ".html":
        data = convert.vegalite_to_html(spec, bundle=True).encode()
    elif suffix == ".svg":
        data = convert.vegalite_to_svg(spec).encode()
    elif suffix == ".png":
        data = convert.vegalite_to_png(spec, scale=2)
    else:
        data = convert.vegalite_to_pdf(spec)
    with atomic_write_binary(path) as file:
        file.write(data)
