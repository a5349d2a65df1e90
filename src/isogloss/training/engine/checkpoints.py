"""Checkpoints that survive being killed at any moment: whole or absent, hashed, two generations.

A checkpoint is a folder `checkpoint-STEP` with the state and a manifest of its hash. It is written beside its place
and renamed once it is on the disk; a damaged one is passed over for the one before.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import time
import warnings
from pathlib import Path
from typing import Any

import torch

from isogloss.core.errors import UsageError
from isogloss.core.files import fsync_path
from isogloss.core.hashing import file_hash

CHECKPOINTS_KEPT = 2
TRAINING_TO_SAVING_RATIO, SLOW_SAVE_SECONDS = (
    20,
    1.0,
)  # one that took longer than so many seconds takes at most this part of the time
STATE_FILE, MANIFEST_FILE = "state.pt", "manifest.json"


class Checkpoints:
    """The checkpoints of one run in a folder of its own.

    `identity` says which run it is, so that another's state is never taken for its own. One is due every
    `steps` steps where given, and every `minutes` in any case. Within `apart` seconds of the beginning or of another
    none is made: less than that is sooner done again. Several large networks are gigabytes, which take as long to
    write as an epoch to train: so of those that are made `skip_if_slow`, at the end of an epoch, some are left out.
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
        return (
            bool(self._every_steps and step % self._every_steps == 0)
            or time.monotonic() - self._last_save >= self._every_seconds
        )

    def save(self, step: int, state: dict[str, Any], *, skip_if_slow: bool = False) -> None:
        """Write the state after `step` steps, then let go of all but the newest two."""
        start = time.monotonic()
        pause = (
            TRAINING_TO_SAVING_RATIO * self._save_seconds
            if skip_if_slow and self._save_seconds > SLOW_SAVE_SECONDS
            else 0.0
        )
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

    def latest(self) -> dict[str, Any] | None:
        """The newest whole state, on the CPU; None where there is none."""
        for path in self._newest_first():
            manifest = _read_manifest(path)
            if manifest is None or not (path / STATE_FILE).exists() or file_hash(path / STATE_FILE) != manifest["hash"]:
                warnings.warn(f"{path} is damaged and is passed over", stacklevel=2)
                continue
            if manifest["identity"] != self.identity:
                raise UsageError(f"{self.folder} holds checkpoints of another run; give this one a folder of its own")
            state: dict[str, Any] = torch.load(path / STATE_FILE, map_location="cpu", weights_only=True)
            return state
        return None

    def clear(self) -> None:
        """Remove them all: the run is finished."""
        for path in [*self.folder.glob(".checkpoint-*.part"), *self._newest_first()]:
            shutil.rmtree(path, ignore_errors=True)
        with contextlib.suppress(OSError):  # absent, or it holds something of the user's
            self.folder.rmdir()

    def _newest_first(self) -> list[Path]:
        folders = [p for p in self.folder.glob("checkpoint-*") if p.name.partition("-")[2].isdecimal()]
        return sorted(folders, key=lambda path: -int(path.name.partition("-")[2]))


def _read_manifest(path: Path) -> dict[str, Any] | None:
    try:
        manifest = json.loads((path / MANIFEST_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return manifest if isinstance(manifest, dict) and {"identity", "hash"} <= manifest.keys() else None
