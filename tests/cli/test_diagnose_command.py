"""`isogloss diagnose`, its training done by toys."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from isogloss.cli import main, screen
from isogloss.studies.planning import job as planned_job

SCORES = {"plain": 0.5, "adapt": 0.55, "pretrain": 0.3, "bilstm": 0.7, "adapt+transliterate": 0.9}
LAB = ["--train", "lab:qlj/train/8", "--dev", "lab:qlj/dev/4", "--test", "lab:qlj/test/10"]
LAB += ["--text", "lab:qlj/train/60", "--parallel", "lab:qla,qld,qlj/dev/10"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "support"))
    monkeypatch.setattr(planned_job, "STAGE_FUNCTIONS_MODULE", "diagnose_toys")
    monkeypatch.setattr(screen.out, "_width", 200)
    monkeypatch.setenv("TOY_LOG", str(tmp_path / "log"))
    monkeypatch.setenv("TOY_SCORES", json.dumps(SCORES))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def isogloss(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as leave:
        main.run([str(one) for one in arguments])
    told = capsys.readouterr()
    return int(leave.value.code or 0), told.out, told.err


def test_the_whole_story(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, text, err = isogloss(
        capsys, "diagnose", "laboratory", "--lang", "qlj", *LAB, "--seeds", 2, "--remedy", "transliterate",
        "--finetune", "epochs=3", "batch=4", "learning_rate=5e-4", "--bilstm", "epochs=3", "learning_rate=3e-3",
        "--adapt", "settings.length=32", "--workers", 0, "--device", "cpu",
    )  # fmt: skip
    assert code == 0, err
    assert text.startswith("qlj: Hard\n")
    assert "comparing four systems …" in err
    assert "remedy: transliterate …" in err
    assert "choosing learning rate and epochs: round 1, 4 settings …" in err
    assert "settings tried" in text and "(chosen)" in text
    assert "chosen by 3-fold cross-validation on the 8 training sentences" in text
    assert "done: fine-tuned REF pos qlj seed 1" in err
    assert "With remedies, the model's best system is no longer below a baseline." in text
    recipe = (folder / "diagnosis-qlj" / "recipe.yaml").read_text()
    assert "epochs: 3" in recipe and "batch: 4" in recipe and "length: 32" in recipe
    assert (folder / "diagnosis-qlj" / "report.html").is_file()
    assert (folder / "diagnosis-qlj" / "model" / "kind").read_text().startswith("adapt+transliterate")


def test_the_store_may_be_elsewhere(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, text, err = isogloss(
        capsys, "diagnose", "laboratory", "--lang", "qlj", *LAB, "--seeds", 2, "--remedy", "none", "--workers", 0,
        "--no-tune", "--device", "cpu", "--store", folder / "shared", "--out", folder / "deep" / "diagnosis",
    )  # fmt: skip
    assert code == 0, err
    assert "settings tried" not in text and "choosing learning rate" not in err
    assert (folder / "shared" / "studies").is_dir() and (folder / "deep" / "diagnosis" / "verdict.json").is_file()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--source", "en"], "--source: expected LANGUAGE=TRAIN,DEV such as en=train.conllu,dev.conllu, got 'en'"),
        (
            ["--source", "en=a.conllu"],
            "--source: expected LANGUAGE=TRAIN,DEV such as en=train.conllu,dev.conllu, got 'en=a",
        ),
        (["--remedy", "nois"], "did you mean 'noise'"),
        (["--finetune", "epoch"], "--finetune: expected NAME=VALUE"),
        (["--finetune", "epoch=3"], "did you mean 'epochs'?"),
    ],
)
def test_wrong_words(folder: Path, capsys: pytest.CaptureFixture[str], words: list[str], told: str) -> None:
    code, _, err = isogloss(
        capsys, "diagnose", "laboratory", "--lang", "qlj", *LAB, "--workers", 0, "--device", "cpu", *words
    )
    assert code in (2, 3)
    assert told in err
