"""The report of 5,000 runs and a million rows: time to write it, its size, and the time Chromium takes to open it.

The target: below 2 seconds and 15 MB. A page is open when its tables and charts are drawn and respond.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))


def run(quick: bool = False) -> None:
    from browsing import chromium
    from report_inputs import large, small

    from isogloss.report.write_report import write_report

    inputs = small() if quick else large()
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        page = Path(folder) / "report.html"
        start = time.perf_counter()
        write_report(inputs, page)
        print(f"written in {time.perf_counter() - start:.1f} s, {page.stat().st_size / 1e6:.1f} MB")
        times = []
        for _ in range(1 if quick else 5):
            tab = browser.new_page()
            start = time.perf_counter()
            tab.goto(page.as_uri())
            tab.wait_for_selector("html[data-ready]")
            times.append(time.perf_counter() - start)
            tab.close()
        print(f"opens in {median(times):.2f} s (median of {', '.join(f'{seconds:.2f}' for seconds in times)})")
