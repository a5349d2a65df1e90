"""README.md: the first example runs, other examples use public names, commands and linked files exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import isogloss as ig
from isogloss.cli import main

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PYTHON = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
COMMANDS = sorted(set(re.findall(r"^isogloss (\w+)", README, re.MULTILINE)))


def test_first_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(PYTHON[0], "README.md", "exec"), {})


@pytest.mark.parametrize("code", PYTHON)
def test_examples_use_public_names(code: str) -> None:
    nodes = [n for n in ast.walk(ast.parse(code)) if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name)]
    names = {node.attr for node in nodes if isinstance(node.value, ast.Name) and node.value.id == "ig"}
    assert names
    assert names <= set(dir(ig))


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_exists(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_info:
        main.run([command, "--help"])
    assert not exit_info.value.code
    assert command in capsys.readouterr().out


@pytest.mark.parametrize("text", [README, CONTRIBUTING], ids=["README", "CONTRIBUTING"])
def test_linked_files_exist(text: str) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        assert target.startswith("http") or (ROOT / target).exists(), target


def test_source_files_named_in_contributing_exist() -> None:
    """Those of the map and of the text; the examples are new files (see test_contributing.py)."""
    prose = re.sub(r"```python\n.*?```", "", CONTRIBUTING, flags=re.DOTALL)
    named = re.findall(r"`((?:[a-z]\w*/)+(?:\w+\.py)?)`", prose)
    assert len(named) > 20
    for path in named:
        places = [ROOT / path, *ROOT.glob(f"src/isogloss/{path}"), *ROOT.glob(f"src/isogloss/*/{path}")]
        assert any(place.exists() for place in places), path
