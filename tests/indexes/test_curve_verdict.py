"""First align, then predict: every verdict has its curve, and none says yes without noise and control."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

import isogloss as ig
from isogloss.core.errors import UsageError
from isogloss.indexes.curve_verdict import MIN_CURVE_EFFECT, Verdict, first_align_then_predict

PEAKED, FLAT_CONTROLS = [0.3, 0.6, 0.7, 0.4], [[0.3, 0.301, 0.3, 0.3], [0.3, 0.3, 0.302, 0.3], [0.3, 0.3, 0.3, 0.3]]


def noise_around(curve: list[float], size: float) -> np.ndarray:
    return np.array(curve)[:, None] + size * np.random.default_rng(0).normal(size=(len(curve), 200))


@pytest.mark.parametrize(
    ("curve", "verdict", "reason"),
    [
        (PEAKED, Verdict.YES, ""),
        ([0.2, 0.4, 0.5, 0.6], Verdict.NO, "highest at the last layer"),
        ([0.6, 0.4, 0.5, 0.2], Verdict.NO, "highest at the first layer"),
        ([0.5, 0.5, 0.5, 0.5], Verdict.NO, "flat"),
        ([0.2, 0.4, 0.61, 0.6], Verdict.NO, "falls by 0.010 only, the minimum is 0.02"),
        ([0.6, 0.61, 0.5, 0.3], Verdict.NO, "rises by 0.010 only, the minimum is 0.02"),
        ([0.437, 0.441, 0.44, 0.435], Verdict.NO, "effect 0.004, the minimum is 0.02"),
    ],
)
def test_every_curve_has_its_verdict(curve: list[float], verdict: Verdict, reason: str) -> None:
    outcome = ig.first_align_then_predict(curve, noise_around(curve, 1e-4), [[0.3] * 4, [0.3] * 4])
    assert (outcome.verdict, outcome.reason) == (verdict, reason)


def test_an_untrained_network_with_the_same_peak_is_the_reason_to_say_no() -> None:
    controls = [[0.3, 0.6, 0.69, 0.42], [0.3, 0.55, 0.72, 0.37], [0.3, 0.6, 0.66, 0.4]]
    outcome = first_align_then_predict(PEAKED, noise_around(PEAKED, 1e-4), controls)
    assert outcome.verdict is Verdict.UNTRAINED
    effects = [0.27, 0.35, 0.26]
    bound = np.mean(effects) + scipy.stats.t.ppf(0.995, 2) * np.std(effects, ddof=1) * np.sqrt(1 + 1 / 3)
    assert outcome.control is not None
    assert (outcome.control.mean, outcome.control.bound) == pytest.approx((np.mean(effects), bound))
    assert str(outcome) == f"no more than an untrained network: effect 0.300, untrained up to {bound:.3f}"


def test_the_bound_is_never_below_the_largest_control() -> None:
    controls = [[0.3, 0.3, 0.3, 0.3]] * 30 + [[0.3, 0.7, 0.3, 0.3]]
    outcome = first_align_then_predict(PEAKED, noise_around(PEAKED, 1e-4), controls)
    assert outcome.control is not None
    assert outcome.control.bound == pytest.approx(0.4)
    assert outcome.verdict is Verdict.UNTRAINED


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"replicates": noise_around(PEAKED, 0.5), "controls": FLAT_CONTROLS}, "sentence noise (p = "),
        ({"controls": FLAT_CONTROLS}, "sentence noise not measured (no bootstrap)"),
        ({"replicates": noise_around(PEAKED, 1e-4)}, "not compared with an untrained network"),
        ({"replicates": noise_around(PEAKED, 1e-4), "no_control": "too large"}, "too large"),
    ],
)
def test_a_peak_without_noise_or_control_is_undecided(options: dict, reason: str) -> None:
    outcome = first_align_then_predict(PEAKED, **options)
    assert outcome.verdict is Verdict.UNDECIDED
    assert outcome.reason.startswith(reason)


def test_a_withheld_verdict_says_why_and_still_has_its_shape() -> None:
    outcome = first_align_then_predict(
        PEAKED, noise_around(PEAKED, 1e-4), FLAT_CONTROLS, withhold="72 % unknown tokens in th"
    )
    assert (outcome.verdict, outcome.reason) == (Verdict.WITHHELD, "72 % unknown tokens in th")
    assert outcome.shape.effect == pytest.approx(0.3)


def test_the_minimum_is_an_argument() -> None:
    curve = [0.5, 0.53, 0.5]
    verdicts = [
        first_align_then_predict(curve, noise_around(curve, 1e-5), [[0.5] * 3] * 2, minimum=minimum).verdict
        for minimum in (MIN_CURVE_EFFECT, 0.05)
    ]
    assert verdicts == [Verdict.YES, Verdict.NO]


@pytest.mark.parametrize("controls", [[], [[0.1, 0.2, 0.1, 0.1]], [[0.1, 0.2, 0.1]] * 2])
def test_controls_must_fit_the_curve(controls: list[list[float]]) -> None:
    with pytest.raises(UsageError, match="expected at least 2 control curves of 4 layers"):
        first_align_then_predict(PEAKED, controls=controls)


@pytest.mark.parametrize("distribution", ["exponential", "normal", "lognormal", "half of them zero"])
def test_false_positives_of_networks_like_their_controls_are_rare(distribution: str) -> None:
    """Model and controls from one distribution of effects, most of them far above the minimum, without noise."""
    random, shape, positives = np.random.default_rng(2), (600, 6), 0
    samples = {
        "exponential": random.exponential(0.1, shape),
        "normal": np.abs(random.normal(0.1, 0.03, shape)),
        "lognormal": random.lognormal(-3, 1, shape),
        "half of them zero": np.maximum(random.normal(0, 0.05, shape), 0),
    }
    for effects in samples[distribution]:
        curves = [[0.3, 0.3 + effect, 0.3] for effect in effects]
        outcome = first_align_then_predict(curves[0], [[0.3], [0.3 + effects[0]], [0.3]] * np.ones(50), curves[1:])
        positives += outcome.verdict is Verdict.YES
    assert positives / len(samples[distribution]) < 0.07
