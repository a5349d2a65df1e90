"""The explorer of a store with 5,000 runs and a million rows: time to open it, and time of each view.

The target: below 200 ms per view. Views are requested in this process, each time for other runs so that no cache helps.
Reported are the median of the wall time and of the processor time, which does not depend on other processes.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from urllib.parse import urlencode

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

# for each view its path, and its query for the number of a repetition; runs "0" and "25" have sentences
VIEWS: dict[str, tuple[str, Callable[[int], dict[str, object]]]] = {
    "studies": ("/", lambda i: {}),
    "runs of a study": ("/study", lambda i: {"study": "large", "page": i + 1}),
    "runs, sorted": ("/study", lambda i: {"study": "large", "sort": "other_score", "page": i + 1}),
    "runs, filtered": ("/study", lambda i: {"study": "large", "find": f"model-{i}", "changes": "3-4"}),
    "scores by target": ("/scores", lambda i: {"study": "large", "task": "pos", "page": i % 5 + 1}),
    "a run": ("/run", lambda i: {"run": str(125 * i)}),
    "two runs": ("/compare", lambda i: {"run": [str(500 * i), str(500 * i + 25)]}),
    "ten runs": ("/compare", lambda i: {"run": [str(500 * i + j) for j in range(10)]}),
    "32 runs": ("/compare", lambda i: {"run": [str((500 * i + 25 * j) % 5000) for j in range(32)]}),
    "charts of 32": ("/chart-data", lambda i: {"run": [str((500 * i + 25 * j) % 5000) for j in range(32)]}),
    "a test": (
        "/test",
        lambda i: {"run": ["0", "25"], "target": f"language-{i}", "metric": "accuracy", "condition": 1},
    ),
    "sentences": ("/sentences", lambda i: {"run": "0", "target": f"language-{i}"}),
    "sentences of two": ("/sentences", lambda i: {"run": ["0", "25"], "target": f"language-{i}", "show": "worse"}),
    "running jobs": ("/progress", lambda i: {}),
}


def run(quick: bool = False) -> None:
    from stores import write_large

    from isogloss.explorer.app import create_app

    with tempfile.TemporaryDirectory() as folder:
        write_large(Path(folder), 50 if quick else 1000)
        start = time.perf_counter()
        client = create_app(folder).test_client()
        print(f"opening the store: {time.perf_counter() - start:.2f} s")
        for name, (path, query) in VIEWS.items():
            client.get(f"{path}?{urlencode(query(9), doseq=True)}")  # the first request loads code
            wall_times, cpu_times = [], []
            for i in range(3 if quick else 9):
                wall, cpu = time.perf_counter(), time.process_time()
                answer = client.get(f"{path}?{urlencode(query(i), doseq=True)}")
                wall_times.append(time.perf_counter() - wall)
                cpu_times.append(time.process_time() - cpu)
                assert answer.status_code == 200, answer.text[-300:]
            print(f"{name:20}  {1000 * median(wall_times):5.0f} ms  {1000 * median(cpu_times):5.0f} ms processor time")
