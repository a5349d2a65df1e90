"""A diagnosis refuses files without labels before it loads a model."""

from __future__ import annotations

from pathlib import Path

import pytest

import isogloss as ig
from isogloss.cli import main
from isogloss.core.errors import SeveralErrors

TREE = "1\tone\t_\t{tag}\t_\t_\t0\troot\t_\t_\n\n"


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    tags = {"train": "NOUN", "dev": "_", "test": "_"}
    for role, tag in tags.items():
        (tmp_path / f"{role}.data").write_text(TREE.format(tag=tag) * 3)
    return {role: str(tmp_path / f"{role}.data") for role in tags}


def test_all_files_without_labels_are_named(files: dict[str, str], tmp_path: Path) -> None:
    steps: list[str] = []
    with pytest.raises(SeveralErrors) as caught:
        ig.diagnose("no-such-model", lang="fo", **files, out=tmp_path / "out", on_progress=steps.append)  # type: ignore[arg-type]
    assert "dev.data:1: expected labelled items" in str(caught.value)
    assert "test.data:1: expected labelled items" in str(caught.value)
    assert len(caught.value.errors) == 2 and not steps


def test_the_format_can_be_given(files: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [word for role, path in files.items() for word in (f"--{role}", path)]
    with pytest.raises(SystemExit) as leave:
        main.run(
            ["diagnose", "no-such-model", "--lang", "fo", *words, "--format", "conllu", "--out", str(tmp_path / "o")]
        )
    assert leave.value.code == 3
    assert "dev.data:1: expected labelled items" in capsys.readouterr().err.replace("\n", "")
    with pytest.raises(SystemExit) as leave:
        main.run(["diagnose", "x", "--lang", "fo", *words, "--format", "conlu"])
    assert leave.value.code == 2
    assert "did you mean 'conllu'" in capsys.readouterr().err
