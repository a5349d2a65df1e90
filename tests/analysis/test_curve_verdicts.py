"""Rows of verdicts from measurements of layers."""

from __future__ import annotations

import numpy as np

from isogloss.analysis.curve_verdicts import LayerMeasurement, verdict_frame
from isogloss.indexes.battery import Measurement

PEAKED = [0.2, 0.6, 0.5, 0.3]


def rows_of(curve: list[float], target: str = "fr") -> list[LayerMeasurement]:
    noise = 1e-4 * np.random.default_rng(0).normal(size=(len(curve), 50))
    points = [
        LayerMeasurement(
            2 * layer, "block", Measurement("en", target, "cka", value, 9, replicates=value + noise[layer])
        )
        for layer, value in enumerate(curve)
    ]
    return [*points, LayerMeasurement(6, "final norm", Measurement("en", target, "cka", 0.9, 9))]


def test_a_row_has_the_verdict_and_what_it_rests_on() -> None:
    controls = {("en", "fr", "cka"): [[0.2, 0.21, 0.2, 0.2], [0.2, 0.22, 0.2, 0.2], [0.2, 0.21, 0.2, 0.2]]}
    row = verdict_frame("bert", rows_of(PEAKED), controls).row(0, named=True)
    assert (row["verdict"], row["reason"], row["peak"], row["peak_low"]) == ("yes", "", 2, 2)
    assert np.allclose([row["rise"], row["fall"], row["effect"]], [0.4, 0.3, 0.3])
    assert (row["control_draws"], round(row["control_effect"], 4), row["p"]) == (3, 0.0133, 1 / 51)


def test_a_language_without_verdict_and_an_undefined_control() -> None:
    rows = [*rows_of(PEAKED), *rows_of(PEAKED, "th")]
    controls = {("en", lang, "cka"): [[np.nan] * 4, [0.2, 0.21, 0.2, 0.2]] for lang in ("fr", "th")}
    frame = verdict_frame("bert", rows, controls, withheld={"th": "72 % unknown tokens"})
    assert dict(frame.select("target", "verdict").iter_rows()) == {"fr": "undecided", "th": "withheld"}
    assert frame["reason"].to_list() == ["the index is undefined for untrained networks", "72 % unknown tokens"]


def test_no_row_for_curves_without_an_inner_layer_or_with_undefined_values() -> None:
    assert verdict_frame("bert", rows_of([0.1, 0.2])).is_empty()
    assert verdict_frame("bert", rows_of([0.1, np.nan, 0.2])).is_empty()
