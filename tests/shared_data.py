"""Where the real data and models lie: beside the checkout, or where ISOGLOSS_SHARED says; absent is a skip."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(os.environ.get("ISOGLOSS_SHARED", Path(__file__).parents[2] / "shared"))


def shared(relative: str) -> Path:
    """A path under the shared folder, or a skip that says what is missing."""
    path = ROOT / relative
    if not path.exists():
        pytest.skip(f"real data not here: {relative} (set ISOGLOSS_SHARED to a folder that holds it)")
    return path
