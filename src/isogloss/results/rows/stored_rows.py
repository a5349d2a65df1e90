"""Rows in Parquet files of a store, some of which were written before a column existed: it is null there."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from isogloss.results.rows.results import Schema


def read_rows(paths: Iterable[str]) -> pl.DataFrame:
    """The rows of all files, with the column `path`; files of the same columns are read in one call, which is fast."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for path in paths:
        groups.setdefault(tuple(pl.read_parquet_schema(path)), []).append(path)
    return pl.concat([pl.read_parquet(group, include_file_paths="path") for group in groups.values()], how="diagonal")


def with_schema(frame: pl.DataFrame, schema: Schema) -> pl.DataFrame:
    """The columns of the schema with their types; null where the frame does not have them.

    >>> with_schema(pl.DataFrame({"n": ["3"], "other": [1]}), {"n": pl.Int64, "scorer": pl.String}).row(0, named=True)
    {'n': 3, 'scorer': None}
    """
    return frame.select(
        (pl.col(name) if name in frame.columns else pl.lit(None)).cast(kind).alias(name)
        for name, kind in schema.items()
    )
