"""Shared by all tests: no network, few threads, repeatable hypothesis."""

from __future__ import annotations

import gc
import os

import hypothesis

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

hypothesis.settings.register_profile(
    "default",
    deadline=None,
    max_examples=50,
    derandomize="CI" in os.environ,  # new examples are for those who can look at what they break
    suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture],
)
hypothesis.settings.load_profile("default")


def pytest_collection_finish() -> None:
    """What the libraries have built so far stays to the end: the garbage collector need not walk it again and again."""
    gc.collect()
    gc.freeze()


collect_ignore_glob = ["*conftest.py"]  # no doctests there, and as modules they would all have one name
