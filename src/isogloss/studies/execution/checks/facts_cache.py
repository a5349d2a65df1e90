"""Facts of corpora that the checks of a study need, cached in the store."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from isogloss.core.hashing import digest
from isogloss.store.entries import Store, write_atomically
from isogloss.tasks.labelled import LabelFacts

FACTS_FILE = "corpus_facts.json"
FACTS_VERSION = 1  # raised when the same corpus would give other facts


class FactsCache:
    """Facts of corpora by the hash of their content, in a file of the store: a corpus is read once."""

    def __init__(self, store: Store | None):
        self._path = store.folder / FACTS_FILE if store else None
        self._facts: dict[str, Any] = {}
        self._changed = False
        if self._path and self._path.is_file():
            try:
                self._facts = dict(json.loads(self._path.read_bytes()))
            except (OSError, ValueError):
                self._facts = {}

    def labels(self, key: object, where: str, compute: Callable[[], LabelFacts]) -> LabelFacts:
        values = self._get(("labels", key), lambda: asdict(compute()))
        return LabelFacts(**{**values, "where": where})

    def number(self, key: object, compute: Callable[[], int]) -> int:
        return int(self._get(("number", key), compute))

    def names(self, key: object, compute: Callable[[], list[str]]) -> list[str]:
        return list(self._get(("names", key), compute))

    def save(self) -> None:
        if self._path and self._changed:
            write_atomically(self._path, json.dumps(self._facts).encode())
            self._changed = False

    def _get(self, key: object, compute: Callable[[], Any]) -> Any:
        name = digest(FACTS_VERSION, key)
        if name not in self._facts:
            self._facts[name] = compute()
            self._changed = True
        return self._facts[name]
