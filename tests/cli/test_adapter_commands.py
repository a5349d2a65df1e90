"""`isogloss extend`, and adapters in `adapt`, `transfer` and `ls`, from files to files."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import isogloss as ig
from isogloss.cli.main import run

LAB = ig.Laboratory(0)
LANGUAGES = ("qla", "qlb", "qlc")


def isogloss(*words: object) -> int:
    with pytest.raises(SystemExit) as end:
        run([str(word) for word in words])
    return int(end.value.code or 0)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Text and treebanks of some languages, and a model of the first two."""
    folder = tmp_path_factory.mktemp("world")
    for lang in LANGUAGES:
        LAB.text(lang, 80).write(folder / f"{lang}.txt")
        for split, number in (("train", 30), ("dev", 10), ("test", 10)):
            LAB.treebank(lang, split, number).write(folder / f"{lang}-{split}.conllu")
    small = ["--layers", 2, "--width", 16, "--vocabulary", 300, "--steps", 3, "--batch", 4, "--length", 32]
    text = [f"{lang}={folder / lang}.txt" for lang in LANGUAGES[:2]]
    assert isogloss("pretrain", "--text", *text, "--out", folder / "m", *small, "--device", "cpu") == 0
    for lang in LANGUAGES:
        _train_adapter(folder, lang, "--adapter", "bottleneck")
    return folder


def _train_adapter(folder: Path, name: str, *options: object) -> None:
    budget = ["--steps", 3, "--batch", 4, "--length", 32, "--device", "cpu"]
    words = ["--text", folder / f"{name[:3]}.txt", "--out", folder / "adapters" / name]
    assert isogloss("adapt", folder / "m", *words, *options, *budget) == 0


def test_extend_then_adapt(world: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--text", world / "qlc.txt", "--size", 50, "--out", tmp_path / "e", "--device", "cpu"]
    assert isogloss("extend", world / "m", *words) == 0
    said = capsys.readouterr().out
    assert "sub-words per word" in said and "50 sub-words added" in said
    old, new = (ig.load_model(folder, device="cpu") for folder in (world / "m", tmp_path / "e"))
    assert len(new.tokenizer) == len(old.tokenizer) + 50
    budget = ["--steps", 2, "--batch", 4, "--length", 32, "--device", "cpu"]
    assert isogloss("adapt", tmp_path / "e", "--text", world / "qlc.txt", "--out", tmp_path / "a", *budget) == 0
    assert len(ig.load_model(tmp_path / "a", device="cpu").tokenizer) == len(new.tokenizer)
    assert isogloss("extend", world / "m", *words) == 2
    assert "expected a folder without a model" in capsys.readouterr().err


def test_extend_with_a_lexicon(world: Path, tmp_path: Path) -> None:
    LAB.lexicon("qla", "qlc").write(tmp_path / "lexicon.tsv")
    words = ["--text", world / "qlc.txt", "--size", 20, "--out", tmp_path / "e", "--device", "cpu"]
    assert isogloss("extend", world / "m", *words, "--initial", "lexicon", "--lexicon", tmp_path / "lexicon.tsv") == 0


def test_adapters_are_listed(world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert isogloss("ls", "adapters", world / "adapters") == 0
    said = capsys.readouterr().out
    assert said.count("pfeiffer") == 3 and "inner" in said
    assert isogloss("ls", "adapters", world / "nowhere") == 3


def test_transfer_over_adapters(world: Path, tmp_path: Path) -> None:
    files = {name: world / f"qla-{name}.conllu" for name in ("train", "dev")}
    tests = [f"{lang}={world / lang}-test.conllu" for lang in LANGUAGES]
    swap = [f"qlb={world}/adapters/qlb", f"qlc={world}/adapters/qla,{world}/adapters/qlc"]
    words = ["--task", "pos", "--train", files["train"], "--dev", files["dev"], "--test", *tests, "--epochs", 1]
    words += ["--source", "qla", "--adapter", world / "adapters" / "qla", "--swap", *swap, "--weights", "entropy"]
    assert isogloss("transfer", world / "m", *words, "--device", "cpu", "--write", tmp_path / "rows.csv") == 0
    rows = pl.read_csv(tmp_path / "rows.csv")
    assert set(rows["target"]) == set(LANGUAGES) and "task_adapter" in rows["changes"][0]


def test_lora(world: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("peft")
    _train_adapter(world, "qlb-lora", "--adapter", "lora", "--rank", 2)
    assert (world / "adapters" / "qlb-lora" / "adapter.safetensors").exists()
    files = ["--train", world / "qla-train.conllu", "--dev", world / "qla-dev.conllu"]
    words = ["--task", "pos", *files, "--test", f"qla={world}/qla-test.conllu", "--source", "qla", "--epochs", 1]
    assert isogloss("transfer", world / "m", *words, "--lora", 2, "--device", "cpu") == 0
    assert isogloss("transfer", world / "m", *words, "--lora", 2, "--task-adapter", 4, "--device", "cpu") == 2
    assert "give only one of them" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (
            ["adapt", "{world}/m", "--text", "{world}/qla.txt", "--out", "x", "--adapter", "botleneck"],
            2,
            "did you mean",
        ),
        (["extend", "{world}/m", "--text", "{world}/none.txt", "--size", "5", "--out", "x"], 3, "existing file"),
        (
            ["extend", "{world}/m", "--text", "{world}/qla.txt", "--size", "5", "--out", "x", "--initial", "b"],
            2,
            "known",
        ),
    ],
)
def test_what_is_wrong_is_told(
    world: Path, words: list[str], code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert isogloss(*(word.format(world=world) for word in words)) == code
    assert said in capsys.readouterr().err
