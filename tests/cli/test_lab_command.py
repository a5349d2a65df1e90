from __future__ import annotations

from pathlib import Path

import pytest

import isogloss as ig
from isogloss.cli import main


def test_the_laboratory_is_written_in_standard_formats(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sizes = ["--train", "8", "--test", "4", "--parallel", "5", "--text", "20"]
    with pytest.raises(SystemExit) as leave:
        main.run(["lab", "--out", str(tmp_path / "lab"), "--seed", "3", "--languages", "qla,qlg", *sizes])
    assert not leave.value.code
    assert "written" in capsys.readouterr().out
    bank = ig.read_treebank(tmp_path / "lab/ud/qlg_lab-ud-train.conllu")
    assert (len(bank), bank.lang) == (8, "qlg")
    assert bank.items == ig.Laboratory(seed=3).treebank("qlg", "train", 8).items
    assert len(ig.read_text(tmp_path / "lab/raw/qla.txt")) == 20
    assert not (tmp_path / "lab/raw/qlb.txt").exists()
