"""Scores from 0 to 1 as text in points (hundredths), with true minus signs."""

from __future__ import annotations

POINTS_PER_UNIT = 100


def points(value: float | None, decimals: int = 1) -> str:
    """A score in points; "" for None.

    >>> points(0.9514), points(-0.98765, 2), points(None)
    ('95.1', '−98.77', '')
    """
    return "" if value is None else fixed(value * POINTS_PER_UNIT, decimals).replace("-", "−")


def signed_points(value: float | None, decimals: int = 1) -> str:
    """A difference in points, with its sign.

    >>> signed_points(-0.1234), signed_points(0.001), signed_points(-0.0001)
    ('−12.3', '+0.1', '0.0')
    """
    plus = value is not None and round(value * POINTS_PER_UNIT, decimals) > 0
    return f"+{points(value, decimals)}" if plus else points(value, decimals)


def fixed(value: float, decimals: int) -> str:
    """A number with a fixed number of decimals and a plain minus sign; never "-0".

    >>> fixed(-0.001, 2)
    '0.00'
    """
    return f"{round(value, decimals) + 0.0:.{decimals}f}"
