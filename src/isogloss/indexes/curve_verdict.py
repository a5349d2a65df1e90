"""First align, then predict: the verdict on a similarity curve, with an effect size and a control.

Question:    does the curve rise to an inner layer and fall after it (`curve_shape`)?
Minimum:     an effect below `MIN_CURVE_EFFECT` is "no", however small the sentence noise is.
Noise:       an effect that sentence noise explains (p ≥ .05), or a curve without replicates, is "undecided".
Control:     networks of the same architecture with re-initialised weights have curves with peaks, too. An effect that
             is not above the upper prediction bound of theirs is "no more than an untrained network". The bound is
             mean + t·s·√(1 + 1/draws) at 99.5 % (one-sided), and at least the largest effect of the draws. At this
             level about 5 % of untrained networks pass the bound in the worst case, skewed effects (a half-normal
             distribution with many zeros, a log-normal one); .5 % if effects are normal. The other two tests reduce
             this further. Without a control, the verdict is never "yes".
Reference:   Muller, Elazar, Sagot & Seddah (2021), First align, then predict (which has no such test).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from scipy.special import stdtrit

from isogloss.core.errors import UsageError
from isogloss.indexes.curve_shape import Curve, Shape, curve_shape

MIN_CURVE_EFFECT = 0.02  # in units of the index, all of which are 1 for identical inputs
SIGNIFICANCE_LEVEL = 0.05
CONTROL_LEVEL = 0.995  # of the prediction bound
MIN_CONTROL_DRAWS = 2  # for a prediction bound
NO_CONTROL = "not compared with an untrained network"


class Verdict(str, Enum):
    """Whether a curve rises to an inner layer and falls after it."""

    YES = "yes"
    NO = "no"
    UNTRAINED = "no more than an untrained network"
    UNDECIDED = "undecided"
    WITHHELD = "withheld"  # the input does not support a verdict

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True)
class Control:
    """The effects of untrained networks: their mean, and the upper bound for one more such network."""

    mean: float
    bound: float
    draws: int


@dataclass(frozen=True)
class CurveVerdict:
    """The verdict on a curve, the reason, and what both rest on; `control` is None where there was none."""

    verdict: Verdict
    reason: str
    shape: Shape
    control: Control | None = None

    def __str__(self) -> str:
        return verdict_text(self.verdict, self.reason)


def verdict_text(verdict: str, reason: str) -> str:
    """
    >>> verdict_text(Verdict.NO, "highest at the last layer")
    'no: highest at the last layer'
    """
    return f"{verdict}: {reason}" if reason else str(verdict)


def first_align_then_predict(
    curve: Curve,
    replicates: Sequence[Sequence[float]] | np.ndarray | None = None,
    controls: Sequence[Curve] | np.ndarray | None = None,
    *,
    minimum: float = MIN_CURVE_EFFECT,
    confidence: float = 0.95,
    no_control: str = NO_CONTROL,
    withhold: str = "",
) -> CurveVerdict:
    """Whether a curve over layers rises to an inner layer and falls after it.

    Args:
        curve: One value per layer.
        replicates: Bootstrap replicates of shape (layers, replicates), for the sentence noise.
        controls: Curves of untrained networks of the same architecture, at least two.
        minimum: The smallest effect that counts.
        confidence: The coverage of the interval of the peak.
        no_control: The reason to print where there are no controls.
        withhold: Why the input does not support a verdict, if it does not.

    >>> print(first_align_then_predict([0.2, 0.4, 0.6]))
    no: highest at the last layer
    >>> print(first_align_then_predict([0.4, 0.41, 0.4], controls=[[0.4, 0.42, 0.4]] * 5))
    no more than an untrained network: effect 0.010, untrained up to 0.020
    """
    shape = curve_shape(curve, replicates, confidence)
    control = None if controls is None else _control(controls, len(np.asarray(curve)))
    verdict, reason = _decide(shape, len(np.asarray(curve)), control, minimum, no_control)
    return CurveVerdict(Verdict.WITHHELD if withhold else verdict, withhold or reason, shape, control)


def _control(controls: Sequence[Curve] | np.ndarray, layers: int) -> Control:
    curves = [np.asarray(curve, dtype=float) for curve in controls]
    if len(curves) < MIN_CONTROL_DRAWS or any(curve.shape != (layers,) for curve in curves):
        shapes = ", ".join(str(curve.shape) for curve in curves)
        raise UsageError(f"expected at least {MIN_CONTROL_DRAWS} control curves of {layers} layers, got {shapes or 0}")
    effects = np.array([curve_shape(curve).effect for curve in curves])
    draws, mean = len(effects), float(effects.mean())
    margin = float(stdtrit(draws - 1, CONTROL_LEVEL) * effects.std(ddof=1)) * math.sqrt(1 + 1 / draws)
    return Control(mean, max(mean + margin, float(effects.max())), draws)


def _decide(shape: Shape, layers: int, control: Control | None, minimum: float, no_control: str) -> tuple[Verdict, str]:
    if shape.peak in (0, layers - 1):
        flat = shape.rise == shape.fall == 0
        return Verdict.NO, "flat" if flat else f"highest at the {'last' if shape.peak else 'first'} layer"
    if shape.effect < minimum <= max(shape.rise, shape.fall):  # monotone but for a small part
        part = f"rises by {shape.rise:.3f}" if shape.rise < shape.fall else f"falls by {shape.fall:.3f}"
        return Verdict.NO, f"{part} only, the minimum is {minimum}"
    if control and shape.effect <= control.bound:
        return Verdict.UNTRAINED, f"effect {shape.effect:.3f}, untrained up to {control.bound:.3f}"
    if shape.effect < minimum:
        return Verdict.NO, f"effect {shape.effect:.3f}, the minimum is {minimum}"
    if shape.p is None:
        return Verdict.UNDECIDED, "sentence noise not measured (no bootstrap)"
    if shape.p >= SIGNIFICANCE_LEVEL:
        return Verdict.UNDECIDED, f"sentence noise (p = {shape.p:.2f})"
    return (Verdict.YES, "") if control else (Verdict.UNDECIDED, no_control)
