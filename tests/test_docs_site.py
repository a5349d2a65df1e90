"""The built site: no warnings, no network requests, pages that fit a phone and a desktop."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browsing import chromium

ROOT = Path(__file__).parents[1]
EXTERNAL_RESOURCE = re.compile(r"<(?:script|img|iframe|link)\b[^>]*?(?:src|href)=[\"']?((?:https?:)?//[^\"'>\s]+)")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("mkdocs", reason="needs the packages of the documentation (pip install 'isogloss[docs]')")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert built.returncode == 0, built.stdout + built.stderr
    return folder


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as instance:
        yield instance


def test_pages_load_nothing_from_the_network(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > 25
    for page in pages:
        assert not EXTERNAL_RESOURCE.findall(page.read_text(encoding="utf-8")), page.name
    for style in site.rglob("*.css"):
        assert not re.findall(r"url\([\"']?https?:|@import", style.read_text(encoding="utf-8")), style.name


def test_pages_contain_no_build_path(site: Path) -> None:
    for page in site.rglob("*.html"):
        assert str(ROOT) not in page.read_text(encoding="utf-8"), page.name


@pytest.mark.parametrize("width", [390, 1440])
def test_pages_open_without_errors_and_fit(site: Path, browser: Any, width: int) -> None:
    messages: list[str] = []
    view = browser.new_page(viewport={"width": width, "height": 900})
    view.on("console", lambda message: messages.append(message.text) if message.type in ("error", "warning") else None)
    view.on("pageerror", lambda error: messages.append(str(error)))
    view.on(
        "request",
        lambda request: messages.append(request.url) if not request.url.startswith(("file:", "data:")) else None,
    )
    for page in sorted(site.rglob("*.html")):
        if page.name != "404.html":  # its links are relative to a server root
            view.goto(page.as_uri())
            assert view.evaluate("document.documentElement.scrollWidth") <= width, page.name
    assert messages == []
