"""The colours of the paper's tables: how far is a cell below the reference?

Four classes: at or above the reference, below it, at least 2 and at least 5 points below it. The class is that of the
printed value, so that number and colour of a cell agree. Blue and increasingly dark shades of orange can be
distinguished by colour-blind readers and in grey.
"""

from __future__ import annotations

from dataclasses import dataclass

STEPS = (2.0, 5.0)  # points below the reference
PRINTED_DECIMALS = 2  # of a score in points


@dataclass(frozen=True)
class Shade:
    """Background and text colour of a cell, as `#RRGGBB`."""

    cell: str
    text: str


SHADES = {
    "at-least-reference": Shade("#CFE3F3", "#000000"),
    "below": Shade("#FFF6E0", "#000000"),
    "far-below": Shade("#F5B041", "#000000"),
    "farthest-below": Shade("#A63603", "#FFFFFF"),
}


def cell_class(points: float) -> str:
    """The class of a difference to the reference, in points.

    >>> cell_class(0.04), cell_class(-0.96), cell_class(-1.999), cell_class(-15.77)
    ('at-least-reference', 'below', 'far-below', 'farthest-below')
    """
    printed = round(points, PRINTED_DECIMALS)
    if printed >= 0:
        return "at-least-reference"
    return ["below", "far-below", "farthest-below"][sum(printed <= -step for step in STEPS)]


def legend() -> dict[str, str]:
    """The meaning of each class, as in the paper.

    >>> legend()["far-below"]
    '≤ −2 points'
    """
    return dict(zip(SHADES, ["≥ REF", "< REF", *(f"≤ −{step:g} points" for step in STEPS)], strict=True))
