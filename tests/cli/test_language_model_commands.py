"""`isogloss pretrain` and `isogloss adapt`, from text files to models."""

from __future__ import annotations

from pathlib import Path

import pytest

import isogloss as ig
from isogloss.cli.main import run

LAB = ig.Laboratory(0)


@pytest.fixture
def text(tmp_path: Path) -> Path:
    for lang in ("qla", "qlb"):
        LAB.text(lang, 80).write(tmp_path / f"{lang}.txt")
        (tmp_path / f"parallel.{lang}").write_text("\n".join(LAB.parallel([lang], 12).texts[lang]) + "\n")
    return tmp_path


def isogloss(*words: object) -> int:
    with pytest.raises(SystemExit) as end:
        run([str(word) for word in words])
    return int(end.value.code or 0)


SMALL = ["--layers", "1", "--width", "16", "--vocabulary", "300", "--steps", "3", "--batch", "4", "--length", "32"]


def test_pretrain_then_adapt(text: Path, capsys: pytest.CaptureFixture[str]) -> None:
    both = [f"{lang}={text / lang}.txt" for lang in ("qla", "qlb")]
    parallel = [f"{lang}={text}/parallel.{lang}" for lang in ("qla", "qlb")]
    small = [*SMALL, "--evaluations", "0", "--device", "cpu"]
    assert isogloss("pretrain", "--text", *both, "--parallel", *parallel, "--out", text / "m", *small) == 0
    said = capsys.readouterr().out
    assert "perplexity" in said and "qla" in said and "qlb" in said
    assert ig.load_model(text / "m", device="cpu").layers == 1
    words = ["--text", text / "qlb.txt", "--out", text / "a", "--steps", "2", "--length", "32", "--device", "cpu"]
    assert isogloss("adapt", text / "m", *words, "--mix", f"qla={text / 'qla.txt'}") == 0
    assert "before" in capsys.readouterr().out
    assert ig.load_model(text / "a", device="cpu").layers == 1


def test_translations(text: Path) -> None:
    both = [f"{lang}={text}/parallel.{lang}" for lang in ("qla", "qlb")]
    words = ["--objective", "tlm", *SMALL, "--length", "64", "--device", "cpu"]
    assert isogloss("pretrain", "--text", *both, "--out", text / "m", *words) == 0


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["pretrain", "--text", "qla", "--out", "m"], 2, "LANGUAGE=FILE"),
        (["pretrain", "--text", "qla=absent.txt", "--out", "m"], 3, "absent.txt: expected an existing file"),
        (["pretrain", "--text", "qla={text}", "--out", "m", "--tokenizer", "sentencepeace"], 2, "known: wordpiece"),
        (["pretrain", "--text", "qla={text}", "--out", "m", "--norm", "pree", *SMALL], 2, "did you mean 'pre'"),
        (["adapt", "./nowhere", "--text", "{text}", "--out", "m"], 3, "no such folder"),
    ],
)
def test_errors_are_one_line(
    text: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    code: int,
    said: str,
) -> None:
    monkeypatch.chdir(text)
    assert isogloss(*(word.format(text=text / "qla.txt") for word in words)) == code
    error = capsys.readouterr().err
    assert said in error.replace("\n", " ")
    assert "Traceback" not in error
