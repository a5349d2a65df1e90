"""Tiny models for every test of this room, built once per run."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from isogloss.models.load import LoadedModel, load_model
from tiny_models import build

Folder = Callable[[str], Path]
Tiny = Callable[[str], LoadedModel]


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    """The folder of a family's tiny model."""
    return cache(lambda family: build(family, tmp_path_factory.mktemp(family)))


@pytest.fixture(scope="session")
def tiny(folder: Folder) -> Tiny:
    """A family's tiny model, loaded."""
    return cache(lambda family: load_model(folder(family), device="cpu"))
