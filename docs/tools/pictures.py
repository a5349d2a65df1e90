"""`python docs/tools/pictures.py PAGE PICTURE.png [--at SELECTOR]`: a page as a reader sees it.

The README says how its picture of a report was made.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from playwright.sync_api import sync_playwright


def photograph(page: str, picture: Path, at: str | None, width: int, height: int) -> None:
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox", "--disable-gpu"])
        view = browser.new_page(viewport={"width": width, "height": height})
        view.goto(page if "://" in page else Path(page).resolve().as_uri())
        view.wait_for_timeout(2000)  # charts are drawn
        if at:
            view.locator(at).first.evaluate("element => element.scrollIntoView()")
        view.screenshot(path=picture)
        browser.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", help="A file, or an address.")
    parser.add_argument("picture", type=Path)
    parser.add_argument("--at", help="CSS selector of what stands at the top")
    parser.add_argument("--width", type=int, default=1100)
    parser.add_argument("--height", type=int, default=900)
    given = parser.parse_args()
    photograph(given.page, given.picture, given.at, given.width, given.height)


if __name__ == "__main__":
    main()
