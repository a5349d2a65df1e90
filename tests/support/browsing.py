"""Pages in headless Chromium: console messages, requests, accessibility."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
FLAGS += ["--disable-component-update", "--disable-sync"]
LOW_CONTRAST = """() => {
    const linear = (x) => x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4;
    const light = (c) => { const v = c.map((x) => linear(x / 255));
                           return 0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2]; };
    const read = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
    const back = (e) => { for (; e; e = e.parentElement) { const c = read(getComputedStyle(e).backgroundColor);
                          if (c.length === 3 || c[3] > 0) return c.slice(0, 3); } return [255, 255, 255]; };
    const found = [];
    for (const e of document.querySelectorAll("body *:not(script):not(svg *)")) {
      if (![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()) || !e.getClientRects().length) continue;
      if (e.closest(".vega-embed") || e.className === "skip") continue;
      const [a, b] = [light(read(getComputedStyle(e).color).slice(0, 3)), light(back(e))].sort((x, y) => y - x);
      if ((a + 0.05) / (b + 0.05) < 4.5) found.push(e.outerHTML.slice(0, 80));
    }
    return found; }"""

UNNAMED = """() => {
    const found = [], said = (e) => (e.getAttribute("aria-label") || e.textContent).trim();
    const told = (what, e) => found.push(`${what}: ${e.outerHTML.slice(0, 80)}`);
    for (const e of document.querySelectorAll("input:not([type=hidden]), select, textarea"))
      if (!(e.getAttribute("aria-label") || [...e.labels].map(said).join(""))) told("no label", e);
    for (const e of document.querySelectorAll("button, a[href], summary, th")) if (!said(e)) told("no name", e);
    for (const e of document.querySelectorAll("img, [role=img], [role=region], nav, progress"))
      if (!(e.getAttribute("alt") || e.getAttribute("aria-label"))) told("no words for it", e);
    for (const e of document.querySelectorAll(".scroll"))
      if (e.scrollWidth > e.clientWidth && e.tabIndex < 0) told("cannot be scrolled by keyboard", e);
    const ids = [...document.querySelectorAll("[id]:not(svg *)")].map((e) => e.id);
    ids.filter((id, i) => ids.indexOf(id) !== i).forEach((id) => found.push(`two of the id ${id}`));
    const levels = [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")].map((e) => Number(e.tagName[1]));
    levels.forEach((level, i) => { if (level > (levels[i - 1] ?? 0) + 1) found.push(`heading ${i} skips a level`); });
    if (!document.documentElement.lang || !document.querySelector("main")) found.push("no language, or no main part");
    return found; }"""


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser; without one the test is skipped."""
    executable = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not executable:
        pytest.skip("no Chromium here (apt-get install chromium)")
    library = pytest.importorskip("playwright.sync_api", reason="no Playwright here (pip install playwright)")
    with library.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=FLAGS)
        yield browser
        browser.close()


class Opened:
    """A page opened in a tab, with its console errors and its requests to other origins."""

    def __init__(self, tab: Any, address: str, width: int = 1440, origin: str = "file:"):
        self.errors: list[str] = []
        self.requests: list[str] = []
        self.origin = origin
        self.page = tab
        self.page.set_viewport_size({"width": width, "height": 900})
        self.page.on("console", lambda message: self._on_console(message.type, message.text))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", lambda request: self._on_request(request.url))
        self.page.goto(address)
        self.page.wait_for_selector("html[data-ready]", timeout=60_000)

    def _on_console(self, kind: str, text: str) -> None:
        if kind in ("error", "warning"):
            self.errors.append(text)

    def _on_request(self, url: str) -> None:
        if not url.startswith((self.origin, "data:", "blob:")):
            self.requests.append(url)

    def column(self, table: str, column: int) -> list[str]:
        rows = self.page.locator(table).locator("tbody tr")
        return [row.locator("td").nth(column).inner_text().split("\n")[0] for row in rows.all()]

    def drawn(self, id: str) -> int:
        return int(self.page.locator(f"#{id}").get_attribute("data-rows"))

    def unnamed(self) -> list[str]:
        """Accessibility problems: missing names and descriptions, unordered headings, no keyboard scrolling."""
        problems: list[str] = self.page.evaluate(UNNAMED)
        return problems

    def low_contrast(self) -> list[str]:
        """The elements with text and a contrast below 4.5 to 1, by WCAG's formula."""
        elements: list[str] = self.page.evaluate(LOW_CONTRAST)
        return elements
