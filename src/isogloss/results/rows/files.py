"""Rows and charts to files, the form chosen by the suffix, atomically."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from isogloss.core.errors import MissingExtra, UsageError
from isogloss.core.files import atomic_write_binary

if TYPE_CHECKING:
    import altair

ROWS = (".csv", ".tsv", ".parquet", ".json")
CHARTS = (".html", ".svg", ".png", ".pdf")


def check_suffix(path: str | os.PathLike[str]) -> str:
    """The suffix of a file we can write, checked before any work is done."""
    suffix = Path(path).suffix
    if suffix not in ROWS + CHARTS:
        raise UsageError(f"{os.fspath(path)}: expected one of {', '.join(ROWS + CHARTS)}, got '{suffix}'")
    return suffix


def write_rows(frame: pl.DataFrame, path: str | os.PathLike[str]) -> bool:
    """Write the rows if the suffix is one of rows; False if it is one of charts."""
    suffix = check_suffix(path)
    if suffix in CHARTS:
        return False
    buffer = io.BytesIO()
    if suffix == ".parquet":
        frame.write_parquet(buffer)
    elif suffix == ".json":
        frame.write_json(buffer)
    else:
        frame.write_csv(buffer, separator="\t" if suffix == ".tsv" else ",")
    with atomic_write_binary(path) as file:
        file.write(buffer.getvalue())
    return True


def write_chart(chart: altair.TopLevelMixin, path: str | os.PathLike[str]) -> None:
    """A chart as one file: an interactive page that needs no network, or a picture."""
    try:
        import vl_convert
    except ImportError:
        raise MissingExtra("vl-convert-python", "figures") from None
    convert: Any = vl_convert
    specification = chart.to_dict()
    suffix = Path(path).suffix
    if suffix == ".html":
        data = convert.vegalite_to_html(specification, bundle=True).encode()
    elif suffix == ".svg":
        data = convert.vegalite_to_svg(specification).encode()
    elif suffix == ".png":
        data = convert.vegalite_to_png(specification, scale=2)
    else:
        data = convert.vegalite_to_pdf(specification)
    with atomic_write_binary(path) as file:
        file.write(data)
