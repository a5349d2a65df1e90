"""`python docs/tools/pictures.py PAGE PICTURE.png [--at SELECTOR]`: a screenshot of a page.

README.md shows the command for its picture of a report.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from playwright.sync_api import sync_playwright


def save_screenshot(page: str, picture: Path, at: str | None, width: int, height: int) -> None:
    executable = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox", "--disable-gpu"])
        view = browser.new_page(viewport={"width": width, "height": height})
        view.goto(page if "://" in page else Path(page).resolve().as_uri())
        view.wait_for_timeout(2000)  # until charts are rendered
        if at:
            view.locator(at).first.evaluate("element => element.scrollIntoView()")
        view.screenshot(path=picture)
        browser.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", help="File or URL.")
    parser.add_argument("picture", type=Path)
    parser.add_argument("--at", help="CSS selector of the element to scroll to.")
    parser.add_argument("--width", type=int, default=1100)
    parser.add_argument("--height", type=int, default=900)
    arguments = parser.parse_args()
    save_screenshot(arguments.page, arguments.picture, arguments.at, arguments.width, arguments.height)


if __name__ == "__main__":
    main()
