"""Files that must survive a crash: what they hold, as a hash, and that they are on the disk."""

from __future__ import annotations

import contextlib
import hashlib
import os
from pathlib import Path


def file_hash(path: Path) -> str:
    """BLAKE2b of a file's bytes."""
    digest = hashlib.blake2b(digest_size=16)
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def to_disk(path: Path) -> None:
    """Have the system write it now; folders too, where it can."""
    with contextlib.suppress(PermissionError):  # Windows opens no folders
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
