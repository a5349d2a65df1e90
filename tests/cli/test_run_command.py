"""`isogloss run`, `validate STUDY`, `ls runs` and `gc`, on a study whose stages are toys."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import polars as pl
import pytest
from tiny_models import build_masked

from isogloss.cli import main, screen
from isogloss.store.entries import Store
from isogloss.studies.planning import job as planned_job

STUDY = """\
name: toys
description: two columns
model: bilstm
task: [pos, parse]
changes: {REF: [], "1": [{reinit: 1}]}
sources:
  qla: {train: "lab:qla/train/10", dev: "lab:qla/dev/10"}
targets: {qla: "lab:qla/test/10", no: "lab:qlb/test/10"}
seeds: 2
"""


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    toys = Path(__file__).parents[1] / "support"
    monkeypatch.syspath_prepend(str(toys))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(toys), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setattr(screen.out, "_width", 200)
    monkeypatch.delenv("ISOGLOSS_STORE", raising=False)
    monkeypatch.setattr(planned_job, "STAGE_FUNCTIONS_MODULE", "toy_makers")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.yaml").write_text(STUDY)
    return tmp_path / "study.yaml"


def isogloss(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as leave:
        main.run([str(one) for one in arguments])
    told = capsys.readouterr()
    return int(leave.value.code or 0), told.out, told.err


def test_validate_explains_and_leaves_no_traces(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, text, _ = isogloss(capsys, "validate", study)
    assert code == 0
    assert "8 = 1 model × 2 conditions × 2 tasks × 2 seeds" in text
    assert "0 of 8 runs" in text
    assert "unknown until a run of each kind is done in this store" in text
    assert os.listdir(study.parent) == ["study.yaml"]


def test_run_then_everything_is_done(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, text, err = isogloss(
        capsys, "run", study, "--set", "task=pos", "seeds=1", "--workers", 1, "--device", "cpu",
        "-o", "rows.parquet", "-o", "table.md",
    )  # fmt: skip
    assert code == 0, err
    assert "Δ 1" in text
    assert len(pl.read_parquet("rows.parquet")) == 2 * 2
    assert "| qla-no |" in Path("table.md").read_text()
    assert "done: bilstm 1 pos qla seed 0" in err
    code, text, _ = isogloss(capsys, "validate", study, "--set", "task=pos")
    assert "4 = 1 model × 2 conditions × 1 task × 2 seeds" in text
    assert "2 of 4 runs" in text
    assert "measured on runs of this study" in text
    code, text, _ = isogloss(capsys, "ls", "runs")
    assert [line.split()[-1] for line in text.splitlines() if line.startswith("bilstm")] == ["done"] * 2


def test_runs_that_are_trained_together_are_told_as_one(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = build_masked(study.parent / "tiny")
    words = ["--set", "task=pos", f"model={model}", "seeds=3", "--workers", 0, "--device", "cpu", "--stack"]
    code, _, err = isogloss(capsys, "run", study, *words, 4)
    assert code == 0, err
    assert [line.partition(" (")[0] for line in err.splitlines() if line.startswith("done")] == [
        "done: tiny REF pos qla seed 0 and 3 more", "done: tiny REF pos qla seed 2 and 1 more",
    ]  # fmt: skip
    assert [id.partition("-")[0] for id in Store("isogloss-store").ids()].count("evaluation") == 6
    code, _, err = isogloss(capsys, "run", study, *words, 0)
    assert code == 2
    assert "--stack" in err


MEASURE = """\
measure: {parallel: "lab:qla,qlb/test/10", indexes: [cka, anc], source: qla, when: [before]}
"""


def test_similarity_is_shown_in_a_few_numbers(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study.write_text(STUDY + MEASURE.replace(", when: [before]", ""))
    words = ["--set", "task=pos", "seeds=1", "--workers", 0, "--device", "cpu"]
    code, text, err = isogloss(capsys, "run", study, *words)
    assert code == 0, err
    scores, _, curves = text.partition("toys: similarity")
    assert "Δ 1" in scores
    told = [line.split() for line in curves.splitlines() if "qla-qlb" in line]
    numbers = ["0.00", "0.30", "(3)", "0.30"] * 2
    assert told == [[column, "qla-qlb", index, *numbers] for column in ("REF", "1") for index in ("cka", "anc")]


def test_a_study_that_only_measures(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study.write_text("name: alone\nmodel: bilstm\n" + MEASURE)
    code, text, _ = isogloss(capsys, "validate", study)
    assert code == 0
    assert "1 = 1 model, only measured" in text
    code, text, err = isogloss(capsys, "run", study, "--workers", 0, "--device", "cpu", "-o", "c.csv", "-o", "c.md")
    assert code == 0, err
    assert "no run is finished" not in err
    assert [line.split()[:3] for line in text.splitlines() if "qla-qlb" in line] == [
        ["qla-qlb", "cka", "0.00"], ["qla-qlb", "anc", "0.00"],
    ]  # fmt: skip
    assert len(pl.read_csv("c.csv")) == 2 * 4
    assert "| qla-qlb |" in Path("c.md").read_text()
    assert "done" in next(line for line in isogloss(capsys, "ls", "runs")[1].splitlines() if "bilstm" in line)


def test_the_table_of_one_column_fits_a_terminal(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, text, err = isogloss(capsys, "run", study, "--set", "changes=REF", "--workers", 0, "--device", "cpu")
    assert code == 0, err
    told = [line.rstrip() for line in text.splitlines()]
    head = next(line for line in told if line.startswith("task"))
    assert head.split() == ["task", "source-target", "mean", "sd", "gap", "to", "source", "test", "seeds"]
    assert max(map(len, told)) <= 80
    assert sum(line.startswith(("pos", "parse")) for line in told) == 4


def test_a_failing_run_is_told_with_what_it_is(
    study: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(planned_job, "STAGE_FUNCTIONS_MODULE", "toy_nowhere")
    code, text, err = isogloss(capsys, "run", study, "--set", "seeds=1", "--workers", 0, "--device", "cpu")
    assert code == 1
    assert "error: bilstm REF pos qla seed 0: " in err
    assert "No module named 'toy_nowhere'" in err
    assert "no run is finished" in err
    code, text, _ = isogloss(capsys, "ls", "runs", "parse")
    assert text.count("failed") == 2


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["validate", "study.yaml", "--set", "seed=x"], 2, "--set seeds: expected how many seeds"),
        (["validate", "study.yaml", "--set", "seads=1"], 2, "did you mean 'seeds'?"),
        (
            ["validate", "study.yaml", "--set", "sources.qla.train=nowhere"],
            3,
            "nowhere: expected a file that can be read",
        ),
        (["run", "study.yaml", "--set", "sources.qla.train=nowhere"], 3, "nowhere: expected a file that can be"),
        (["run", "nowhere.yaml"], 3, "nowhere.yaml: expected an existing file"),
        (["run", "study.yaml", "-o", "x.doc"], 2, "x.doc: expected one of"),
        (["run", "study.yaml", "--backend", "lokal"], 2, "did you mean 'local'?"),
        (["run", "study.yaml", "--backend", "ray", "--option", "adress=auto"], 2, "did you mean 'address'?"),
        (["run", "study.yaml", "--backend", "slurm", "--option", "time=1:30:00"], 2, "time: expected a whole number"),
        (["run", "study.yaml", "--option", "address"], 2, "--option: expected NAME=VALUE"),
        (["gc", "."], 3, "expected a store"),
        (["ls", "runs", "--store", "nowhere"], 3, "nowhere: expected the folder of a store"),
        (["run", "study.yaml", "--set", "published=no.csv"], 3, "no.csv: expected a CSV"),
    ],
)
def test_what_cannot_be_done(
    study: Path, capsys: pytest.CaptureFixture[str], words: list[str], code: int, said: str
) -> None:
    got, _, err = isogloss(capsys, *words)
    assert got == code
    assert said in err.replace("\n", " ")
    assert "Traceback" not in err


def test_gc_shows_before_it_removes(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    isogloss(capsys, "run", study, "--set", "task=pos", "seeds=1", "--workers", 0, "--device", "cpu", "--store", "s")
    other = ["--set", "task=parse", "seeds=1", "name=other", "--workers", 0, "--device", "cpu", "--store", "s"]
    isogloss(capsys, "run", study, *other)
    assert "nothing to remove" in isogloss(capsys, "gc", "s")[1]
    store = Store("s")
    (store.folder / "temporary" / "toy-1.abc").mkdir()
    (store.folder / "temporary" / "toy-1.abc" / "half").write_bytes(b"1" * 1000)
    (store.folder / "running" / "x-1.json").write_text("{}")
    (store.folder / "locks" / "toy-2").write_text(json.dumps({"node": "elsewhere", "pid": 1, "started": ""}))
    os.utime(store.folder / "locks" / "toy-2", (0, 0))
    done = sorted(store.ids())[0]
    (store.folder / "work" / done).mkdir()
    (store.folder / "work" / "finetuned-unfinished").mkdir()
    code, text, _ = isogloss(capsys, "gc", "s")
    assert "4 entries" in text
    assert "nothing was removed" in text
    assert "finetuned-unfinished" not in text
    assert "removed: 4 entries" in isogloss(capsys, "gc", "s", "--delete")[1]
    assert len(store.ids()) == 8
    text = isogloss(capsys, "gc", "s", "--keep", "toys", "--older", 1)[1]
    assert "nothing to remove" in text
    assert "removed: 4 entries" in isogloss(capsys, "gc", "s", "--keep", "toys", "--delete")[1]
    assert {id.partition("-")[0] for id in store.ids()} == {"finetuned", "evaluation"}
    assert len(store.ids()) == 4
    long_ago = time.time() - 10 * 86400
    for id in store.ids():
        os.utime(store.place(id), (long_ago, long_ago))
    assert "removed: 4 entries" in isogloss(capsys, "gc", "s", "--older", 5, "--delete")[1]
    code, _, err = isogloss(capsys, "gc", "s", "--keep", "toy")
    assert code == 2
    assert "did you mean 'toys'?" in err
