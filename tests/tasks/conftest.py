"""Tiny models for every test of this room, built once per run; a network whose heads are not zero."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest

from isogloss.models.load import LoadedModel, load_model
from tiny_models import build

Tiny = Callable[[str], LoadedModel]


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Tiny:
    """A family's tiny model, loaded."""
    return cache(lambda family: load_model(build(family, tmp_path_factory.mktemp(family)), device="cpu"))
