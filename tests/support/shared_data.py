"""Where the real data and models lie: beside the checkout, or where ISOGLOSS_SHARED says; absent is a skip."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(os.environ.get("ISOGLOSS_SHARED", Path(__file__).parents[3] / "shared"))


def shared(relative: str) -> Path:
    """A path under the shared folder, or a skip that says what is missing."""
    path = ROOT / relative
    if not path.exists():
        pytest.skip(f"real data not here: {relative} (set ISOGLOSS_SHARED to a folder that holds it)")
    return path


def rest_slow(cases: Iterable[Any], fast: Collection[Any]) -> list[Any]:
    """Cases of one kind for `parametrize`: all but those in `fast` are left to the slow tests."""
    return [
        case if case in fast else pytest.param(*(case if isinstance(case, tuple) else [case]), marks=pytest.mark.slow)
        for case in cases
    ]
