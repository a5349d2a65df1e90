from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from result_rows import curve_rows, result_rows
from scipy import linalg, optimize

from isogloss.analysis.gap_prediction import leave_one_language_out, predict_gaps, ridge
from isogloss.analysis.gap_similarity import gaps_beside_similarity
from isogloss.core.errors import UnknownName, UsageError
from isogloss.languages.distance import language_distance


def languages(n: int, seed: int = 0, noise: float = 0.05) -> pl.DataFrame:
    """Gaps that fall with similarity and rise with distance."""
    random = np.random.default_rng(seed)
    similarity, syntax = random.random(n), random.random(n)
    gap = 0.6 - 0.5 * similarity + 0.2 * syntax + noise * random.standard_normal(n)
    return pl.DataFrame({"target": [f"l{i}" for i in range(n)], "gap": gap, "similarity": similarity, "syntax": syntax})


def slow_fit(X: np.ndarray, y: np.ndarray, penalty: float) -> tuple[np.ndarray, float]:
    """Weights and intercept in the units of X: the penalty as further rows of an ordinary least squares problem."""
    spread = X.std(axis=0)
    rows = np.hstack([X, np.ones((len(X), 1))])
    more = np.hstack([np.diag(np.sqrt(penalty) * spread), np.zeros((X.shape[1], 1))])
    found = linalg.lstsq(np.vstack([rows, more]), np.concatenate([y, np.zeros(X.shape[1])]))[0]
    return found[:-1], float(found[-1])


def slow_prediction(X: np.ndarray, y: np.ndarray, new: np.ndarray, penalty: float) -> float:
    weights, intercept = slow_fit(X, y, penalty)
    return float(new @ weights + intercept)


def slow_interval(X: np.ndarray, y: np.ndarray, new: np.ndarray, penalty: float, alpha: float) -> tuple[float, float]:
    """Jackknife+ word by word: at least (1 − α)(n + 1) of the leave-one-out bounds on the right side of the end."""
    lows, highs = [], []
    for i in range(len(y)):
        A, b = np.delete(X, i, axis=0), np.delete(y, i)
        residual = abs(y[i] - slow_prediction(A, b, X[i], penalty))
        lows.append(slow_prediction(A, b, new, penalty) - residual)
        highs.append(slow_prediction(A, b, new, penalty) + residual)
    needed = (1 - alpha) * (len(y) + 1) - 1e-9
    high = min(h for h in highs if sum(other <= h for other in highs) >= needed)
    low = max(value for value in lows if sum(other >= value for other in lows) >= needed)
    return low, high


@pytest.mark.parametrize("penalty", [0.0, 1.0, 10.0])
@pytest.mark.parametrize("names", [["similarity"], ["similarity", "syntax"]])
def test_held_out_predictions_and_intervals_are_those_of_brute_force(penalty: float, names: list[str]) -> None:
    known = languages(9)
    X, y = known.select(names).to_numpy(), known["gap"].to_numpy()
    found = leave_one_language_out(known, names, penalty=penalty, confidence=0.8)
    for i, row in enumerate(found.iter_rows(named=True)):
        A, b = np.delete(X, i, axis=0), np.delete(y, i)
        assert row["target"] == f"l{i}" and row["gap"] == y[i]
        assert row["predicted"] == pytest.approx(slow_prediction(A, b, X[i], penalty))
        assert row["error"] == pytest.approx(row["predicted"] - y[i])
        assert row["baseline"] == pytest.approx(b.mean())
        assert (row["low"], row["high"]) == pytest.approx(slow_interval(A, b, X[i], penalty, 0.2))


def test_ridge_is_the_minimum_of_its_loss() -> None:
    known = languages(8, seed=3)
    X, y = known.select("similarity", "syntax").to_numpy(), known["gap"].to_numpy()
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    loss = lambda w: float(((y - w[0] - Z @ w[1:]) ** 2).sum() + 2.0 * (w[1:] ** 2).sum())  # noqa: E731
    best = optimize.minimize(loss, np.zeros(3), tol=1e-12).x
    np.testing.assert_allclose(ridge(X, y, 2.0)(X), best[0] + Z @ best[1:], atol=1e-5)


def test_new_languages_are_predicted_from_all_known_ones() -> None:
    known, new = languages(12), languages(3, seed=1).drop("gap")
    found = predict_gaps(known, new, ["similarity", "syntax"])
    X, y = known.select("similarity", "syntax").to_numpy(), known["gap"].to_numpy()
    for features, row in zip(new.select("similarity", "syntax").to_numpy(), found.iter_rows(named=True), strict=True):
        assert row["predicted"] == pytest.approx(slow_prediction(X, y, features, 1.0))
        assert (row["low"], row["high"]) == pytest.approx(slow_interval(X, y, features, 1.0, 0.2))
        assert row["languages"] == 12
    assert found["target"].to_list() == ["l0", "l1", "l2"]


def explained_share(held_out: pl.DataFrame) -> float:
    """The share of the squared error of the baseline, the mean of the other targets, that the predictors remove."""
    baseline = held_out["baseline"] - held_out["gap"]
    return float(1 - (held_out["error"] ** 2).sum() / (baseline**2).sum())


def test_predictors_are_better_than_the_mean_of_the_other_languages() -> None:
    held_out = leave_one_language_out(languages(15, noise=0.01), ["similarity", "syntax"])
    assert explained_share(held_out) > 0.9


def test_predictors_that_say_nothing_are_not_better_than_the_mean() -> None:
    r2 = []
    for seed in range(40):
        known = languages(12, seed).with_columns(similarity=pl.col("similarity").shuffle(seed))
        r2.append(explained_share(leave_one_language_out(known)))
    assert np.mean(r2) < 0.1


def test_intervals_cover_new_languages_as_promised() -> None:
    inside = []
    for seed in range(150):
        everyone = languages(11, seed, noise=0.1)
        found = predict_gaps(everyone[:10], everyone[10:])
        inside.append(found["low"][0] <= everyone["gap"][10] <= found["high"][0])
    assert 0.72 <= np.mean(inside) <= 0.93  # 0.8 asked for, 0.6 guaranteed


def test_too_few_languages_for_the_confidence_give_no_interval() -> None:
    held_out = leave_one_language_out(languages(5), confidence=0.95)
    assert held_out["low"].to_list() == [None] * 5
    assert held_out["predicted"].null_count() == 0
    assert held_out["high"].to_list() == [None] * 5
    assert leave_one_language_out(languages(5), confidence=0.8)["low"].null_count() == 0


def test_a_predictor_that_only_the_held_out_language_has_does_not_break_the_fit() -> None:
    known = languages(6).with_columns(script=pl.Series([1.0, 0, 0, 0, 0, 0]))
    found = leave_one_language_out(known, ["similarity", "script"])
    alone = leave_one_language_out(known, ["similarity"])
    assert found["predicted"][0] == pytest.approx(alone["predicted"][0])
    assert found["predicted"].is_finite().all() and found["low"].is_finite().all()


def test_experiments_are_predicted_apart() -> None:
    one, two = (languages(6, seed).with_columns(task=pl.lit(task)) for seed, task in ((0, "pos"), (1, "ner")))
    together = leave_one_language_out(pl.concat([one, two]))
    assert together.drop("task").equals(pl.concat([leave_one_language_out(part.drop("task")) for part in (one, two)]))
    assert together["task"].unique(maintain_order=True).to_list() == ["pos", "ner"]


def test_from_scores_and_curves_to_predictions() -> None:
    codes = ["de", "fr", "hi", "ru", "tr", "zh"]
    rows = result_rows({("REF", "en"): [0.9], **{("REF", code): [0.8 - 0.1 * i] for i, code in enumerate(codes)}})
    curves = curve_rows({code: [0.9 - 0.1 * i, 0.8 - 0.1 * i] for i, code in enumerate(codes)})
    by_target = [language_distance("en", code) for code in codes]
    predictors = {name: [distances[name] for distances in by_target] for name in ("genealogy", "script")}
    distances = pl.DataFrame({"target": codes, **predictors})
    known = gaps_beside_similarity(rows, curves).join(distances, on="target")
    held_out = leave_one_language_out(known.filter(pl.col("layer").is_null()), ["similarity", "genealogy", "script"])
    assert held_out["model"].unique().to_list() == ["bert"]
    assert explained_share(held_out) > 0.5
    with pytest.raises(UsageError, match="choose one experiment, index, time and layer"):
        predict_gaps(known, known)


def test_wrong_use_is_told() -> None:
    with pytest.raises(UnknownName, match="unknown predictor 'similarty'; did you mean 'similarity'"):
        leave_one_language_out(languages(5), ["similarty"])
    with pytest.raises(UsageError, match="at least 4 targets, got 3"):
        leave_one_language_out(languages(3))
    with pytest.raises(UsageError, match="at least 3 targets, got 2"):
        predict_gaps(languages(2), languages(2))
    lacking = languages(5).with_columns(syntax=pl.Series([0.1, None, 0.2, float("nan"), 0.3]))
    with pytest.raises(UsageError, match="no 'syntax' of l1, l3: leave out"):
        leave_one_language_out(lacking, ["similarity", "syntax"])


@given(st.integers(0, 10_000), st.floats(-5, 5), st.floats(0.1, 50), st.randoms(use_true_random=False))
@settings(max_examples=20)
def test_units_of_predictors_a_constant_in_gaps_and_order_do_not_matter(seed, shift, unit, random) -> None:  # type: ignore[no-untyped-def]
    known = languages(7, seed)
    plain = leave_one_language_out(known, ["similarity", "syntax"])
    scaled = known.with_columns(pl.col("similarity") * unit - shift, pl.col("gap") + shift)
    order = random.sample(range(7), 7)
    other = leave_one_language_out(scaled[order], ["similarity", "syntax"])
    together = plain.join(other, on="target")
    for name in ("predicted", "low", "high", "baseline"):
        np.testing.assert_allclose(together[f"{name}_right"].to_numpy() - shift, together[name].to_numpy(), atol=1e-7)
