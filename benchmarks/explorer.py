"""The explorer over a store of 5,000 runs and a million rows: opening it, and each view.

The promise: under 200 ms a view. Views are asked for in this process, as the server would, each for other runs than the
time before so that nothing remembered helps: the median, and the processor's own time, for a busy machine's clock says
little.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from urllib.parse import urlencode

sys.path[:0] = [str(Path(__file__).parents[1] / "tests" / name) for name in ("explorer", "report", "")]

# of a view: its address, and its query for the number of a repetition; "0" and "25" have sentences
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
    "what is being done": ("/progress", lambda i: {}),
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
            client.get(f"{path}?{urlencode(query(9), doseq=True)}")  # the first of its kind loads code
            walls, own = [], []
            for i in range(3 if quick else 9):
                wall, cpu = time.perf_counter(), time.process_time()
                answer = client.get(f"{path}?{urlencode(query(i), doseq=True)}")
                walls.append(time.perf_counter() - wall)
                own.append(time.process_time() - cpu)
                assert answer.status_code == 200, answer.text[-300:]
            print(f"{name:20}  {1000 * median(walls):5.0f} ms  {1000 * median(own):5.0f} ms of the processor's")
