"""What only lists, explains or checks loads no torch, which takes many times longer than the answer."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from isogloss.core.registry import Registry
from isogloss.indexes import INDEXES
from isogloss.tasks import TASKS

HEAVY = "print(*sorted({'torch', 'transformers', 'numba', 'scipy', 'altair'} & set(sys.modules)), 'END')"
COMMANDS = """
import json, sys
from isogloss.cli import main
for words in json.loads(sys.argv[1]):
    try:
        main.run(words)
    except SystemExit as end:
        assert end.code == 0, (words, end.code)
"""


def test_commands_that_load_nothing_heavy(tmp_path: Path) -> None:
    """One after the other in one process: what any of them loads is there at the end. (`validate` of a study checks
    models and labels with PyTorch.)"""
    (tmp_path / "en.conllu").write_text("1\tYes\tyes\tINTJ\t_\t_\t0\troot\t_\t_\n\n")
    commands = [["--help"], ["similarity", "--help"], ["ls"], ["ls", "families"], ["validate", "en.conllu"]]
    assert heavy(COMMANDS, json.dumps(commands), cwd=tmp_path) == []


LIGHT = "isogloss.models.families.bert, isogloss.studies.execution.run_study"


def test_imports_that_load_nothing_heavy(tmp_path: Path) -> None:
    assert heavy(f"import isogloss, {LIGHT}", cwd=tmp_path) == []


def test_what_is_heavy_would_be_seen(tmp_path: Path) -> None:
    assert heavy("import scipy", cwd=tmp_path) == ["scipy"]


def heavy(program: str, *arguments: str, cwd: Path) -> list[str]:
    """The heavy packages that a program has loaded when it ends."""
    code = f"{program}\nimport sys\n{HEAVY}"
    ended = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, cwd=cwd, check=False
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.splitlines()[-1].split()[:-1]


@pytest.mark.parametrize("registry", [INDEXES, TASKS], ids=["indexes", "tasks"])
def test_facts_that_are_read_are_those_of_the_member(registry: Registry[object]) -> None:
    for name in registry:
        facts, member = registry.facts(name), registry[name]
        assert facts["summary"] == member.summary  # type: ignore[attr-defined]


def test_facts_of_tasks_and_indexes_by_which_they_are_listed() -> None:
    for name, task in TASKS.items():
        facts = TASKS.facts(name)
        assert (facts["corpus"], facts["metrics"]) == (task.corpus, list(task.metrics))
    for name, index in INDEXES.items():
        assert ("of_moments" in INDEXES.facts(name)) == (index.needs == "moments")
