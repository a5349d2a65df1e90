"""The import map of the rooms, held by reading the source: a wrong import fails at once."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "isogloss"

# packages from the bottom up: each may import from those above it in this list, and from itself
LAYERS = [
    "core",
    "store",
    "languages",
    "corpora",
    "metrics",
    "indexes",
    "results",
    "text",
    "models",
    "tasks",
    "training",
    "analysis",
    "report",
    "explorer",
    "studies",
    "diagnosis",
    "demo",
    "cli",
]
MAY_IMPORT = {package: set(LAYERS[:place]) for place, package in enumerate(LAYERS)}

CORE_THIRD_PARTY = {"numpy", "torch"}


@cache
def nodes(file: Path) -> list[ast.AST]:
    return list(ast.walk(ast.parse(file.read_text(encoding="utf-8"))))


def imported_modules(file: Path) -> set[str]:
    names: set[str] = set()
    for node in nodes(file):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: relative import; write the whole path"
            names.add(node.module or "")
    return names


def files() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


@pytest.mark.parametrize("file", files(), ids=lambda f: str(f.relative_to(SOURCE)))
def test_imports_go_one_way(file: Path) -> None:
    room = file.relative_to(SOURCE).parts[0]
    if room == "__init__.py":
        room = "cli"  # the public face may name anything
    if room == "__main__.py":
        room = "cli"
    assert room in MAY_IMPORT, f"{room} is no package of the map"
    for module in imported_modules(file):
        if module.startswith("isogloss."):
            other = module.split(".")[1]
            assert other == room or other in MAY_IMPORT[room], f"{room} must not import {other}"


@pytest.mark.parametrize("file", sorted((SOURCE / "core").glob("*.py")), ids=lambda f: f.name)
def test_core_stands_on_the_standard_library(file: Path) -> None:
    import sys

    for module in imported_modules(file):
        top = module.split(".")[0]
        assert top in sys.stdlib_module_names | CORE_THIRD_PARTY | {"isogloss"}, f"core imports {top}"


@pytest.mark.parametrize("file", [f for f in files() if "cli" not in f.parts], ids=lambda f: f.name)
def test_only_the_command_line_prints(file: Path) -> None:
    calls = [n for n in nodes(file) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)]
    assert not [c for c in calls if c.func.id == "print"], "only cli/ prints"  # type: ignore[attr-defined]


def test_public_names_exist() -> None:
    import isogloss

    for name in isogloss.PUBLIC:
        assert getattr(isogloss, name) is not None
