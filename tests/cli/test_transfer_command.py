from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tiny_models import build

import isogloss as ig
from isogloss.cli import main
from isogloss.cli.transfer import parse_seeds
from isogloss.core.errors import UsageError
from isogloss.studies.execution.corpora import language_of_name


def isogloss(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as leave:
        main.run([*map(str, arguments)])
    streams = capsys.readouterr()
    return int(leave.value.code or 0), streams.out, streams.err


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny model, and corpora of the laboratory."""
    folder, lab = tmp_path_factory.mktemp("world"), ig.Laboratory(seed=0)
    build("bert", folder / "model")
    lab.treebank("qla", "train", 20).write(folder / "train.conllu")
    for lang in ("qla", "qlb"):
        lab.treebank(lang, "dev", 6).write(folder / f"{lang}.conllu")
    return folder


def command(world: Path, *more: object) -> list[object]:
    files = ["--train", world / "train.conllu", "--dev", world / "qla.conllu", "--source", "qla"]
    tests = ["--test", f"qla={world / 'qla.conllu'}", f"qlb={world / 'qlb.conllu'}"]
    quick = ["--epochs", 1, "--device", "cpu", "--lr", 0.001]
    return ["transfer", world / "model", "--task", "pos", *files, *tests, *quick, *more]


def test_transfer_then_predict(capsys: pytest.CaptureFixture[str], world: Path, tmp_path: Path) -> None:
    rows, pattern = tmp_path / "rows.csv", tmp_path / "{target}-{seed}.conllu"
    more = ["--seeds", 2, "--out", tmp_path / "out", "--write", rows, "--predict", pattern]
    code, text, errors = isogloss(capsys, *command(world, *more))
    assert code == 0, errors
    table = [line.split() for line in text.splitlines()]
    assert [row[:2] for row in table if row and row[0] in ("qla", "qlb")] == [["qla", "accuracy"], ["qlb", "accuracy"]]
    frame = pl.read_csv(rows)
    assert frame.filter(pl.col("split") == "test").select("target", "seed").rows() == [
        (target, seed) for seed in range(2) for target in ("qla", "qlb")
    ]
    predicted = ig.read_treebank(tmp_path / "qlb-1.conllu", lang="qlb")
    assert [tree.words for tree in predicted] == [tree.words for tree in ig.read_treebank(world / "qlb.conllu")]
    assert isogloss(capsys, "ls", "runs", "--store", tmp_path / "out")[1].count("finetuned-pos-qla-seed") == 2
    assert "nothing to remove" in isogloss(capsys, "gc", tmp_path / "out")[1]

    model = next((tmp_path / "out").glob("entries/finetuned/finetuned-pos-qla-seed1-*")) / "model"
    written = tmp_path / "again.conllu"
    code, text, errors = isogloss(capsys, "predict", model, world / "qlb.conllu", "--out", written, "--score")
    assert code == 0, errors
    assert written.read_bytes() == (tmp_path / "qlb-1.conllu").read_bytes()
    score = frame.filter((pl.col("target") == "qlb") & (pl.col("seed") == 1))["value"][0]
    assert ["accuracy", f"{score:.4f}"] in [line.split() for line in text.splitlines()]


def test_grid_searches_first(capsys: pytest.CaptureFixture[str], world: Path) -> None:
    code, text, errors = isogloss(capsys, *command(world, "--grid"))
    assert code == 0, errors
    rows = [line.split() for line in text.splitlines()]
    tried = [row[:2] for row in rows if row and row[0] in ("16", "32")]
    assert tried == [[batch, rate] for batch in ("16", "32") for rate in ("1e-05", "2.5e-05", "5e-05")]


def test_layers_drawn_anew_are_named_in_the_rows(
    capsys: pytest.CaptureFixture[str], world: Path, tmp_path: Path
) -> None:
    code, _, errors = isogloss(capsys, *command(world, "--reinit", "embeddings,1-2", "--write", tmp_path / "rows.csv"))
    assert code == 0, errors
    corpora = [ig.read_treebank(world / f"{name}.conllu", lang="qla") for name in ("train", "qla", "qla")]
    options = {"before": [ig.reinit("1-2", embeddings=True)], "epochs": 1, "learning_rate": 0.001}
    model = ig.load_model(world / "model", device="cpu")
    expected = ig.transfer(model, "pos", *corpora[:2], {"qla": corpora[2]}, **options)
    frame = pl.read_csv(tmp_path / "rows.csv")
    assert set(frame["changes"]) == set(expected.frame["changes"]) == {"reinit('embeddings,1-2')"}
    assert set(frame["run"]) == set(expected.frame["run"])
    assert frame["value"][0] == expected.frame["value"][0]


def test_control_c_says_how_to_go_on(
    capsys: pytest.CaptureFixture[str], world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("isogloss.training.finetuning.transfer.finetune", interrupt)
    code, _, errors = isogloss(capsys, *command(world, "--out", tmp_path))
    assert code == 130
    assert f"saved in {tmp_path}; the same command resumes it" in " ".join(errors.split())


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--seeds", "x"], "--seeds: expected a number"),
        (["--predict", "one.conllu"], "--predict: expected {target} in the file name"),
        (["--write", "rows.doc"], "expected one of"),
        (["--precision", "fp61"], "unknown precision"),
        (["--test", "fr"], "expected LANGUAGE=FILE"),
        (["--device", "gpu"], "unknown device"),
        (["--reinit", "2-1"], "reinit: expected layers such as 1-2"),
        (["--reinit", "3-4"], "the layers of 'model' are 1-3, got 3-4"),
    ],
)
def test_wrong_usage_is_one_line(capsys: pytest.CaptureFixture[str], world: Path, more: list[str], said: str) -> None:
    code, _, errors = isogloss(capsys, *command(world, *more))
    assert (code, len(errors.splitlines())) == (2, 1)
    assert said in errors


def test_predict_says_what_is_missing(capsys: pytest.CaptureFixture[str], world: Path) -> None:
    code, _, errors = isogloss(capsys, "predict", world / "model", world / "qlb.conllu")
    assert (code, "expected --out FILE for predictions, --score" in errors) == (2, True)
    code, _, errors = isogloss(capsys, "predict", world / "model", world / "qlb.conllu", "--score")
    assert (code, "isogloss transfer --out" in errors) == (3, True)


def test_seeds_and_languages() -> None:
    assert (parse_seeds("3"), parse_seeds("3,"), parse_seeds("7,1")) == ([0, 1, 2], [3], [7, 1])
    for wrong in ("0", "", "-1,2", "1.5"):
        with pytest.raises(UsageError):
            parse_seeds(wrong)
    assert [language_of_name(name) for name in ("fr", "fr-pud", "qlb", "mixed")] == ["fr", "fr", "qlb", None]


def test_files_without_labels_are_listed_before_a_model_is_loaded(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for name, label in {"train-en": "\tneutral", "test-fr": "", "test-de": "\t-"}.items():
        (tmp_path / f"{name}.tsv").write_text(f"A dog barks loudly.\tAn animal makes a sound.{label}\n" * 4)
    train = tmp_path / "train-en.tsv"
    tests = [f"{lang}={tmp_path / f'test-{lang}.tsv'}" for lang in ("fr", "de")]
    options = ["--task", "nli", "--train", train, "--dev", train, "--test", *tests, f"en={train}"]
    code, _, errors = isogloss(capsys, "transfer", "no-such-model", *options)
    assert code == 3 and "2 errors" in errors
    assert "test-fr.tsv:1" in errors and "test-de.tsv:1" in errors and "no-such-model" not in errors


def test_files_that_cannot_be_read_are_listed_together(capsys: pytest.CaptureFixture[str], world: Path) -> None:
    options = command(world, "--test", f"qlc={world / 'absent.conllu'}", f"qld={world / 'missing.conllu'}")
    code, _, errors = isogloss(capsys, *options)
    assert code == 3 and "absent.conllu" in errors and "missing.conllu" in errors


def test_the_format_can_be_given(capsys: pytest.CaptureFixture[str], world: Path, tmp_path: Path) -> None:
    """Two words a line are a sentence of NER in two columns only if that is said."""
    for name in ("train", "dev"):
        (tmp_path / f"{name}.data").write_text("Ada B-PER\nsings O\n\n" * 4)
    files = [
        "--train",
        tmp_path / "train.data",
        "--dev",
        tmp_path / "dev.data",
        "--test",
        f"en={tmp_path / 'dev.data'}",
    ]
    options = ["transfer", world / "model", "--task", "ner", *files, "--epochs", 1, "--device", "cpu", "--source", "en"]
    code, _, errors = isogloss(capsys, *options, "--format", "ner-space")
    assert code == 0, errors
    code, _, errors = isogloss(capsys, *options, "--format", "panx")
    assert code == 3 and "train.data:1" in errors and "dev.data:1" in errors
    code, _, errors = isogloss(capsys, *options, "--format", "conllu")
    assert code == 2 and "the format 'conllu' is for treebank, not ner" in errors


def test_a_target_that_fails_is_named_and_the_others_are_shown(
    capsys: pytest.CaptureFixture[str], world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from isogloss.training.finetuning import target_evaluation

    evaluate = target_evaluation.evaluate

    def fail_for_qlb(network: Any, task: Any, model: Any, corpora: Any, labels: Any) -> Any:
        if any(target == "qlb" for _, target in corpora):
            raise OSError("the disk was unplugged")
        return evaluate(network, task, model, corpora, labels)

    monkeypatch.setattr(target_evaluation, "evaluate", fail_for_qlb)
    code, text, errors = isogloss(capsys, *command(world))
    assert code == 1 and "test qlb, seed 0: OSError: the disk was unplugged" in errors
    assert [line.split()[0] for line in text.splitlines() if "accuracy" in line] == ["qla"]
