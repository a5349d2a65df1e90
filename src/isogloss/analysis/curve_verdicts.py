"""The verdict of first align, then predict on every curve of a model: one row per language pair and index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from isogloss.indexes.battery import Measurement
from isogloss.indexes.curve_shape import MIN_LAYERS
from isogloss.indexes.curve_verdict import MIN_CONTROL_DRAWS, NO_CONTROL, first_align_then_predict
from isogloss.results.rows.curves import FINAL_NORM, SHAPE_COLUMNS

CurveKey = tuple[str, str, str]  # source, target, index
ControlCurves = Mapping[CurveKey, Sequence[Sequence[float]]]  # of untrained networks, one curve per draw

UNDEFINED_CONTROL = "the index is undefined for untrained networks"


class LayerMeasurement(NamedTuple):
    """One index for one pair at one layer; the raw output of the last block and the final norm differ in `stage`."""

    layer: int
    stage: str
    measured: Measurement


def curves_by_key(rows: Sequence[LayerMeasurement]) -> dict[CurveKey, list[LayerMeasurement]]:
    """The curves of every pair and index; the final norm is not a layer."""
    curves: dict[CurveKey, list[LayerMeasurement]] = {}
    for row in rows:
        if row.stage != FINAL_NORM:
            key = (row.measured.source, row.measured.target, row.measured.index)
            curves.setdefault(key, []).append(row)
    return curves


def verdict_frame(
    model: str,
    rows: Sequence[LayerMeasurement],
    controls: ControlCurves | None = None,
    *,
    no_control: str = NO_CONTROL,
    withheld: Mapping[str, str] | None = None,
) -> pl.DataFrame:
    """The rows of `Curves.shapes`, for curves of at least three layers with finite values.

    `no_control`: why there are no controls. `withheld`: why there is no verdict for a language, by language.
    """
    reasons = withheld or {}
    values = []
    for key, points in curves_by_key(rows).items():
        if len(points) < MIN_LAYERS or not all(np.isfinite(row.measured.value) for row in points):
            continue
        replicates = [row.measured.replicates for row in points if row.measured.replicates is not None]
        control = [curve for curve in (controls or {}).get(key, ()) if np.isfinite(curve).all()]
        outcome = first_align_then_predict(
            [row.measured.value for row in points],
            np.stack(replicates) if replicates else None,
            control if len(control) >= MIN_CONTROL_DRAWS else None,
            no_control=no_control if controls is None else UNDEFINED_CONTROL,
            withhold="; ".join(reasons[lang] for lang in key[:2] if lang in reasons),
        )
        shape, untrained = outcome.shape, outcome.control
        peaks = [points[i].layer if i is not None else None for i in (shape.peak, shape.peak_low, shape.peak_high)]
        effects = (untrained.mean, untrained.bound, untrained.draws) if untrained else (None, None, None)
        values.append(
            (model, *key, *peaks, shape.rise, shape.fall, shape.effect, shape.p, *effects, outcome.verdict.value,
             outcome.reason)
        )  # fmt: skip
    return pl.DataFrame(values, schema=SHAPE_COLUMNS, orient="row")
