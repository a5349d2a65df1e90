"""What a study reads, as hashes: of files by their bytes, of folders by their files, of anything else by its name.

Hashes of files are kept in the store by path, size and time of change, so that planning reads a file once.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from isogloss import __version__
from isogloss.core.bundled import SHIPPED
from isogloss.core.errors import InputError
from isogloss.core.files import packed_instead
from isogloss.core.hashing import digest, file_hash
from isogloss.store.entries import Store, write_whole
from isogloss.studies.schema.references import LAB, TRANSLITERATED, Part, Reference, mixed_parts
from isogloss.studies.schema.text_changes import TEXT_CHANGES

CACHE = "fingerprints.json"
HUB_TIMEOUT = 10.0  # seconds
PASSED_OVER = ("README.md", "log.tsv", "evaluations.tsv")  # files of a model folder that no result depends on


class Fingerprints:
    """Hashes of what references stand for, each found once; what cannot be read is gathered in `missing`."""

    def __init__(self, store: Store | None = None):
        self.missing: dict[str, InputError] = {}
        self._path = store.folder / CACHE if store else None
        self._files: dict[str, list[Any]] = _read_cache(self._path)
        self._known: dict[str, str] = {}
        self._new = False

    def corpus(self, references: Iterable[str]) -> list[str]:
        return [self._once(one, self._corpus) for one in references]

    def model(self, name: str | None) -> str:
        """A model by its weights and tokenizer; one of the hub by its name and the commit that is here."""
        return self._once(name, self._model) if name else "nothing"

    def arguments(self, value: object) -> Any:
        """Arguments of a change as plain values, with hashes in place of references."""
        if isinstance(value, Part):
            return {name: self.arguments(getattr(value, name)) for name in type(value).model_fields}
        if isinstance(value, Reference):
            return self.corpus([value])
        if isinstance(value, Mapping):
            return {str(name): self.arguments(one) for name, one in value.items()}
        return [self.arguments(one) for one in value] if isinstance(value, list | tuple) else value

    def save(self) -> None:
        """Keep the hashes of files for the next time."""
        if self._path and self._new:
            write_whole(self._path, json.dumps(self._files).encode())
            self._new = False

    def _once(self, name: str, find: Any) -> str:
        if name not in self._known:
            try:
                self._known[name] = find(name)
            except InputError as error:
                self.missing[name] = error
                self._known[name] = f"missing {name}"
        return self._known[name]

    def _corpus(self, reference: str) -> str:
        if reference.startswith(TRANSLITERATED):
            version = TEXT_CHANGES["transliterate"].version
            return digest(TRANSLITERATED, version, *self.corpus([reference.removeprefix(TRANSLITERATED)]))
        if parts := mixed_parts(reference):
            return digest("mixed", *self.corpus(parts))  # a part that is missing is told by its own name
        if LAB.fullmatch(reference):
            return f"{reference} {_laboratory()}"
        return reference if reference.startswith("hub:") else self._path_hash(Path(reference))

    def _model(self, name: str) -> str:
        from isogloss.studies.schema.study import BILSTM

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
            files = [p for p in sorted(path.rglob("*")) if p.is_file() and p.name not in PASSED_OVER]
            return digest([(p.relative_to(path).as_posix(), self._file(p)) for p in files])
        return self._file(path)

    def _file(self, path: Path) -> str:
        try:
            told = path.stat()
            state = [told.st_size, told.st_mtime_ns]
            known = self._files.get(os.fspath(path))
            if known is None or known[:2] != state:
                known = self._files[os.fspath(path)] = [*state, file_hash(path)]
                self._new = True
        except OSError as error:
            why, advice = error.strerror or str(error), packed_instead(path)
            raise InputError(path, "a file that can be read", why, advice=advice) from None
        return str(known[2])


@cache
def _laboratory() -> str:
    """The laboratory by its program: whatever changes there may change what it says."""
    from isogloss.corpora import lab

    files = sorted(Path(str(lab.__file__)).parent.glob("*.py"))
    return digest(__version__, [(path.name, file_hash(path)) for path in files])


def _read_cache(path: Path | None) -> dict[str, list[Any]]:
    try:
        return dict(json.loads(path.read_bytes())) if path else {}
    except (OSError, ValueError):
        return {}


def _commit(name: str) -> str:
    """The commit of a hub model that the local cache holds, or else the newest that the hub has."""
    from huggingface_hub import HfApi, try_to_load_from_cache

    found = try_to_load_from_cache(name, "config.json")
    if isinstance(found, str):
        return Path(found).parent.name
    try:
        return str(HfApi().model_info(name, timeout=HUB_TIMEOUT).sha)
    except Exception as error:  # the network, the name, the permission: the library has an error for each
        why = (str(error).strip().splitlines() or [type(error).__name__])[0]
        advice = "check the name, or download it where there is a network and give the folder"
        raise InputError(name, "a model folder or a Hugging Face model name", why, advice=advice) from None
