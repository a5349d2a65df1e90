"""Hashes of what a study reads: of files by their bytes, of folders by their files, of anything else by its name.

Items of the laboratory are identified by their reference and `LABORATORY_VERSION`: a test pins the bytes of a version.

Hashes of files are cached in the store by path, size and modification time, so that planning reads a file once.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import cast

from pydantic import JsonValue

from isogloss import __version__
from isogloss.core.bundled import SHIPPED
from isogloss.core.errors import InputError
from isogloss.core.files import packed_instead
from isogloss.core.hashing import digest, file_hash
from isogloss.corpora.lab import LABORATORY_VERSION
from isogloss.store.entries import Store, write_atomically
from isogloss.studies.schema.references import LAB, TRANSLITERATED, Part, Reference, mixed_parts, split_format
from isogloss.studies.schema.study import BILSTM
from isogloss.studies.schema.text_changes import TEXT_CHANGES

CACHE_FILE = "fingerprints.json"
HUB_TIMEOUT_SECONDS = 10.0
IGNORED_FILES = ("README.md", "log.tsv", "evaluations.tsv")  # files of a model folder that do not affect results
CachedHash = tuple[int, int, str]  # size, modification time in nanoseconds, hash


class Fingerprints:
    """Hashes of the content behind references, each computed once; unreadable inputs are collected in `missing`."""

    def __init__(self, store: Store | None = None):
        self.missing: dict[str, InputError] = {}
        self._path = store.folder / CACHE_FILE if store else None
        self._files = _read_cache(self._path)
        self._hashes: dict[str, str] = {}
        self._changed = False

    def corpus(self, references: Iterable[str]) -> list[str]:
        return [self._cached(reference, self._corpus) for reference in references]

    def model(self, name: str | None) -> str:
        """A model by its weights and tokenizer; a model of the hub by its name and the commit in the local cache."""
        return self._cached(name, self._model) if name else "nothing"

    def fields(self, part: Part, exclude: Collection[str] = ()) -> dict[str, JsonValue]:
        """A part of a study file as plain values, with hashes in place of references.

        A renamed field has its former name as `serialization_alias`, so that identities stay the same.
        """
        fields = {name: field for name, field in type(part).model_fields.items() if name not in exclude}
        return {field.serialization_alias or name: self._plain(getattr(part, name)) for name, field in fields.items()}

    def save(self) -> None:
        """Store the hashes of files for the next time."""
        if self._path and self._changed:
            write_atomically(self._path, json.dumps(self._files).encode())
            self._changed = False

    def _plain(self, value: object) -> JsonValue:
        if isinstance(value, Part):
            return self.fields(value)
        if isinstance(value, Reference):
            return list(self.corpus([value]))
        if isinstance(value, Mapping):
            return {str(name): self._plain(content) for name, content in value.items()}
        if isinstance(value, list | tuple):
            return [self._plain(content) for content in value]
        return cast(JsonValue, value)

    def _cached(self, name: str, compute: Callable[[str], str]) -> str:
        if name not in self._hashes:
            try:
                self._hashes[name] = compute(name)
            except InputError as error:
                self.missing[name] = error
                self._hashes[name] = f"missing {name}"
        return self._hashes[name]

    def _corpus(self, reference: str) -> str:
        if reference.startswith(TRANSLITERATED):
            version = TEXT_CHANGES["transliterate"].version
            return digest(TRANSLITERATED, version, *self.corpus([reference.removeprefix(TRANSLITERATED)]))
        if parts := mixed_parts(reference):
            return digest("mixed", *self.corpus(parts))  # a missing part is reported under its name
        if LAB.fullmatch(reference):
            return f"{reference} {LABORATORY_VERSION}"
        format, path = split_format(reference)
        if format:
            return digest(format, self._path_hash(Path(path)))
        return reference if reference.startswith("hub:") else self._path_hash(Path(reference))

    def _model(self, name: str) -> str:
        if name == BILSTM:
            return f"{name} {__version__}"
        if name in SHIPPED:
            return self._path_hash(SHIPPED[name])
        if Path(name).is_absolute():
            return self._path_hash(Path(name))
        return f"{name}@{_commit(name)}"

    def _path_hash(self, path: Path) -> str:
        """A file by its bytes, a folder by the names and bytes of its files."""
        if path.is_dir():
            files = [file for file in sorted(path.rglob("*")) if file.is_file() and file.name not in IGNORED_FILES]
            return digest([(file.relative_to(path).as_posix(), self._file(file)) for file in files])
        return self._file(path)

    def _file(self, path: Path) -> str:
        try:
            state = path.stat()
            size, modified, content_hash = self._files.get(os.fspath(path), (-1, -1, ""))
            if (size, modified) != (state.st_size, state.st_mtime_ns):
                content_hash = file_hash(path)
                self._files[os.fspath(path)] = (state.st_size, state.st_mtime_ns, content_hash)
                self._changed = True
        except OSError as error:
            why, advice = error.strerror or str(error), packed_instead(path)
            raise InputError(path, "a file that can be read", why, advice=advice) from None
        return content_hash


def _read_cache(path: Path | None) -> dict[str, CachedHash]:
    try:
        return dict(json.loads(path.read_bytes())) if path else {}
    except (OSError, ValueError):
        return {}


def _commit(name: str) -> str:
    """The commit of a hub model in the local cache, or else the newest commit on the hub."""
    from huggingface_hub import HfApi, try_to_load_from_cache

    config_file = try_to_load_from_cache(name, "config.json")
    if isinstance(config_file, str):
        return Path(config_file).parent.name
    try:
        return str(HfApi().model_info(name, timeout=HUB_TIMEOUT_SECONDS).sha)
    except Exception as error:  # network, name, permission: the library raises a different error for each
        why = (str(error).strip().splitlines() or [type(error).__name__])[0]
        advice = "check the name, or download it where there is a network and give the folder"
        raise InputError(name, "a model folder or a Hugging Face model name", why, advice=advice) from None
