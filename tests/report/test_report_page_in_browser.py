"""The page in a real browser: it draws, sorts, answers to choices, fits every width, and asks for nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from browsing import Opened, chromium
from report_inputs import hostile, large, small

from isogloss.report.write_report import write_report


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as one:
        yield one


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("reports")
    for name, subject in {"small": small(), "hostile": hostile()}.items():
        write_report(subject, folder / f"{name}.html")
    return {name: folder / f"{name}.html" for name in ("small", "hostile")}


TABLE = "#tables table >> nth=0"
OPACITIES = """([marks, number]) =>
    new Set([...document.querySelectorAll(marks)].map((one) => one.getAttribute("opacity"))).size === number"""


@pytest.fixture(scope="module")
def tab(browser: Any) -> Any:
    return browser.new_page()


@pytest.fixture
def opened(tab: Any, reports: dict[str, Path]) -> Opened:
    return Opened(tab, reports["small"].as_uri())


@pytest.fixture(scope="module")
def seen(browser: Any, reports: dict[str, Path]) -> Opened:
    """Opened once, for tests that leave to each other what they look at."""
    return Opened(browser.new_page(), reports["small"].as_uri())


@pytest.mark.parametrize("width", [390, 1440])
@pytest.mark.parametrize("name", ["small", "hostile"])
def test_it_opens_quietly_and_fits(tab: Any, reports: dict[str, Path], name: str, width: int) -> None:
    one = Opened(tab, reports[name].as_uri(), width)
    assert one.errors == []
    assert one.requests == []
    for details in one.page.locator("details:not(.vega-embed details) > summary").all():
        details.click()
    assert one.page.evaluate("document.documentElement.scrollWidth") <= width
    assert one.page.evaluate("window.attacked") is None
    assert one.page.locator("main img, main iframe, main script").count() == 0
    assert one.unnamed() == []


def test_a_table_sorts_by_click_and_by_keyboard(seen: Opened) -> None:
    read = seen.column(TABLE, 2)
    button = seen.page.locator(TABLE).locator("button.sort").nth(2)
    button.click()
    rising = seen.column(TABLE, 2)
    values = [float(text.strip("*").replace("−", "-")) for text in rising]
    assert values == sorted(values)
    assert rising != read
    assert button.locator("xpath=..").get_attribute("aria-sort") == "ascending"
    button.focus()
    seen.page.keyboard.press("Enter")
    assert seen.column(TABLE, 2) == rising[::-1]
    seen.page.keyboard.press("Space")
    assert seen.column(TABLE, 2) == read


def test_charts_answer_to_choices(opened: Opened) -> None:
    page = opened.page
    assert opened.drawn("scores") == 2 * 5
    assert opened.drawn("curves") == 4 * 3
    assert page.locator("#scores svg.marks").count() == 1
    page.locator("#languages input").nth(1).uncheck()  # fr
    page.wait_for_selector("#curves[data-rows='9']")
    assert opened.drawn("scores") == 2 * 4
    assert "fr" not in page.locator("#curves svg.marks").text_content()
    page.select_option("#from", "1")
    page.wait_for_selector("#curves[data-rows='6']")
    assert "layers 1 to 2" in page.locator("figure:has(#gaps) .chart-note").inner_text()


@pytest.mark.parametrize(("name", "said"), [("small", "41.00"), ("hostile", "<img src=x")])
def test_a_point_tells_its_values_to_a_pointer(tab: Any, reports: dict[str, Path], name: str, said: str) -> None:
    one = Opened(tab, reports[name].as_uri())
    drawn = one.page.locator("#scores svg.marks .mark-symbol.role-mark path")
    tip = one.page.locator("#vg-tooltip-element")
    told = []
    for point in drawn.all():
        one.page.mouse.move(0, 0)  # where no tip of another point is in the way
        point.hover(force=True)
        tip.wait_for(state="visible")
        told.append(tip.inner_text())
    assert any(said in text for text in told), told[:2]
    assert tip.locator("img, script").count() == 0
    assert one.page.evaluate("window.attacked") is None


def test_the_correlation_on_the_page_is_that_of_the_library(seen: Opened) -> None:
    from isogloss.metrics.correlation import spearman

    similarity = [0.7, 0.2, 0.6, 0.4]  # means of LAYERS: fr, ug, de, ar
    gap = [0.15, 0.54, 0.24, 0.44]
    expected = f"{spearman(similarity, gap).value:.2f}".replace("-", "−")
    assert f"ρ = {expected} over 4 languages" in seen.page.locator("figure:has(#gaps) .chart-note").inner_text()
    for x, y in (([1, 2, 2, 5, 4], [3, 1, 4, 1, 5]), ([1, 2, 3, 4], [2, 1, 4, 3])):
        assert seen.page.evaluate("([x, y]) => spearman(x, y)", [x, y]) == pytest.approx(spearman(x, y).value)


@pytest.mark.parametrize("by", ["click", "keyboard"])
def test_a_legend_brings_one_out(opened: Opened, by: str) -> None:
    for marks in ("#curves svg.marks path[stroke-width='2']", "#histograms svg.marks .mark-rect path"):
        drawn = opened.page.locator(marks)
        before = {one.get_attribute("opacity") for one in drawn.all()}
        label = opened.page.locator(f"{marks.split()[0]} .role-legend-label text").first
        if by == "click":
            label.click(force=True)
        else:
            label.focus()
            opened.page.keyboard.press("Enter")
        opened.page.wait_for_function(OPACITIES, arg=[marks, 2], timeout=5000)
        after = {one.get_attribute("opacity") for one in drawn.all()}
        assert len(before) == 1
        assert len(after) == 2


def test_names_in_the_chart_of_gaps_do_not_lie_on_each_other(opened: Opened) -> None:
    close = [{"target": name, "similarity": 0.5 + i / 1000, "gap": 20 + i / 10} for i, name in enumerate("abcd")]
    rows = [{"target": "far", "similarity": 0.1, "gap": 60}, {"target": "off", "similarity": 0.9, "gap": 2}, *close]
    opened.page.evaluate(
        "rows => draw('gaps', rows, '')", [{"experiment": "x", "name": row["target"], **row} for row in rows]
    )
    opened.page.wait_for_selector("#gaps[data-rows='6']")
    told, texts = {row["target"] for row in rows}, opened.page.locator("#gaps .mark-text text").all()
    names = [text.bounding_box() for text in texts if text.text_content() in told]
    assert len(names) == 6
    for i, a in enumerate(names):
        for b in names[:i]:
            across = min(a["x"] + a["width"], b["x"] + b["width"]) - max(a["x"], b["x"])
            down = min(a["y"] + a["height"], b["y"] + b["height"]) - max(a["y"], b["y"])
            assert min(across, down) < 1, (a, b)


def test_examples_show_the_worst_first_and_right_to_left(seen: Opened) -> None:
    page = seen.page
    page.select_option("#example-target", label="ug")
    headings = page.locator("#examples .item").all_inner_texts()
    assert [heading.split(":")[0] for heading in headings] == ["Item 3", "Item 2"]
    words = page.locator("#examples article").first.locator("li")
    assert words.count() == 1 + 4
    assert words.nth(1).bounding_box()["x"] > words.nth(4).bounding_box()["x"], "from right to left"
    assert page.locator("#examples article").nth(1).locator(".wrong").all_inner_texts() == ["ADJ", "ADJ"]


def test_text_has_enough_contrast(seen: Opened) -> None:
    assert seen.low_contrast() == []


def test_charts_have_words_for_who_cannot_see_them(seen: Opened) -> None:
    for id in ("scores", "curves", "gaps", "histograms"):
        picture = seen.page.locator(f"#{id} svg.marks").first
        assert picture.get_attribute("aria-label") or picture.locator("[aria-label]").count()


def test_it_prints_what_it_shows(browser: Any, reports: dict[str, Path]) -> None:
    opened = Opened(browser.new_page(), reports["small"].as_uri())
    opened.page.emulate_media(media="print")
    assert not opened.page.locator("nav").is_visible()
    assert not opened.page.locator("#languages").is_visible()
    assert opened.page.locator("#tables table").first.is_visible()
    assert opened.page.pdf(format="A4").startswith(b"%PDF")
    opened.page.set_viewport_size({"width": 700, "height": 1000})  # paper, after charts were drawn for a wide screen
    for chart in opened.page.locator("svg.marks").all():
        box = chart.bounding_box()
        assert box["width"] > 500
        assert box["x"] + box["width"] <= 700


def test_values_that_are_not_comparable_are_grey_with_the_reason(browser: Any, tmp_path: Path) -> None:
    about = small()
    assert about.results.published is not None
    published = about.results.published.with_columns(mismatch=pl.lit("paper: mBERT; yours: e5"))
    write_report(replace(about, results=replace(about.results, published=published)), tmp_path / "grey.html")
    for width in (390, 1440):
        opened = Opened(browser.new_page(), (tmp_path / "grey.html").as_uri(), width)
        value = opened.page.locator(f"{TABLE} >> small.incomparable").first
        assert value.get_attribute("title") == "paper: mBERT; yours: e5"
        assert value.inner_text().endswith("¹")
        plain = opened.page.locator(TABLE).locator("td").first
        colour = "(one) => getComputedStyle(one).color"
        assert value.evaluate(colour) != plain.evaluate(colour)
        note = opened.page.locator("#tables .footnote").first.inner_text()
        assert note == "¹ Published value not comparable: paper: mBERT; yours: e5."
        assert opened.low_contrast() == []


def test_a_curve_without_intervals_has_no_bounds(seen: Opened) -> None:
    shown = seen.page.evaluate("""() => {
        const items = document.querySelector("#curves").view.data("rows");
        return items.length > 0 && items.every((row) => !("low" in row) && !("high" in row)); }""")
    assert shown
    assert "Bands" not in seen.page.locator("figure:has(#curves) figcaption").inner_text()


@pytest.mark.slow
def test_a_million_rows_open(browser: Any, tmp_path: Path) -> None:
    """How fast is told by `python -m benchmarks report_page`."""
    subject = large()
    assert subject.results.frame["run"].n_unique() == 5000
    assert len(subject.results.frame) + len(subject.results.curves.frame) > 1_000_000
    write_report(subject, tmp_path / "large.html")
    assert (tmp_path / "large.html").stat().st_size < 15e6
    page = browser.new_page()
    page.goto((tmp_path / "large.html").as_uri())
    page.wait_for_selector("html[data-ready]")
    assert page.locator("#tables table").count()
