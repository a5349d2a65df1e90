"""isogloss: measure, explain and repair zero-shot cross-lingual transfer.

The public names below are loaded on first use, so that `import isogloss` and `isogloss --help` stay quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# public name → the module that defines it
PUBLIC = {
    "Corpus": "isogloss.corpora.corpus",
    "Laboratory": "isogloss.corpora.lab.laboratory",
    "read_treebank": "isogloss.corpora.readers",
}

__all__ = ["__version__", *PUBLIC]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    if name not in PUBLIC:
        raise AttributeError(f"module 'isogloss' has no attribute '{name}'")
    return getattr(import_module(PUBLIC[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
