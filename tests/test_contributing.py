"""The examples of CONTRIBUTING.md, added to a copy of the package and used from the command line."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from tiny_models import build

import isogloss as ig

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n# (src/isogloss/[\w/]+\.py)(?:: (\w+))?\n(.*?)```", PAGE, re.DOTALL)

# runs commands one after the other in one process, which imports torch once, and prints what each has printed
DRIVER = """
import contextlib, io, json, sys
from isogloss.cli import main

shown = {}
for name, arguments in json.load(sys.stdin).items():
    with contextlib.redirect_stdout(io.StringIO()) as output:
        try:
            code = main.run(arguments)
        except SystemExit as exit:
            code = exit.code
    assert not code, f"{name}: exit code {code}"
    shown[name] = output.getvalue()
print(json.dumps(shown))
"""


def add_line(text: str, name: str, line: str) -> str:
    """The source of a list with one more line, right after the opening bracket of `name`."""
    start = re.search(rf"^{name}\b.*?[{{(\[]\n(?=        \")", text, re.DOTALL | re.MULTILINE)
    assert start, f"no list {name}"
    return text[: start.end()] + line + text[start.end() :]


def extended_package(folder: Path) -> Path:
    """A copy of the package that has all examples of the page."""
    ignored = shutil.ignore_patterns("__pycache__", "laboratory")
    shutil.copytree(ROOT / "src" / "isogloss", folder / "src" / "isogloss", ignore=ignored)
    for path, name, code in BLOCKS:
        file = folder / path
        if name:
            assert code.count("\n") == 1, f"{path}: more than one line"
            file.write_text(add_line(file.read_text(encoding="utf-8"), name, code), encoding="utf-8")
        else:
            assert not file.exists(), f"{path} exists already"
            file.write_text(code, encoding="utf-8")
    return folder / "src"


def commands(folder: Path, bert: Path) -> dict[str, list[str]]:
    """One command for each example."""
    laboratory = ig.Laboratory()
    for split in ("train", "dev", "test"):
        laboratory.treebank("qla", split, 8).write(folder / f"qla-{split}.conllu")
    for lang in ("qla", "qlb"):
        lines = [str(line) for line in laboratory.text(lang, 30)[:30]]
        (folder / f"{lang}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "en-fr.dict").write_text("dog = chien\ncat = chat\n", encoding="utf-8")
    study = {
        "name": "examples",
        "models": {"bert": str(bert)},
        "changes": {"REF": [], "scaled": [{"scale_embeddings": 0.5}]},
        "text": {"plain": [], "upper": [{"uppercase": {"on": ["test"]}}]},
        "tasks": ["nouns"],
        "sources": {"qla": {"train": "lab:qla/train/8", "dev": "lab:qla/dev/4"}},
        "targets": {"qla": "lab:qla/test/6"},
        "seeds": 1,
        "settings": {"epochs": 1},
        "measure": {"parallel": "lab:qla,qlb/test/20", "indexes": ["sign_agreement"], "when": ["before"]},
    }
    (folder / "study.yaml").write_text(yaml.safe_dump(study), encoding="utf-8")
    distilbert = build("distilbert", folder / "distilbert")
    parallel, training = "--parallel qla=qla.txt qlb=qlb.txt", "--train qla-train.conllu --dev qla-dev.conllu"
    small = "--finetune epochs=1 --bilstm epochs=1 --seeds 1 --workers 0"
    lines = {
        "index": f"similarity {bert} {parallel} --index sign_agreement",
        "format": "validate en-fr.dict",
        "task": f"transfer {bert} --task nouns {training} --test qla=qla-test.conllu --epochs 1",
        "family": f"transfer {distilbert} --task pos {training} --test qla=qla-test.conllu --epochs 1 --task-adapter 2",
        "study": "run study.yaml --store store --workers 0",
        "remedy": f"diagnose {bert} --lang ug {training} --test qla-test.conllu --remedy longer-training {small}",
        **{f"ls {listing}": f"ls {listing}" for listing in ("indexes", "formats", "tasks", "families", "remedies")},
    }
    return {name: line.split() for name, line in lines.items()}


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory, folder: Callable[[str], Path]) -> dict[str, str]:
    """What the commands print."""
    place = tmp_path_factory.mktemp("contributing")
    environment = {**os.environ, "PYTHONPATH": str(extended_package(place)), "COLUMNS": "200"}
    arguments = json.dumps(commands(place, folder("bert")))
    command = [sys.executable, "-c", DRIVER]
    done = subprocess.run(
        command, input=arguments, env=environment, cwd=place, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    outputs: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return outputs


def test_every_example_is_one_file_and_one_line() -> None:
    files = [path for path, name, _ in BLOCKS if not name]
    lines = [path for path, name, _ in BLOCKS if name]
    assert len(files) == len(lines) == 7
    titles = " ".join(re.findall(r"^### (.*)$", PAGE, re.MULTILINE))
    assert all(
        kind in titles for kind in ("index", "format", "task", "family", "text change", "intervention", "remedy")
    )


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("index", "sign_agreement"),
        ("ls indexes", "sign agreement: are neurons"),
        ("format", "equals-lexicon"),
        ("ls formats", "equals-lexicon"),
        ("task", "nouns, trained on qla"),
        ("ls tasks", "whether a word is a noun"),
        ("family", "accuracy"),  # adapters are refused for a family without an entry
        ("ls families", "distilbert"),
        ("study", "upper"),
        ("study", "scaled"),
        ("study", "sign_agreement"),
        ("remedy", "longer training"),
        ("ls remedies", "fine-tune for more epochs"),
    ],
)
def test_examples_work_from_the_command_line(shown: dict[str, str], command: str, expected: str) -> None:
    assert expected in shown[command]
