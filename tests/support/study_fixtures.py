"""Fixtures of all tests that run studies: workers can import the toys of tests/support; one tiny model."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tiny_models import build_masked

from isogloss.report import page

SUPPORT = str(Path(__file__).parent)


@pytest.fixture(autouse=True)
def _toys_for_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", SUPPORT + os.pathsep + os.environ.get("PYTHONPATH", ""))
    monkeypatch.delenv("ISOGLOSS_STORE", raising=False)


@pytest.fixture(autouse=True)
def _pages_without_vega(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which takes seconds to put together; that charts are drawn with it is shown elsewhere."""
    monkeypatch.setattr(page, "vega_script", lambda: "")


@pytest.fixture(scope="session")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny BERT with its masked-language-model head."""
    return build_masked(tmp_path_factory.mktemp("models") / "bert")
