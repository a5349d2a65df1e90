"""isogloss: measure, explain and repair zero-shot cross-lingual transfer.

Public names are listed in `__init__.pyi` and imported on first use, so that `import isogloss` and `isogloss --help`
stay fast.
"""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

__version__ = "0.1.0"

STUB = Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")
# public name → the module that defines it
PUBLIC = {name: module for module, name in re.findall(r"^from (\S+) import (\w+) as", STUB, re.MULTILINE)}

__all__ = ["__version__", *PUBLIC]


def __getattr__(name: str) -> object:
    if name not in PUBLIC:
        raise AttributeError(f"module 'isogloss' has no attribute '{name}'")
    return getattr(import_module(PUBLIC[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
