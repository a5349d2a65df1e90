"""Prediction of the cross-lingual gap of a language without labelled data from the gaps of other languages.

Ridge regression on standardised predictors: similarity inside the model, and distances between the languages. Ridge is
used instead of least squares because a dozen languages give little evidence for correlated predictors, and because a
predictor that is constant among the other languages must not break the fit. The penalty has the weight of one more
language without a slope. It is fixed, because there are not enough data to choose it.

Intervals are jackknife+ (Barber et al. 2021): they assume only that languages are exchangeable, cover about
`confidence` of new languages and provably at least 2 · confidence − 1. With too few languages there is no interval.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from isogloss.core.errors import UsageError
from isogloss.core.registry import check_name

Floats = NDArray[np.float64]
Predict = Callable[[Floats], Floats]
GROUP_COLUMNS = ["study", "model", "changes", "task", "source", "metric", "index", "when", "layer"]
MIN_LANGUAGES = 3  # for training: a line fits any two points


def predict_gaps(
    observed: pl.DataFrame,
    new: pl.DataFrame,
    predictors: Sequence[str] = ("similarity",),
    *,
    penalty: float = 1.0,
    confidence: float = 0.8,
) -> pl.DataFrame:
    """The predicted gap of each target of `new`, with columns `predicted`, `low`, `high` and `languages`.

    Args:
        observed: Columns `target`, `gap` and the predictors, one row per target (see
            `gaps_beside_similarity`).
        new: The same columns without the gap.
        predictors: Names of the columns to predict from.
        penalty: The ridge penalty.
        confidence: The coverage of the intervals.
    """
    X, y = _matrix(observed, predictors), _gaps(observed)
    rows = [
        (target, *_with_interval(X, y, features, penalty, confidence), len(y))
        for target, features in zip(new["target"], _matrix(new, predictors), strict=True)
    ]
    names = {"target": pl.String, "predicted": pl.Float64, "low": pl.Float64, "high": pl.Float64}
    return pl.DataFrame(rows, schema={**names, "languages": pl.Int64}, orient="row")


def leave_one_language_out(
    observed: pl.DataFrame,
    predictors: Sequence[str] = ("similarity",),
    *,
    penalty: float = 1.0,
    confidence: float = 0.8,
) -> pl.DataFrame:
    """The gap of each target predicted from the other targets, with its true gap and the mean of the others.

    Experiments and curves (`GROUP_COLUMNS`) are predicted separately.
    """
    group = [name for name in GROUP_COLUMNS if name in observed.columns]
    parts = observed.partition_by(group, maintain_order=True) if group else [observed]
    return pl.concat([_held_out(part, group, predictors, penalty, confidence) for part in parts])


def ridge(X: Floats, y: Floats, penalty: float) -> Predict:
    """Least squares with a penalty on the weights of the standardised features; the mean is not penalised.

    >>> line = ridge(np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 3.0, 5.0]), penalty=0)
    >>> line(np.array([[3.0]])).round(6).tolist()
    [7.0]
    """
    centre, spread = X.mean(axis=0), X.std(axis=0)
    scale = np.where(spread > 1e-12 * np.abs(X).max(axis=0), spread, np.inf)  # a constant feature has no effect
    Z = (X - centre) / scale
    normal = Z.T @ Z + penalty * np.eye(X.shape[1])
    weights = np.linalg.lstsq(normal, Z.T @ (y - y.mean()), rcond=None)[0]

    def predict(new: Floats) -> Floats:
        values: Floats = (new - centre) / scale @ weights + y.mean()
        return values

    return predict


def _held_out(
    observed: pl.DataFrame, group: Sequence[str], predictors: Sequence[str], penalty: float, confidence: float
) -> pl.DataFrame:
    X, y = _matrix(observed, predictors), _gaps(observed, held_out=True)
    rows = []
    for i, target in enumerate(observed["target"]):
        others = np.arange(len(y)) != i
        predicted, low, high = _with_interval(X[others], y[others], X[i], penalty, confidence)
        values = {"target": target, "gap": y[i], "predicted": predicted, "error": predicted - y[i]}
        rows.append(values | {"low": low, "high": high, "baseline": float(y[others].mean())})
    numbers = ["gap", "predicted", "error", "low", "high", "baseline"]
    frame = pl.DataFrame(rows, schema={"target": pl.String, **dict.fromkeys(numbers, pl.Float64)})
    return pl.concat([observed.select(group), frame], how="horizontal") if group else frame


def _with_interval(
    X: Floats, y: Floats, new: Floats, penalty: float, confidence: float
) -> tuple[float, float | None, float | None]:
    """The prediction for a new language and its jackknife+ interval."""
    point = float(ridge(X, y, penalty)(new[None])[0])
    lows, highs = [], []
    for i in range(len(y)):
        others = np.arange(len(y)) != i
        fitted = ridge(X[others], y[others], penalty)
        residual = abs(y[i] - fitted(X[i][None])[0])
        lows.append(fitted(new[None])[0] - residual)
        highs.append(fitted(new[None])[0] + residual)
    rank = int(np.floor((1 - confidence) * (len(y) + 1) + 1e-9))  # counted from the outermost
    if rank < 1:
        return point, None, None
    return point, float(np.sort(lows)[rank - 1]), float(np.sort(highs)[-rank])


def _gaps(observed: pl.DataFrame, held_out: bool = False) -> Floats:
    """The observed gaps; an error if there are too few or a target occurs twice."""
    minimum = MIN_LANGUAGES + held_out
    if observed.height < minimum or observed["target"].n_unique() < observed.height:
        raise UsageError(
            f"expected a gap for each of at least {minimum} targets, got {observed.height} of "
            f"{observed['target'].n_unique()} targets; choose one experiment, index, time and layer"
        )
    gaps: Floats = observed["gap"].to_numpy().astype(np.float64)
    return gaps


def _matrix(frame: pl.DataFrame, predictors: Sequence[str]) -> Floats:
    """The predictors as numbers, one row per target; missing values are an error."""
    for name in predictors:
        check_name(
            name, [column for column in frame.columns if column not in {"target", "gap", *GROUP_COLUMNS}], "predictor"
        )
        values = frame[name].cast(pl.Float64)
        lacking = frame.filter(~values.fill_null(float("nan")).is_finite())["target"].to_list()
        if lacking:
            raise UsageError(f"no '{name}' of {', '.join(lacking)}: leave out the predictor or these targets")
    matrix: Floats = frame.select(pl.col(list(predictors)).cast(pl.Float64)).to_numpy()
    return matrix
