"""Content hashes (BLAKE2b): of plain values, of bytes and of files. Identities of runs, models and files are these."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

BLOCK_BYTES = 1 << 20


def digest(*parts: object) -> str:
    """A hash of plain values; the order of a mapping's keys does not matter.

    >>> digest("pos", {"b": 1, "a": 2}) == digest("pos", {"a": 2, "b": 1}) != digest("ner")
    True
    """
    return hash_bytes(json.dumps(parts, sort_keys=True, default=str).encode(), size=12).hex()


def hasher(size: int) -> hashlib.blake2b:
    """An incremental hash of `size` bytes: `update(content)` any number of times, then `digest()` or `hexdigest()`."""
    return hashlib.blake2b(digest_size=size)


def hash_bytes(content: bytes, size: int) -> bytes:
    """The hash of `size` bytes of one content."""
    return hashlib.blake2b(content, digest_size=size).digest()


def sha256(content: bytes) -> bytes:
    """The SHA-256 of one content, by which a content security policy identifies scripts."""
    return hashlib.sha256(content).digest()


def file_hash(path: Path) -> str:
    """The hash of a file's bytes."""
    content_hash = hasher(16)
    with open(path, "rb") as file:
        while block := file.read(BLOCK_BYTES):
            content_hash.update(block)
    return content_hash.hexdigest()
