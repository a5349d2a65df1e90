from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.report.charts import COLOURS
from isogloss.results.tables.cell_colours import SHADES, cell_class, legend

# what dichromats see of linear RGB: Machado, Oliveira & Fernandes 2009, severity 1
SIGHT = {
    "full": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
    "grey": [[0.2126, 0.7152, 0.0722]] * 3,
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def linear(colour: str) -> np.ndarray:
    """sRGB as amounts of light."""
    values = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def contrast(a: str, b: str) -> float:
    """WCAG 2: the ratio of relative luminances."""
    dark, light = sorted(float(TO_XYZ[1] @ linear(colour)) for colour in (a, b))
    return (light + 0.05) / (dark + 0.05)


def lab(light: np.ndarray) -> np.ndarray:
    scaled = TO_XYZ @ np.clip(light, 0, 1) / TO_XYZ.sum(axis=1)
    f = np.where(scaled > (6 / 29) ** 3, np.cbrt(scaled), scaled / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def test_the_classes_are_those_of_the_paper() -> None:
    """Parsing from English in Table 1, and its thresholds."""
    named = [cell_class(points) for points in (-15.77, -6.51, -3.39, -1.47, 0.29, 1.00)]
    assert named == ["farthest-below"] * 2 + ["far-below", "below"] + ["at-least-reference"] * 2
    assert [cell_class(points) for points in (0.0, -0.01, -1.99, -2.0, -4.99, -5.0)] == [
        "at-least-reference", "below", "below", "far-below", "far-below", "farthest-below",
    ]  # fmt: skip


def test_the_class_is_that_of_the_printed_number() -> None:
    assert cell_class(100 * (0.93 - 0.95)) == "far-below"  # −1.9999999999999907, printed as −2.00
    assert cell_class(-0.004) == "at-least-reference"  # printed as 0.00


@given(st.floats(-100, 100), st.floats(0, 100))
def test_a_deeper_drop_is_never_in_a_better_class(points: float, further: float) -> None:
    order = list(SHADES)
    assert order.index(cell_class(points - further)) >= order.index(cell_class(points))


def test_every_class_has_a_meaning() -> None:
    assert list(legend()) == list(SHADES)
    assert list(legend().values()) == ["≥ REF", "< REF", "≤ −2 points", "≤ −5 points"]


@pytest.mark.parametrize("name", SHADES)
def test_text_can_be_read_on_its_cell(name: str) -> None:
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert contrast(SHADES[name].cell, SHADES[name].text) >= 4.5


@pytest.mark.parametrize("sight", SIGHT)
def test_classes_are_told_apart_by_all_readers(sight: str) -> None:
    seen = {name: lab(np.array(SIGHT[sight]) @ linear(shade.cell)) for name, shade in SHADES.items()}
    for one, other in combinations(seen, 2):
        assert np.linalg.norm(seen[one] - seen[other]) > 5, (one, other)  # 2.3 is just noticeable


def test_drops_darken_step_by_step() -> None:
    lightness = [lab(linear(SHADES[name].cell))[0] for name in ("below", "far-below", "farthest-below")]
    assert lightness[0] - lightness[1] > 10 and lightness[1] - lightness[2] > 10


@pytest.mark.parametrize("colour", COLOURS)
def test_lines_and_points_stand_out_from_the_page(colour: str) -> None:
    """WCAG asks for 3 to 1 of what is drawn."""
    assert contrast(colour, "#FFFFFF") >= 3


@pytest.mark.parametrize("sight", [name for name in SIGHT if name != "grey"])
def test_lines_are_told_apart(sight: str) -> None:
    """2.3 is what can just be told apart side by side; these stand in different places."""
    seen = [lab(np.array(SIGHT[sight]) @ linear(colour)) for colour in COLOURS]
    assert min(float(np.linalg.norm(a - b)) for a, b in combinations(seen, 2)) > 15
