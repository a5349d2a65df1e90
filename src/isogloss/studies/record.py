"""What a store knows of a study: its runs, their stages, and the errors of the last time. For `ls runs` and `gc`."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isogloss.results.store import Store, write_whole
from isogloss.studies.plan import Plan


@dataclass(frozen=True)
class Record:
    """A study as it was last run in a store."""

    name: str
    description: str
    written: float
    runs: dict[str, list[str]]  # label → ids of what the run leads to
    stages: list[str]
    failed: dict[str, str]  # label → reason


def write_record(store: Store, plan: Plan, failed: Mapping[str, str]) -> None:
    runs = {run.label: list(run.goals) for run in plan.runs}
    facts: dict[str, Any] = {"name": plan.study.name, "description": plan.study.description, "written": time.time()}
    content = {**facts, "runs": runs, "stages": list(plan.stages), "failed": dict(failed)}
    write_whole(_path(store, plan.study.name), json.dumps(content, ensure_ascii=False).encode())


def read_records(store: Store) -> list[Record]:
    """All studies that were run in a store; a file that cannot be read is passed over."""
    found = []
    for path in sorted((store.folder / "studies").glob("*.json")):
        try:
            found.append(Record(**json.loads(path.read_bytes())))
        except (OSError, ValueError, TypeError):
            continue
    return found


def _path(store: Store, name: str) -> Path:
    return store.folder / "studies" / f"{name}.json"
