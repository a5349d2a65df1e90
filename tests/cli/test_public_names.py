"""The lazily imported public names have the types of the functions they stand for."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import isogloss

PACKAGE = Path(isogloss.__file__).parent
ROOT = PACKAGE.parents[1]


def test_type_checkers_see_the_public_names() -> None:
    """The imports of the stub are all of PUBLIC."""
    tree = ast.parse((PACKAGE / "__init__.pyi").read_text(encoding="utf-8"))
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    assert {alias.asname: node.module for node in imports for alias in node.names} == isogloss.PUBLIC
    assert len(isogloss.PUBLIC) > 50 and isogloss.PUBLIC["cka"] == "isogloss.indexes.cka"


def test_the_package_is_marked_as_typed() -> None:
    assert (PACKAGE / "py.typed").is_file()
    assert 'packages = ["src/isogloss"]' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")  # ships every file


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_mypy_infers_real_signatures(tmp_path: Path) -> None:
    snippet = tmp_path / "snippet.py"
    snippet.write_text(
        "import isogloss as ig\nreveal_type(ig.load_model('x'))\nreveal_type(ig.cka)\nig.load_modl\n", encoding="utf-8"
    )
    command = [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"), str(snippet)]
    output = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False).stdout
    assert 'Revealed type is "isogloss.models.loading.loaded_model.LoadedModel"' in output
    assert 'Revealed type is "def (' in output
    assert 'Module has no attribute "load_modl"' in output
