"""The explorer in a real browser: it draws, sorts, tests, follows what is being done, and stays at home."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from browsing import Opened, chromium
from report_inputs import SCRIPT, hostile, small
from stores import parsed, runs_of, write_store
from werkzeug.serving import make_server

from isogloss.explorer.app import create_app
from isogloss.store.entries import Store
from isogloss.store.running_jobs import Notice

RUNS = [run.name for run in runs_of(small())]
TREES = [run.name for run in runs_of(parsed())]
HOSTILE_RUNS = [run.name for run in runs_of(hostile())]
PAGES = {
    "studies": ("/", {}),
    "study": ("/study", {"study": "s"}),
    "scores": ("/scores", {"study": "s"}),
    "run": ("/run", {"run": RUNS[0]}),
    "compare": ("/compare", {"run": [*RUNS, *TREES]}),
    "sentences": ("/sentences", {"run": TREES, "target": "ug"}),
    "hostile study": ("/study", {"study": SCRIPT}),
    "hostile run": ("/run", {"run": HOSTILE_RUNS[0]}),
    "hostile runs": ("/compare", {"run": HOSTILE_RUNS}),
    "hostile sentences": ("/sentences", {"run": HOSTILE_RUNS[0], "target": "en", "show": "all"}),
}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as one:
        yield one


@pytest.fixture(scope="module")
def tab(browser: Any) -> Any:
    """One for all that leave nothing behind: in a new one scripts are read anew."""
    return browser.new_page()


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return write_store(tmp_path_factory.mktemp("store"), small(), parsed(), hostile(), planned=1)


@pytest.fixture(scope="module")
def server(store: Store) -> Iterator[str]:
    one = make_server("127.0.0.1", 0, create_app(store.folder), threaded=True)
    threading.Thread(target=one.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{one.server_port}"
    one.shutdown()


def opened(tab: Any, server: str, name: str, width: int = 1440) -> Opened:
    path, query = PAGES[name]
    return Opened(tab, f"{server}{path}?{urlencode(query, doseq=True)}", width, origin=server)


@pytest.mark.parametrize("width", [390, 1440])
@pytest.mark.parametrize("name", PAGES)
def test_it_opens_quietly_and_fits(tab: Any, server: str, name: str, width: int) -> None:
    one = opened(tab, server, name, width)
    if name == "compare":
        one.page.wait_for_selector("#compared[data-tested]")
    for details in one.page.locator("details:not(.vega-embed details) > summary").all():
        details.click()
    assert one.errors == []
    assert one.requests == []
    assert one.page.evaluate("document.documentElement.scrollWidth") <= width
    assert one.page.evaluate("window.attacked") is None
    assert one.page.locator("main img, main iframe, main script").count() == 0
    assert one.low_contrast() == []
    assert one.unnamed() == []


def test_runs_are_chosen_across_pages_and_compared(browser: Any, server: str) -> None:
    one = opened(browser.new_page(), server, "study")
    page = one.page
    page.locator("input[name=run]").nth(0).check()
    page.locator("input[name=run]").nth(3).focus()
    page.keyboard.press("Space")
    assert page.locator("#picked").inner_text() == "2 selected"
    page.goto(f"{server}/study?study=s&sort=seed")
    assert page.locator("input[name=run]:checked").count() == 2
    page.goto(f"{server}/study?study=trees")
    page.locator("input[name=run]").nth(0).check()
    page.get_by_role("button", name="Compare").click()
    page.wait_for_selector("#compared[data-tested]")
    assert page.locator("ol.conditions li").count() == 2, "the third has another metric"
    assert "1 of these runs has no accuracy" in page.locator("main").inner_text()
    assert page.locator("#compared th").all_inner_texts()[1].startswith("REF")
    page.go_back()
    page.wait_for_selector("html[data-ready]")
    assert page.locator("#picked").inner_text() == ""
    assert one.errors == []
    page.close()


def test_tests_appear_and_tables_sort(tab: Any, server: str) -> None:
    one = opened(tab, server, "compare")
    page = one.page
    page.wait_for_selector("#compared[data-tested]")
    cell = page.locator("#compared tr[data-target=fr] td[data-condition]").first
    assert cell.get_attribute("title").startswith("p = ")
    assert "t over seeds and examples" in cell.get_attribute("title")
    read = one.column("#compared", 3)
    page.locator("#compared button.sort").nth(3).click()
    rising = one.column("#compared", 3)
    values = [float(text.rstrip("*").replace("−", "-")) for text in rising]
    assert values == sorted(values)
    assert rising != read
    page.locator("#compared button.sort").nth(3).focus()
    page.keyboard.press("Enter")
    assert one.column("#compared", 3) == rising[::-1]


def test_charts_answer_to_choices(tab: Any, server: str) -> None:
    one = opened(tab, server, "run")
    page = one.page
    assert (one.drawn("scores"), one.drawn("curves")) == (5, 12)
    page.locator("#languages input").nth(1).uncheck()  # fr
    page.wait_for_selector("#curves[data-rows='9']")
    lines = page.locator("#curves svg.marks path[stroke-width='2']")
    before = [line.get_attribute("opacity") for line in lines.all()]
    page.locator("#curves .role-legend-label text").first.click(force=True)
    page.wait_for_timeout(300)
    assert before != [line.get_attribute("opacity") for line in lines.all()]
    assert (
        page.locator("#scores svg.marks").first.get_attribute("aria-label")
        or page.locator("#scores svg.marks [aria-label]").count()
    )


def test_trees_are_drawn_and_run_as_the_text_does(tab: Any, server: str) -> None:
    one = opened(tab, server, "sentences")
    page = one.page
    trees = page.locator("article").first.locator("svg.tree")
    assert trees.count() == 2, "one for each run"
    first = trees.first
    assert "gold above the words, REF below" in first.get_attribute("aria-label")
    assert first.locator("path:not(.tip)").count() == 8
    assert first.locator("path.off:not(.tip)").count() == 4, "two arcs differ, on either side"
    words = first.locator("text:not(.relation)")
    assert words.nth(0).bounding_box()["x"] > words.nth(3).bounding_box()["x"], "from right to left"
    assert words.nth(0).text_content() == "مەن"
    labels = [one.bounding_box() for one in first.locator("text.relation").all()]
    apart = [a for i, a in enumerate(labels) for b in labels[:i]
             if abs(a["x"] - b["x"]) < min(a["width"], b["width"]) / 2 and abs(a["y"] - b["y"]) < 8]  # fmt: skip
    assert apart == [], "no label lies on another"


def test_french_runs_from_left_to_right(tab: Any, server: str) -> None:
    page = Opened(tab, f"{server}/sentences?{urlencode({'run': TREES[0], 'target': 'fr', 'show': 'all'})}").page
    words = page.locator("svg.tree").first.locator("text:not(.relation)")
    assert words.nth(0).bounding_box()["x"] < words.nth(3).bounding_box()["x"]


def test_the_page_follows_what_is_being_done(browser: Any, tmp_path: Path) -> None:
    store = write_store(tmp_path, parsed(), planned=1)
    server = make_server("127.0.0.1", 0, create_app(tmp_path), threaded=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    page = browser.new_page()
    page.clock.install()  # the page asks every few seconds: they are not waited for
    Opened(page, f"http://127.0.0.1:{server.server_port}/study?study=trees")
    notice = Notice(store)
    page.locator("input[name=run]").first.check()
    notice.write({"job": "finetuned-open0", "label": "x", "stage": "finetuned", "step": 3, "steps": 10}, now=True)
    page.clock.fast_forward(1000)
    page.wait_for_selector("#runs .state.running", timeout=15_000)
    assert "step 3 of 10" in page.locator("#jobs").inner_text()
    entry = store.need(runs_of(parsed())[0].evaluation).checked_folder()
    with store.making("evaluation-open0", {}) as made:
        for name in ("rows.parquet", "predictions.parquet"):
            (made / name).write_bytes((entry / name).read_bytes())
    notice.clear()
    page.clock.fast_forward(2000)
    page.wait_for_selector("#counts:has-text('3 of 3')", timeout=15_000)
    page.wait_for_selector("#runs:not(:has(.state.open)):not(:has(.state.running))", timeout=15_000)
    assert page.locator("input[name=run]").first.is_checked(), "what was chosen stays so"
    page.close()
    server.shutdown()
