"""`python -m benchmarks [NAME …] [--quick]`: run all benchmarks, or those named."""

from __future__ import annotations

import argparse
import os
import platform
from importlib import import_module

NAMES = [
    "conllu_reading",
    "similarity_battery",
    "interval_coverage",
    "curve_verdict",
    "alignment",
    "extraction",
    "large_models",
    "spanning_tree",
    "parsing",
    "finetuning",
    "finetuning_quality",
    "adjustment",
    "pretraining",
    "studies",
    "explorer",
    "report_page",
    "transliteration",
]
NAMED = ["gpu", "replay", "side_by_side", "table_1"]  # only when asked for


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*NAMES, *NAMED, []], help="all if none is given")
    parser.add_argument("--quick", action="store_true", help="smaller problems: a smoke test, not a claim")
    options = parser.parse_args()
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    for name in options.names or NAMES:
        print(f"\n== {name}")
        import_module(f"benchmarks.{name}").run(quick=options.quick)


if __name__ == "__main__":
    main()
