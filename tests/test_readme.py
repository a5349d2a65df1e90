"""The README keeps its word: its laboratory example runs, its other code names real things, its commands exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import isogloss as ig
from isogloss.cli import main

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
PYTHON = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
COMMANDS = sorted(set(re.findall(r"^isogloss (\w+)", README, re.MULTILINE)))


def test_the_laboratory_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(PYTHON[0], "README.md", "exec"), {})


@pytest.mark.parametrize("code", PYTHON)
def test_every_public_name_of_the_examples_exists(code: str) -> None:
    nodes = [n for n in ast.walk(ast.parse(code)) if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name)]
    names = {node.attr for node in nodes if isinstance(node.value, ast.Name) and node.value.id == "ig"}
    assert names
    assert names <= set(dir(ig))


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_exists(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as leave:
        main.run([command, "--help"])
    assert not leave.value.code
    assert command in capsys.readouterr().out


def test_every_file_it_names_is_there() -> None:
    root = Path(__file__).parents[1]
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        if not target.startswith("http"):
            assert (root / target).exists(), target
    for row in re.findall(r"^\| (`src.*?) \|", README, re.MULTILINE):
        folder = None
        for name in re.findall(r"`([^`]+)`", row):
            path = root / name if "/" in name else (folder or root) / name
            folder = path if path.is_dir() else path.parent
            assert path.exists(), name
