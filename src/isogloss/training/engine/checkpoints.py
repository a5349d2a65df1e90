"""Checkpoints that survive a kill at any time: complete or absent, hashed; the newest two are kept.

A checkpoint is a folder `checkpoint-STEP` with the state and a manifest with its hash. It is written under a temporary
name and renamed once it is on disk; a damaged checkpoint is skipped in favour of the previous one.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import time
import warnings
from pathlib import Path

import torch
from torch.optim.optimizer import StateDict

from isogloss.core.errors import UsageError
from isogloss.core.files import fsync_path
from isogloss.core.hashing import file_hash

CHECKPOINTS_KEPT = 2
SLOW_SAVE_SECONDS = 1.0  # optional checkpoints are skipped if saving takes longer than this …
TRAINING_TO_SAVING_RATIO = 20  # … and the training since the last one less than this many times as long
STATE_FILE, MANIFEST_FILE = "state.pt", "manifest.json"


class Checkpoints:
    """The checkpoints of one run in a folder.

    `identity` identifies the run, so that the state of another run is never loaded. A checkpoint is due every `steps`
    steps and every `minutes`. None is written within `min_seconds` of the start or of the last one. Checkpoints saved
    with `skip_if_slow` (at the end of an epoch) are left out if writing them takes long compared with training.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        identity: str,
        *,
        steps: int | None = None,
        minutes: float = 10.0,
        min_seconds: float = 0.0,
    ):
        self.folder, self.identity = Path(folder), identity
        self._every_steps, self._every_seconds, self._min_seconds = steps, 60 * minutes, min_seconds
        self._last_save, self._save_seconds = time.monotonic(), 0.0

    def due(self, step: int) -> bool:
        if self._every_steps and step % self._every_steps == 0:
            return True
        return time.monotonic() - self._last_save >= self._every_seconds

    def save(self, step: int, state: StateDict, *, skip_if_slow: bool = False) -> None:
        """Write the state after `step` steps, then remove all but the newest two."""
        start = time.monotonic()
        slow = skip_if_slow and self._save_seconds > SLOW_SAVE_SECONDS
        pause = TRAINING_TO_SAVING_RATIO * self._save_seconds if slow else 0.0
        if start - self._last_save < max(self._min_seconds, pause):
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        target = self.folder / f"checkpoint-{step}"
        unfinished = self.folder / f".{target.name}.part"
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir()
        torch.save(state, unfinished / STATE_FILE)
        manifest = {"identity": self.identity, "step": step, "hash": file_hash(unfinished / STATE_FILE)}
        (unfinished / MANIFEST_FILE).write_text(json.dumps(manifest), encoding="utf-8")
        for path in (unfinished / STATE_FILE, unfinished / MANIFEST_FILE, unfinished):
            fsync_path(path)
        shutil.rmtree(target, ignore_errors=True)
        unfinished.rename(target)
        fsync_path(self.folder)
        for old in self._newest_first()[CHECKPOINTS_KEPT:]:
            shutil.rmtree(old, ignore_errors=True)
        self._last_save = time.monotonic()
        self._save_seconds = self._last_save - start

    def latest(self) -> StateDict | None:
        """The newest complete state, on the CPU; None if there is none."""
        for path in self._newest_first():
            identity = _identity_if_intact(path)
            if identity is None:
                warnings.warn(f"{path} is damaged and is skipped", stacklevel=2)
                continue
            if identity != self.identity:
                raise UsageError(f"{self.folder} contains checkpoints of another run; use another folder for this run")
            state: StateDict = torch.load(path / STATE_FILE, map_location="cpu", weights_only=True)
            return state
        return None

    def clear(self) -> None:
        """Remove all checkpoints of a finished run."""
        for path in [*self.folder.glob(".checkpoint-*.part"), *self._newest_first()]:
            shutil.rmtree(path, ignore_errors=True)
        with contextlib.suppress(OSError):  # absent, or it contains other files
            self.folder.rmdir()

    def _newest_first(self) -> list[Path]:
        folders = [p for p in self.folder.glob("checkpoint-*") if p.name.partition("-")[2].isdecimal()]
        return sorted(folders, key=lambda path: -int(path.name.partition("-")[2]))


def _identity_if_intact(path: Path) -> str | None:
    """The identity of the run that wrote a checkpoint; None if a file is missing or damaged."""
    try:
        manifest = json.loads((path / MANIFEST_FILE).read_text(encoding="utf-8"))
        return str(manifest["identity"]) if manifest["hash"] == file_hash(path / STATE_FILE) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None
