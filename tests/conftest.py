"""Shared by all tests: no network, few threads, repeatable hypothesis."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Generator, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from _pytest.doctest import DoctestModule

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("POLARS_MAX_THREADS", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

hypothesis.settings.register_profile(
    "default",
    deadline=None,
    max_examples=50,
    derandomize="CI" in os.environ,  # new examples are for those who can look at what they break
    suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture],
)
hypothesis.settings.load_profile("default")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What the libraries build on loading stays to the end: the garbage collector need not walk it again and again."""
    gc.disable()
    collected = yield
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()
    return collected


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Examples in docstrings are for those who use the package: none are looked for in tests."""
    return [found for found in (yield) if not isinstance(found, DoctestModule)]


@pytest.fixture(autouse=True, scope="session")
def _no_waiting_for_the_disk() -> Iterator[None]:
    """What a test writes need not outlive the machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda handle: None)
        yield


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The folder of a family's tiny model, built once per run."""
    from tiny_models import build

    return cache(lambda family: build(family, tmp_path_factory.mktemp(family)))


@pytest.fixture(scope="session")
def tiny(folder: Callable[[str], Path]) -> Callable[[str], Any]:
    """A family's tiny model, loaded."""
    from isogloss.models.loading.load import load_model

    return cache(lambda family: load_model(folder(family), device="cpu"))


collect_ignore_glob = ["*conftest.py"]  # no doctests there, and as modules they would all have one name
