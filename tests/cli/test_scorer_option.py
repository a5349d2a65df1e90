"""Answers from the command line and in studies: the scorer follows the data set, can be chosen, and is shown."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from tiny_models import build

from isogloss.cli import main
from isogloss.core.errors import IsoglossError
from isogloss.results.comparisons.deltas import deltas
from isogloss.results.comparisons.marks import with_marks
from isogloss.results.rows.results import RESULT_COLUMNS, Results
from isogloss.results.rows.stored_rows import read_rows
from isogloss.results.tables.tables import delta_table, score_table
from isogloss.studies.execution.run_study import check_plan, planned, run_study
from isogloss.studies.planning.planner import plan_study
from isogloss.studies.schema.study_file import study_of

MLQA_ID, SQUAD_ID = "569666f4dc3983dab5624e989212c1d9d0cd17{:02d}", "56beb4343aeaaa14008c92{:02d}"


def isogloss(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as leave:
        main.run([*map(str, arguments)])
    streams = capsys.readouterr()
    return int(leave.value.code or 0), streams.out, streams.err


def write(path: Path, id_form: str) -> Path:
    context = "Das Haus steht am Fluss, der Hund schläft."
    answers = ["Haus", "Fluss", "Hund"]
    questions = [
        {"id": id_form.format(i), "question": "Was?", "answers": [{"text": a, "answer_start": context.index(a)}]}
        for i, a in enumerate(answers)
    ]
    document = {"version": "1.1", "data": [{"paragraphs": [{"context": context, "qas": questions}]}]}
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


@pytest.fixture
def world(tmp_path: Path) -> Path:
    build("bert", tmp_path / "model")
    write(tmp_path / "squad.de.json", SQUAD_ID)
    write(tmp_path / "mlqa.de.json", MLQA_ID)
    write(tmp_path / "quiz.de.json", "q{}")
    return tmp_path


def command(world: Path, *more: object) -> list[object]:
    tests = ["--test", f"de={world / 'squad.de.json'}", f"de-mlqa={world / 'mlqa.de.json'}"]
    data = ["--train", world / "squad.de.json", "--dev", world / "squad.de.json"]
    return ["transfer", world / "model", "--task", "qa", *data, *tests, "--epochs", 1, "--device", "cpu", *more]


def test_transfer_shows_the_scorer_of_each_data_set(capsys: pytest.CaptureFixture[str], world: Path) -> None:
    code, text, errors = isogloss(capsys, *command(world, "--out", world / "out", "--write", world / "rows.csv"))
    assert code == 0, errors
    lines = [line.split() for line in text.splitlines()]
    shown = [(line[0], line[2]) for line in lines if line and line[0] in ("de", "de-mlqa") and len(line) > 3]
    assert shown == [("de", "squad")] * 2 + [("de-mlqa", "mlqa")] * 2, "F1 and exact match of both"
    rows = pl.read_csv(world / "rows.csv").filter(pl.col("split") == "test")
    assert dict(rows.select("target", "scorer").iter_rows()) == {"de": "squad", "de-mlqa": "mlqa"}
    gaps = Results(pl.read_csv(world / "rows.csv")).gaps()
    assert gaps.filter(pl.col("scorer") == "mlqa")["gap"].null_count() == 2, "no gap between two scripts"
    code, text, errors = isogloss(capsys, *command(world, "--out", world / "out", "--scorer", "squad"))
    assert code == 0, errors
    assert "mlqa  " not in text.replace("de-mlqa", "")

    model = next((world / "out").glob("entries/finetuned/*")) / "model"
    for scorer, name in ((), "mlqa.de.json"), (("--scorer", "squad"), "mlqa.de.json"), ((), "quiz.de.json"):
        code, text, errors = isogloss(capsys, "predict", model, world / name, "--score", *scorer)
        assert code == 0, errors
        assert f"scorer {'mlqa' if not scorer and 'mlqa' in name else 'squad'}" in text.replace("\n", " ")
        assert errors.count("nor MLQA by its ids; scored with the SQuAD script") == (name == "quiz.de.json")


def test_wrong_scorers_are_refused_before_training(capsys: pytest.CaptureFixture[str], world: Path) -> None:
    for more, message in {
        ("--scorer", "bleu"): "unknown scorer 'bleu'",
        ("--scorer", "mlqa", "--task", "pos"): "the task 'pos' has only one scorer",
        ("--scorer", "mlqa", "--source", "ru"): "the scorer mlqa is for paragraphs in ar, de",
    }.items():
        code, _, errors = isogloss(capsys, *command(world, *more))
        assert code != 0
        assert message in " ".join(errors.split())


def study(world: Path, **settings: object) -> dict[str, object]:
    squad = str(world / "squad.de.json")
    return {
        "name": "answers",
        "model": str(world / "model"),
        "task": "qa",
        "source": {"de": {"train": squad, "dev": squad}},
        "targets": {"de": squad, "de-mlqa": str(world / "mlqa.de.json")},
        "settings": {"epochs": 1, **settings},
    }


def test_studies_choose_scorers_and_show_them(world: Path) -> None:
    results = run_study(study_of(study(world)), store=world / "store", device="cpu", workers=0)
    assert dict(results.tests.select("target", "scorer").iter_rows()) == {"de": "squad", "de-mlqa": "mlqa"}
    assert score_table(results.table()).head[:2] == ("metric", "scorer")
    chosen = study_of(study(world, qa={"scorer": "squad"}))
    results = run_study(chosen, store=world / "store", device="cpu", workers=0)
    assert set(results.frame["scorer"]) == {"squad"}
    first, second = (plan_study(study_of(study(world, **{"qa": {"scorer": name}}))) for name in ("squad", "mlqa"))
    assert not first.stages.keys() & second.stages.keys()
    with pytest.raises(IsoglossError, match=r"a scorer for the task qa for 'settings.scorer', got 'squad' for pos"):
        study_of({**study(world, scorer="squad"), "task": "pos"})


def test_studies_that_no_single_script_can_score_are_refused_before_training(world: Path) -> None:
    squad, mlqa = str(world / "squad.de.json"), str(world / "mlqa.de.json")
    joined = {**study(world), "targets": {"de": [squad, mlqa]}}
    (error,) = check_plan(planned(joined, device="cpu"), None).errors
    assert "expected one data set, got questions for the scorers mlqa and squad" in str(error)
    chosen = {**joined, "settings": {"qa": {"scorer": "squad"}}}
    assert not check_plan(planned(chosen, device="cpu"), None).errors
    russian = {**study(world, qa={"scorer": "mlqa"}), "targets": {"ru": squad}}
    assert "the scorer mlqa is for paragraphs in" in str(check_plan(planned(russian, device="cpu"), None).errors[0])
    unknown = {**study(world), "targets": {"de": str(world / "quiz.de.json")}}
    (warning,) = check_plan(planned(unknown, device="cpu"), None).warnings
    assert "scored with the SQuAD script" in warning


def test_laboratory_answers_keep_their_identity_and_files_do_not(world: Path) -> None:
    """Scores of files may differ from those of former versions; those of the laboratory do not."""
    from isogloss.studies.planning.planner import scoring_version

    assert scoring_version("qa", ["lab:qla/test/9", "mixed:lab:qla/test/9|lab:qlb/test/9"]) == []
    assert scoring_version("qa", ["lab:qla/test/9", "/x/xquad.en.json"]) == [2]
    assert scoring_version("qa", ["mixed:lab:qla/test/9|/x/xquad.en.json"]) == [2]
    assert scoring_version("pos", ["/x/en.conllu"]) == []


def test_conditions_are_compared_within_one_scorer() -> None:
    row = {"study": "s", "model": "m", "task": "qa", "source": "en", "split": "test", "metric": "f1", "n": 9, "seed": 0}
    rows = [
        {**row, "run": f"{target}{change}", "target": target, "changes": change, "scorer": scorer, "value": value}
        for target, change, scorer, value in [
            ("es", "REF", "squad", 0.5), ("es", "1-2", "squad", 0.4),
            ("hi", "REF", "squad", 0.5), ("hi", "1-2", "mlqa", 0.7),
        ]
    ]  # fmt: skip
    compared = deltas(pl.DataFrame(rows, schema=RESULT_COLUMNS))
    assert dict(compared.select("target", "delta").iter_rows()) == {"es": pytest.approx(-0.1), "hi": None}
    assert delta_table(with_marks(compared)).head[0] == "scorer"


def test_rows_without_the_column_are_read_beside_rows_with_it(tmp_path: Path) -> None:
    paths = [str(tmp_path / name) for name in ("a.parquet", "b.parquet", "c.parquet")]
    for path, frame in zip(paths, ({"n": [1]}, {"n": [2], "scorer": ["mlqa"]}, {"n": [3]}), strict=True):
        pl.DataFrame(frame).write_parquet(path)
    rows = read_rows(paths)
    assert dict(rows.select("path", "scorer").iter_rows()) == dict(zip(paths, [None, "mlqa", None], strict=True))
