"""The record of a study in a store: its runs and stages, the command, and the errors of the last time."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from isogloss.core.errors import UsageError
from isogloss.core.registry import check_name
from isogloss.store.entries import Damaged, Store, write_atomically

Content = Mapping[str, Any]  # of a table row or of a study file


@dataclass(frozen=True)
class Run:
    """One run of the grid with the ids of its stages, "" where nothing is fine-tuned."""

    name: str  # a hash that identifies the run
    model: str
    changes: str
    text: str
    task: str
    source: str
    seed: int
    finetuned: str
    evaluation: str
    similarity: dict[str, str]  # by when
    continual: str = ""
    distances: dict[str, str] = field(default_factory=dict)  # by when

    @property
    def label(self) -> str:
        parts = (self.model, self.changes, self.continual, self.text, self.task, self.source, f"seed {self.seed}")
        return " ".join(part for part in parts if part)

    @property
    def goals(self) -> tuple[str, ...]:
        scored = [self.evaluation] if self.evaluation else []
        return (*scored, *self.similarity.values(), *self.distances.values())

    @property
    def jobs(self) -> tuple[str, ...]:
        """The jobs of this run only; measurements before fine-tuning are shared with other runs."""
        return (self.finetuned,) if self.finetuned else self.goals

    def state(self, done: Collection[str], jobs: Collection[str], failed: Collection[str]) -> str:
        """The state, from ids of finished entries, names of running jobs and labels of failed runs.

        >>> run = Run("a", "bert", "", "", "pos", "en", 0, "finetuned-1", "evaluation-1", {})
        >>> run.state({"evaluation-1"}, [], []), run.state([], ["finetuned-1"], [])
        ('done', 'running')
        """
        if all(goal in done for goal in self.goals):
            return "done"
        if any(job in jobs for job in self.jobs):
            return "running"
        return "failed" if self.label in failed else "open"


@dataclass(frozen=True)
class Record:
    """A study as it was last run in a store."""

    name: str
    description: str
    runs: Sequence[Run]
    stages: Sequence[str] = ()
    failed: Mapping[str, str] = field(default_factory=dict)  # label → reason
    reference: str = "REF"
    text: str = ""  # the default text, which is not part of a condition's label
    continual: str = ""  # the default continual learning, which is not part of a condition's label
    published: Sequence[Content] | None = None  # rows of published values
    study: Content = field(default_factory=dict)  # the study file with all overrides
    command: str = ""
    written: float = 0.0  # seconds since 1970


def write_record(store: Store, record: Record) -> None:
    content = json.dumps(asdict(record), ensure_ascii=False)
    write_atomically(store.folder / "studies" / f"{record.name}.json", content.encode())


def read_records(store: Store) -> list[Record]:
    """All studies that were run in a store; files that cannot be read are skipped."""
    records = []
    for path in sorted((store.folder / "studies").glob("*.json")):
        try:
            content = json.loads(path.read_bytes())
            records.append(Record(**{**content, "runs": [Run(**run) for run in content["runs"]]}))
        except (OSError, ValueError, TypeError, KeyError):
            continue
    return records


def read_record(store: Store, name: str | None = None) -> Record:
    """A study by name; without a name, the only study of the store."""
    records = {record.name: record for record in read_records(store)}
    if not records:
        raise UsageError(f"{store.folder}: no study was run in this store")
    if name is None and len(records) > 1:
        raise UsageError(f"{store.folder} holds several studies: name one of {', '.join(records)} (--study)")
    return records[check_name(name or next(iter(records)), records, "study of this store")]


def environments(record: Record, store: Store) -> list[tuple[dict[str, str], int]]:
    """The machines and versions that computed the finished runs with the number of runs, most frequent first."""
    counts: Counter[tuple[tuple[str, str], ...]] = Counter()
    for run in record.runs:
        try:
            entry = store.get(run.goals[0])
        except Damaged:
            continue
        if entry is not None:
            counts[tuple(entry.manifest.get("with", {}).items())] += 1
    return [(dict(facts), runs) for facts, runs in counts.most_common()]
