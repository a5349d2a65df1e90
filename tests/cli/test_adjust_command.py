"""`isogloss adjust` and `isogloss transfer --continual`, from bitext files to models and scores."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
import torch
from test_transfer_command import command, isogloss, world  # noqa: F401

import isogloss as ig

LAB = ig.Laboratory(0)


@pytest.fixture(scope="module")
def bitexts(world: Path) -> list[Path]:  # noqa: F811
    paths = [world / f"qla-{lang}.jsonl" for lang in ("qlb", "qlc")]
    for path, lang in zip(paths, ("qlb", "qlc"), strict=True):
        LAB.bitext("qla", lang, 12).write(path)
    return paths


def test_adjust(capsys: pytest.CaptureFixture[str], world: Path, bitexts: list[Path], tmp_path: Path) -> None:  # noqa: F811
    files = [word for path in bitexts for word in ("--bitext", path)]
    options = ["--lr", "0.001", "--batch", "8", "--reduction", "mean", "--layers", "2,last", "--one-to-one"]
    words = ["adjust", world / "model", *files, "--out", tmp_path / "m", *options, "--pairs", "9", "--device", "cpu"]
    code, text, errors = isogloss(capsys, *words)
    assert code == 0, errors
    assert "loss" in text and str(tmp_path / "m") in text
    tokenizer, lines = ig.load_model(tmp_path / "m", device="cpu").tokenizer, text.splitlines()
    for lang in ("qlb", "qlc"):  # the share of unknown tokens of each side is shown
        sentences = [" ".join(pair.target) for pair in LAB.bitext("qla", lang, 9)]
        ids = [id for line in sentences for id in tokenizer.encode(line, add_special_tokens=False)]
        (row,) = [line for line in lines if line.startswith(f"qla>{lang}: {lang}")]
        assert f"{ids.count(tokenizer.unk_token_id) / len(ids):.1%}" in row
    made = ig.load_model(tmp_path / "m", device="cpu")
    corpora = [LAB.bitext("qla", lang, 9) for lang in ("qlb", "qlc")]
    settings = {"learning_rate": 0.001, "batch": 8, "reduction": "mean", "layers": [2, "last"], "one_to_one": True}
    same = ig.adjust(ig.load_model(world / "model", device="cpu"), corpora, **settings)
    for one, other in zip(made.body.parameters(), same.body.parameters(), strict=True):
        assert torch.equal(one, other)


def test_continual(capsys: pytest.CaptureFixture[str], world: Path, bitexts: list[Path], tmp_path: Path) -> None:  # noqa: F811
    rows = tmp_path / "rows.csv"
    words = command(world, "--continual", bitexts[0], "--continual-weight", 0.5, "--write", rows)
    code, _, errors = isogloss(capsys, *words)
    assert code == 0, errors
    assert "pull=0.5" in pl.read_csv(rows)["changes"][0]
    code, _, errors = isogloss(capsys, *command(world, "--continual", bitexts[0], "--anchor", world / "model"))
    assert code == 0, errors


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--layers", "two"], 2, "numbers such as 8"),
        (["--pairs", "13"], 2, "--pairs: expected at most 12, the pairs in"),
        (["--tokens", "wrds"], 2, "did you mean 'words'"),
        (["--bitext", "absent.jsonl"], 3, "absent.jsonl: expected an existing file"),
    ],
)
def test_what_is_wrong_is_told(
    capsys: pytest.CaptureFixture[str],
    world: Path,  # noqa: F811
    bitexts: list[Path],
    tmp_path: Path,
    words: list[str],
    code: int,
    said: str,
) -> None:
    got, _, errors = isogloss(capsys, "adjust", world / "model", "--bitext", bitexts[0], "-o", tmp_path / "m", *words)
    assert got == code and said in errors
