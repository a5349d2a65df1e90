"""What a store knows of a study: its runs, their stages, how it was asked for, and the errors of the last time."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from isogloss.core.errors import UsageError
from isogloss.core.registry import check_name
from isogloss.store.entries import Damaged, Store, write_atomically


@dataclass(frozen=True)
class Run:
    """One fine-tuning of the grid and what is computed of it: stages by their ids, "" where nothing is fine-tuned."""

    name: str  # a hash, unlike any other run's
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


@dataclass(frozen=True)
class Record:
    """A study as it was last run in a store."""

    name: str
    description: str
    runs: Sequence[Run]
    stages: Sequence[str] = ()
    failed: Mapping[str, str] = field(default_factory=dict)  # label → reason
    reference: str = "REF"
    text: str = ""  # the text that is the usual one: its name is not told with the changes
    continual: str = ""  # likewise of continual learning
    published: Sequence[Mapping[str, Any]] | None = None  # rows of published values
    study: Mapping[str, Any] = field(default_factory=dict)  # the study file, with all that was set
    command: str = ""
    written: float = 0.0  # seconds since 1970


def write_record(store: Store, record: Record) -> None:
    content = json.dumps(asdict(record), ensure_ascii=False)
    write_atomically(store.folder / "studies" / f"{record.name}.json", content.encode())


def read_records(store: Store) -> list[Record]:
    """All studies that were run in a store; a file that cannot be read is passed over."""
    found = []
    for path in sorted((store.folder / "studies").glob("*.json")):
        try:
            content = json.loads(path.read_bytes())
            found.append(Record(**{**content, "runs": [Run(**run) for run in content["runs"]]}))
        except (OSError, ValueError, TypeError, KeyError):
            continue
    return found


def read_record(store: Store, name: str | None = None) -> Record:
    """A study by its name; without one, the only study of the store."""
    records = {record.name: record for record in read_records(store)}
    if not records:
        raise UsageError(f"{store.folder}: no study was run in this store")
    if name is None and len(records) > 1:
        raise UsageError(f"{store.folder} holds several studies: name one of {', '.join(records)} (--study)")
    return records[check_name(name or next(iter(records)), records, "study of this store")]


def environments(record: Record, store: Store) -> list[tuple[dict[str, str], int]]:
    """The machines and versions that made the runs that are done, and how many each, the busiest first."""
    counts: Counter[tuple[tuple[str, str], ...]] = Counter()
    for run in record.runs:
        try:
            entry = store.get(run.goals[0])
        except Damaged:
            continue
        if entry is not None:
            counts[tuple(entry.manifest.get("with", {}).items())] += 1
    return [(dict(facts), runs) for facts, runs in counts.most_common()]
