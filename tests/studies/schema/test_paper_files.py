"""The papers as study files: each is read and planned, and the published values are those of the papers."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest
from shared_data import shared

from isogloss.results.comparisons.deltas import deltas
from isogloss.results.comparisons.differences import source_to_x
from isogloss.results.comparisons.published_values import with_published
from isogloss.results.rows.study_reader import read_published
from isogloss.results.rows.study_results import StudyResults
from isogloss.studies.execution.run_study import run_study
from isogloss.studies.planning.planner import Plan, plan_study
from isogloss.studies.schema.references import for_task, mixed_parts
from isogloss.studies.schema.study import Study
from isogloss.studies.schema.study_file import read_study
from isogloss.tasks import TASKS
from isogloss.text.transliteration.schemes import scheme_for
from isogloss.training.engine.settings import settings_for

FOLDER = Path(__file__).parents[3] / "studies"
PAPERS = ("first-align", "anc", "adjustment", "unseen", "lab")
FILES = sorted(path.relative_to(FOLDER).as_posix() for name in PAPERS for path in (FOLDER / name).glob("*.yaml"))
SIDECARS = sorted(path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.published.csv"))
CELL = ["task", "source", "target", "change", "metric"]
PAIRS = ["REF", "1-2", "3-4", "5-6", "7-8", "9-10", "11-12"]

# models × columns × tasks × sources × seeds, as the papers' tables have them
RUNS = {
    "first-align/table-1-parsing.yaml": 7 * 3 * 5,
    "first-align/table-1-pos.yaml": 7 * 3 * 5,
    "first-align/table-1-ner.yaml": 7 * 3 * 5,
    "first-align/table-2-syntax.yaml": 7 * 2 * 5,
    "first-align/table-2-ner.yaml": 7 * 5,
    "first-align/table-5.yaml": 13 * 3 * 5,
    "first-align/figures-1-3-4-5.yaml": 3 * 5,
    "first-align/figures-2-6-7-8.yaml": 7 * 3,
    "anc/table-1-figures-1-2-4.yaml": 3,
    "anc/figure-3.yaml": 2,
    "anc/figure-5.yaml": 4,
    "anc/figure-6.yaml": 5,
    "unseen/maltese.yaml": 4 * 2 * 5,
    "unseen/naija.yaml": 4 * 2 * 5,
    "unseen/narabizi.yaml": 4 * 2 * 5,
    "unseen/swiss-german.yaml": 4 * 2 * 5,
    "unseen/uyghur.yaml": 6 * 3 * 5,
    "unseen/buryat.yaml": 6 * 2 * 5,
    "unseen/erzya.yaml": 6 * 2 * 5,
    "unseen/mari.yaml": 6 * 5,
    "unseen/mingrelian.yaml": 6 * 5,
    "unseen/sorani.yaml": 6 * 5,
    "adjustment/table-2.yaml": 3 * 5,
    "adjustment/table-3.yaml": 3 * 5,
    "adjustment/table-4.yaml": 3 * 5,
    "adjustment/table-4-ru.yaml": 3 * 5,
    "adjustment/table-5.yaml": 6 * 3 * 5,
    "adjustment/table-6.yaml": 5 * 3 * 5,
    "adjustment/table-7.yaml": 5 * 3 * 5,
    "adjustment/figure-1.yaml": 3,
    "unseen/wolof.yaml": 4 * 2 * 5,
    "lab/table-1-pos.yaml": 7 * 3,
    "lab/table-1-parsing.yaml": 7 * 3,
    "lab/table-1-ner.yaml": 7 * 3,
    "lab/table-2-syntax.yaml": 7 * 2 * 3,
    "lab/table-2-ner.yaml": 7 * 3,
    "lab/table-5.yaml": 13 * 3,
    "lab/figures-1-3-4-5.yaml": 3 * 3,
    "lab/figures-2-6-7-8.yaml": 7 * 3,
    "lab/anc-table-1-figures-1-2-4.yaml": 3,
    "lab/anc-figure-3.yaml": 1,
    "lab/anc-figure-5.yaml": 3,
    "lab/anc-figure-6.yaml": 2,
    "lab/unseen-easy.yaml": 4 * 2 * 2,
    "lab/unseen-intermediate.yaml": 4 * 2 * 2,
    "lab/unseen-hard.yaml": 6 * 2 * 2,
    "lab/adjustment-table-2.yaml": 3 * 3,
    "lab/adjustment-table-3.yaml": 3 * 3,
    "lab/adjustment-table-4.yaml": 3 * 3,
    "lab/adjustment-table-5.yaml": 6 * 3 * 2,
    "lab/adjustment-table-6.yaml": 4 * 3 * 2,
    "lab/adjustment-table-7.yaml": 5 * 3 * 2,
    "lab/adjustment-figure-1.yaml": 3,
    "lab/adjustment-inference.yaml": 3 * 5,
}
# cells that the text of the paper does not give legibly, by sidecar: source, target, column
ILLEGIBLE = {
    "table-1-parsing": {("ar", "ja", "5-6")},
    "table-1-ner": {
        ("en", "fr", "1-2"),
        ("en", "hi", "7-8"),
        ("en", "ja", "3-4"),
        ("en", "ja", "5-6"),
        ("ar", "ja", "1-2"),
        ("ar", "ja", "5-6"),
    },
}
ROWS = {
    "first-align/table-1-parsing": 3 * 18 * 7 - 1,
    "first-align/table-1-pos": 3 * 18 * 7,
    "first-align/table-1-ner": 3 * 18 * 7 - 6,
    "first-align/table-2-syntax": 2 * 6 * 7,
    "first-align/table-2-ner": 3 * 7,
    "first-align/table-5": 3 * 8 * 13,
    "first-align/figures-1-3-4-5": 9,
    "anc/table-1": 9,
    "adjustment/table-2": 2 * 4 * 3,
    "adjustment/table-3": 4 * 3,
    "adjustment/table-4": (8 + 7 + 7) * 3,
    "adjustment/table-5": 4 * 6,
    "adjustment/table-6": 4 * 5,
    "adjustment/table-7": 4 * 5,
}
TEXTS = {
    "first-align": "papers/first-align-then-predict.txt",
    "anc": "papers/anc-similarity-revisited.txt",
    "adjustment": "papers/cross-lingual-adjustment.txt",
}


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("isogloss.studies.planning.fingerprints._commit", lambda name: "commit")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


def read_in(data: Path, file: str, **values: str) -> Study:
    """A study whose variables without a value stand for names in the folder `data`."""
    needed = re.findall(r"^  (\w+): null", (FOLDER / file).read_text(encoding="utf-8"), flags=re.MULTILINE)
    return read_study(FOLDER / file, {**{name: str(data / name) for name in needed}, **values})


def planned_in(data: Path, file: str) -> Plan:
    """The plan of a study, all of whose files are there: those that it is found to miss are made, and empty."""
    study = read_in(data, file)
    for path in map(Path, plan_study(study, device="cpu").missing):
        assert path.is_relative_to(data), f"{path} comes from no variable"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(path.name, encoding="utf-8")
    return plan_study(study, device="cpu")


def main_metric(task: str) -> str:
    return next(iter(TASKS[task].metrics))


def published(name: str) -> pl.DataFrame:
    return read_published(FOLDER / f"{name}.published.csv")


def value(frame: pl.DataFrame, **cell: str) -> float:
    """The one published value that is named."""
    return float(frame.filter(**cell)["value"].item())


def printed(frame: pl.DataFrame) -> pl.Series:
    """What stands in the paper, as it stands there."""
    return frame["printed" if "printed" in frame.columns else "value"].cast(pl.String)


def raw(name: str) -> pl.DataFrame:
    return pl.read_csv(FOLDER / f"{name}.published.csv", infer_schema=False)


def test_all_files_are_known() -> None:
    assert sorted(RUNS) == FILES
    assert sorted(f"{name}.published.csv" for name in ROWS) == SIDECARS


@pytest.mark.parametrize("file", FILES)
def test_a_file_is_planned_as_the_paper_has_it(file: str, data: Path) -> None:
    plan = planned_in(data, file)
    assert not plan.missing
    assert len(plan.runs) == RUNS[file]
    target = plan.study.variables.get("TARGET")  # a study for each target language is one for each name
    assert plan.study.name == file.removesuffix(".yaml").replace("/", "-") + (f"-{target}" if target else "")


@pytest.mark.parametrize("file", [file for file in FILES if not file.startswith("lab/")])
def test_what_must_be_given_is_asked_for(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    needed = re.findall(r"^  (\w+): null", (FOLDER / file).read_text(encoding="utf-8"), flags=re.MULTILINE)
    for name in needed:
        monkeypatch.delenv(name, raising=False)
    if not needed:
        assert read_study(FOLDER / file)
        return
    with pytest.raises(Exception, match=rf"the variable '({'|'.join(needed)})' needs a value"):
        read_study(FOLDER / file)


@pytest.mark.parametrize("file", [file for file in FILES if file.startswith("lab/")])
def test_a_twin_needs_nothing_but_the_laboratory(file: str) -> None:
    study = read_study(FOLDER / file)
    assert {model.base for model in study.models.values()} <= {"laboratory", "bilstm", None}
    every = [one for given in study.targets.values() for one in given.values()]
    every += [one for given in study.sources.values() for both in (given.train, given.dev) for one in both.values()]
    parts = [part for given in every for one in given for part in (mixed_parts(one) or [one])]
    assert all(part.startswith("lab:") for part in parts)
    if study.measure:
        assert all(reference.startswith("lab:") for reference in study.measure.parallel.values())


@pytest.mark.parametrize(
    "file", [file for file in FILES if f"lab/{Path(file).name}" in FILES and "first-align/" in file]
)
def test_a_twin_has_the_columns_and_tasks_of_its_original(file: str, data: Path) -> None:
    original, twin = read_in(data, file), read_study(FOLDER / "lab" / Path(file).name)
    assert (list(twin.changes), twin.tasks) == (list(original.changes), original.tasks)
    assert bool(twin.measure) == bool(original.measure)
    if twin.measure and original.measure:
        assert twin.measure.when == original.measure.when
        assert set(original.measure.indexes) <= set(twin.measure.indexes)


def test_figures_3_5_and_6_of_the_anc_paper_fine_tune_nothing(data: Path) -> None:
    for file in ("anc/figure-3.yaml", "anc/figure-5.yaml", "anc/figure-6.yaml", "lab/anc-figure-3.yaml"):
        plan = planned_in(data, file)
        assert {stage.kind for stage in plan.stages.values()} == {"similarity"}
        assert all(list(run.similarity) == ["before"] for run in plan.runs)
        assert plan.study.measure
        assert plan.study.measure.indexes == ("anc",)


def test_the_baseline_of_unseen_twins_has_its_own_recipe() -> None:
    for verdict in ("easy", "intermediate", "hard"):
        study = read_study(FOLDER / f"lab/unseen-{verdict}.yaml")
        for task in study.tasks:
            settings = {model: study.settings_of(task, model) for model in study.models}
            assert settings.pop("BiLSTM") == {}
            assert all(one == {"epochs": 12, "batch": 16, "learning_rate": 1e-3} for one in settings.values())


def test_each_model_of_the_anc_paper_has_its_own_published_scores(data: Path) -> None:
    study = read_in(data, "anc/table-1-figures-1-2-4.yaml")
    rows = pl.DataFrame(
        [
            {"study": study.name, "run": model, "model": model, "changes": "REF", "task": "nli", "source": "en",
             "target": target, "split": "test", "metric": "accuracy", "seed": 0, "value": 0.5, "n": 10}
            for model in study.models for target in study.targets
        ]
    )  # fmt: skip
    table = StudyResults(rows, published=published("anc/table-1")).paper_table()
    assert table.head[:3] == ("model", "source-target", "mean")
    assert [(row[2].text, row[2].published) for row in table.body] == [
        ("50.00", f"{score}.00") for score in (79, 72, 70, 81, 72, 72, 79, 72, 71)
    ]


def test_the_four_minute_twin_has_the_size_that_was_agreed() -> None:
    study = read_study(FOLDER / "lab/table-1-pos.yaml")
    assert (list(study.changes), len(study.seeds), len(study.targets)) == (PAIRS, 3, 5)


def test_figures_reuse_what_table_1_computes(data: Path) -> None:
    tables = [planned_in(data, f"first-align/table-1-{name}.yaml") for name in ("parsing", "pos", "ner")]
    known = {id for plan in tables for id in plan.stages}
    for file in ("first-align/figures-1-3-4-5.yaml", "first-align/figures-2-6-7-8.yaml"):
        figure = planned_in(data, file)
        assert {run.finetuned for run in figure.runs} | {run.evaluation for run in figure.runs} <= known
    assert {run.finetuned for run in planned_in(data, "first-align/table-2-ner.yaml").runs} <= known


def with_sidecar() -> Iterator[str]:
    """Study files whose published values are scores of their runs."""
    for file in FILES:
        elsewhere = "figures-1-3-4-5" in file or file.startswith("adjustment/")
        if "published:" in (FOLDER / file).read_text(encoding="utf-8") and not elsewhere:
            yield file


@pytest.mark.parametrize("file", with_sidecar())
def test_published_values_belong_to_runs_and_runs_have_published_values(file: str, data: Path) -> None:
    study = read_in(data, file)
    assert study.published
    frame = read_published(Path(study.published))
    told = ["model", *CELL] if "model" in frame.columns else CELL
    assert not frame.select(told).is_duplicated().any()
    cells = set(frame.select(CELL).iter_rows())
    targets = [*study.targets, *(["X"] if "table-1-" in file and "anc" not in file else [])]
    expected = {
        (task, source, target, change, main_metric(task))
        for task in study.tasks
        for source in study.sources
        for target in targets
        for change in study.changes
    }
    assert {cell[1:4] for cell in expected - cells} == ILLEGIBLE.get(Path(file).stem, set())
    assert not cells - expected
    if "model" in frame.columns:
        assert set(frame["model"]) == set(study.models)


LANGUAGES_OF = {2: ("es", "ru", "vi", "hi"), 3: ("es", "ru", "vi", "hi"), 4: ("es", "vi", "hi"), 5: (), 6: (), 7: ()}


@pytest.mark.parametrize("table", LANGUAGES_OF)
def test_published_values_of_adjustment_belong_to_runs(table: int, data: Path) -> None:
    """Of all languages together; of English, and of nothing else, none are published."""
    studies = [read_in(data, f"adjustment/table-{table}.yaml", TARGET=lang) for lang in LANGUAGES_OF[table]]
    studies += [read_in(data, "adjustment/table-4-ru.yaml")] if table == 4 else []
    studies += [] if LANGUAGES_OF[table] else [read_in(data, f"adjustment/table-{table}.yaml")]
    expected = {
        (task, "en", target, " ".join(filter(None, column)), main_metric(task))
        for study in studies
        for task in study.tasks
        for target, given in study.targets.items()
        for column in study.conditions
        if for_task(given, task)
    }
    frame = published(f"adjustment/table-{table}")
    assert {study.published for study in studies} == {str(FOLDER / f"adjustment/table-{table}.published.csv")}
    assert {study.reference for study in studies} == {"Original"}
    cells = set(frame.select(CELL).iter_rows())
    assert not cells - expected
    assert {cell[2] for cell in expected - cells} == {"en"}
    for study in studies:
        assert all(for_task(study.targets["en"], task) for task in study.tasks)


def test_settings_of_adjustment_are_those_of_the_paper(data: Path) -> None:
    for file, tasks in {
        "table-2": ["nli"],
        "table-3": ["ner"],
        "table-4": ["qa"],
        "table-5": ["nli", "ner", "qa"],
    }.items():
        study = read_in(data, f"adjustment/{file}.yaml")
        assert list(study.tasks) == tasks
        for task in tasks:
            chosen = settings_for(TASKS[task].defaults, **study.training_settings(task, "mBERT"))
            told = {"nli": (2, 32, 5e-5), "ner": (3, 32, 2e-5), "qa": (2, 32, 3e-5)}[task]
            assert (chosen.epochs, chosen.batch, chosen.learning_rate) == told
            assert study.scorer_of(task, "mBERT") == ("squad" if task == "qa" else None)
    study = read_in(data, "adjustment/table-2.yaml", TARGET="ru")
    replay, adjusted = study.continual["Continual"], study.changes["Adjusted"][0]
    assert replay
    assert (replay.weight, replay.pairs, replay.anchor, replay.changes) == (0.01, 16, "original", ("Adjusted",))
    assert adjusted.arguments.model_dump()["pairs"] == replay.sentences == 30_000
    assert adjusted.seeded  # five adjustments, each followed by fine-tuning


def test_figure_1_measures_five_models(data: Path) -> None:
    plan = planned_in(data, "adjustment/figure-1.yaml")
    assert [(run.changes, run.continual, list(run.distances)) for run in plan.runs] == [
        ("Original", "", ["before", "after"]),
        ("Adjusted", "", ["before", "after"]),
        ("Adjusted", "Continual", ["after"]),
    ]
    twin = planned_in(data, "lab/adjustment-figure-1.yaml")
    assert [run.distances.keys() for run in twin.runs] == [run.distances.keys() for run in plan.runs]


@pytest.mark.parametrize("name", ["table-2", "table-3", "table-4", "table-7", "figure-1"])
def test_twins_of_adjustment_have_the_columns_of_their_originals(name: str, data: Path) -> None:
    original, twin = read_in(data, f"adjustment/{name}.yaml"), read_study(FOLDER / f"lab/adjustment-{name}.yaml")
    assert (twin.conditions, twin.tasks) == (original.conditions, original.tasks)
    for column, changes in original.changes.items():
        told = [{**one.arguments.model_dump()["settings"], "learning_rate": 5e-4} for one in changes]
        assert [one.arguments.model_dump()["settings"] for one in twin.changes[column]] == told
    assert "qla" in twin.targets


def test_unseen_languages_in_other_letters_have_columns_in_latin(data: Path) -> None:
    latin = ("swiss-german", "wolof", "maltese", "naija", "narabizi")
    for file in [file for file in FILES if file.startswith("unseen/") and Path(file).stem not in latin]:
        study = read_in(data, file)
        assert list(study.models) == ["mBERT", "mBERT+MLM", "mBERT (Latin)", "mBERT+MLM (Latin)", "MLM", "BiLSTM"]
        assert [bool(model.text) for model in study.models.values()] == [False, False, True, True, False, False]
        adapted = study.models["mBERT+MLM (Latin)"].changes[0].arguments.model_dump()["text"]
        assert adapted == (f"transliterated:{data / 'TEXT'}",)
        (lang,) = study.sources
        own = {"ug": "uyghur", "ckb": "sorani", "xmf": "georgian", "bxr": "buryat"}
        assert scheme_for(lang).name == own.get(lang, "uralic")


def test_published_values_stand_beside_measured_ones(data: Path) -> None:
    """Rows as the runs of the study will give them, each with the published score itself."""
    study = read_in(data, "first-align/table-1-pos.yaml")
    frame = published("first-align/table-1-pos")
    scores = {row["target"]: row["value"] for row in frame.filter(source="en", change="REF").iter_rows(named=True)}
    rows = pl.DataFrame(
        [
            {"study": study.name, "run": f"{change} {seed}", "model": "mBERT", "changes": change, "task": "pos",
             "source": "en", "target": target, "split": "test", "metric": "accuracy", "seed": seed,
             "value": (scores[target] + value(frame, source="en", target=target, change=change) * (change != "REF"))
             / 100, "n": 1000}
            for change in study.changes for seed in (0, 1) for target in study.targets
        ]
    )  # fmt: skip
    beside = with_published(deltas(rows), frame)
    assert len(beside) == 6 * 17
    assert beside.select((pl.col("delta") - pl.col("published")).abs().max()).item() < 1e-9
    assert beside.select((pl.col("reference") - pl.col("published_reference")).abs().max()).item() < 1e-9
    means = with_published(source_to_x(rows), frame).filter(target="X")
    assert means["published"].to_list() == pytest.approx([-0.0894, -0.0249, -0.0166, -0.0088, 0.0020, -0.0014])


@pytest.mark.parametrize(("name", "number"), ROWS.items())
def test_number_of_published_values(name: str, number: int) -> None:
    frame = published(name)
    assert len(frame) == number
    assert frame["place"].str.contains(r"^(Table \d|Section 4\.2)$").all()


@pytest.mark.parametrize(
    ("task", "target", "values"),
    [
        ("parse", "en", [88.98, -0.96, -0.66, -0.93, -0.55, 0.04, -0.09]),
        ("parse", "X", [53.23, -15.77, -6.51, -3.39, -1.47, 0.29, 1.00]),
        ("pos", "en", [96.51, -0.30, -0.25, -0.40, -0.00, 0.05, 0.02]),
        ("pos", "X", [79.37, -8.94, -2.49, -1.66, -0.88, 0.20, -0.14]),
        ("ner", "en", [83.30, -2.66, -2.14, -1.43, -0.63, -0.23, -0.12]),
        ("ner", "X", [64.17, -8.28, -5.09, -3.07, -0.79, -0.47, -0.13]),
    ],
)
def test_rows_of_table_1_that_are_known_by_heart(task: str, target: str, values: list[float]) -> None:
    name = "parsing" if task == "parse" else task
    rows = published(f"first-align/table-1-{name}").filter(source="en", target=target)
    assert rows["change"].to_list() == PAIRS
    assert rows["value"].to_list() == values


@pytest.mark.parametrize("name", ["parsing", "pos", "ner"])
def test_means_of_the_paper_are_near_those_of_its_own_tables(name: str) -> None:
    """They are not the same: the paper's SRC-X differs from the mean of its Tables 6-8 by up to 1.8 points."""
    frame = published(f"first-align/table-1-{name}")
    other = frame.filter(pl.col("target") != "X", pl.col("target") != pl.col("source"))
    means = other.group_by("source", "change").agg(mean=pl.col("value").mean(), n=pl.len())
    told = frame.filter(target="X").join(means, on=["source", "change"])
    assert len(told) == 21
    assert told["n"].min() == (16 if name == "pos" else 15)
    assert (told["mean"] - told["value"]).abs().max() < 1.8


def test_table_5_is_printed_as_scores() -> None:
    rows = published("first-align/table-5").with_columns(pl.col("printed").cast(pl.Float64))
    home = rows.filter(change="REF").select("task", "target", home="printed")
    beside = rows.filter(pl.col("change") != "REF").join(home, on=["task", "target"])
    assert len(beside) == 3 * 8 * 12
    assert (beside["printed"] - beside["home"] - beside["value"]).abs().max() < 1e-9
    assert rows.filter(change="REF").select((pl.col("printed") == pl.col("value")).all()).item()


@pytest.mark.parametrize(("name", "homes"), [("table-2", 8), ("table-3", 4), ("table-4", 22)])
def test_adjustment_is_printed_as_scores(name: str, homes: int) -> None:
    rows = published(f"adjustment/{name}").with_columns(pl.col("printed").cast(pl.Float64))
    home = rows.filter(change="Original").select("target", home="printed")
    beside = rows.filter(pl.col("change") != "Original").join(home, on="target")
    assert len(home) == homes
    assert (beside["printed"] - beside["home"] - beside["value"]).abs().max() < 1e-9


@pytest.mark.parametrize(("task", "target", "table"), [("nli", "{}", 2), ("ner", "{}", 3), ("qa", "{}-xquad", 4)])
def test_tables_of_adjustment_agree(task: str, target: str, table: int) -> None:
    """30K pairs, averaged sub-words and all tokens are the setting of the main tables."""
    main = published(f"adjustment/table-{table}")
    for number, lang, change in ((5, "ru", "30K"), (6, "hi", "avg"), (7, "hi", "all")):
        name = target.format(lang)
        rows = published(f"adjustment/table-{number}")
        adjusted = value(main, task=task, target=name, change="Adjusted")
        assert value(rows, task=task, target=name, change=change) == pytest.approx(adjusted, abs=0.0101)
        original = value(main, task=task, target=name, change="Original")
        assert value(rows, task=task, target=name, change="Original") == original


def test_more_parallel_text_helps_inference() -> None:
    sizes = published("adjustment/table-5").filter(pl.col("change") != "Original", task="nli")["value"].to_list()
    assert all(more > less for less, more in pairwise(sizes))


def test_every_file_stands_in_the_readme() -> None:
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    for file in FILES:
        folder, name = file.split("/")
        assert f"`{name}`" in readme.partition(f"## `{folder}/`")[2].partition("\n## ")[0], file


# --- against the papers' texts, where they are at hand ---

LABELS = {
    **{"arabic": "ar", "french": "fr", "german": "de", "turkish": "tr", "indo": "id", "russian": "ru", "finish": "fi"},
    **{"porthughese": "pt", "spanish": "es", "italian": "it", "slovenian": "sl", "czech": "cs", "polish": "pl"},
    **{"hindi": "hi", "chinese": "zh", "japanese": "ja", "english": "en"},
}
# rows that text extraction mixed up with their neighbours: (table, source, target)
MIXED = {(6, "ar", "ar"), (6, "ar", "zh"), (6, "ar", "ja"), (8, "en", "hi"), (8, "en", "ja"), (8, "ar", "ja")}


def rows_of_the_paper(text: str) -> dict[tuple[int, str, str], list[str]]:
    """Tables 6-8, each before its caption."""
    found: dict[tuple[int, str, str], list[str]] = {}
    parts = re.split(r"^Table [5678]:", text, flags=re.MULTILINE)[1:4]
    for table, part in zip((6, 7, 8), parts, strict=True):
        for source, target, values in re.findall(r"^(\w\w) - (\w+)\t(.*)$", part, flags=re.MULTILINE):
            if target.lower() in LABELS:
                found[table, source.lower(), LABELS[target.lower()]] = values.split("\t")[:7]
    return found


@pytest.mark.parametrize(("table", "name"), [(6, "parsing"), (7, "pos"), (8, "ner")])
def test_tables_6_to_8_are_those_of_the_paper(table: int, name: str) -> None:
    paper = rows_of_the_paper(shared(TEXTS["first-align"]).read_text(encoding="utf-8"))
    frame = raw(f"first-align/table-1-{name}").filter(pl.col("place") == f"Table {table}")
    checked = 0
    for (source, target), rows in frame.group_by("source", "target"):
        if (table, source, target) not in MIXED:
            cells = dict(zip(PAIRS, paper[table, str(source), str(target)], strict=True))
            assert {row["change"]: row["value"] for row in rows.iter_rows(named=True)} == {
                change: cell for change, cell in cells.items() if cell
            }
            checked += 1
    assert checked == 48 - sum(mixed == table and source != target for mixed, source, target in MIXED)


def sequences(name: str) -> list[tuple[str, ...]]:
    """The published values of a sidecar in the order in which a row of the paper's table has them."""
    frame = raw(name).with_columns(shown=printed(raw(name)))
    across = ["task", "source", "target"] if name.startswith("first-align") else ["model"] if "anc" in name else None
    if across:
        return [tuple(rows["shown"]) for _, rows in frame.group_by(across, maintain_order=True)]
    parts: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row in frame.iter_rows(named=True):
        if row["place"] == frame["place"][-1]:
            part = re.sub(r"^\w\w(-tydiqa|-xquad|-mlqa)?", "", row["target"])  # mixed, question, paragraph
            parts[part, row["change"]].append(row["shown"])
    return [tuple(values) for values in parts.values()]


@pytest.mark.parametrize(
    "name", [name for name in ROWS if not name.startswith(("first-align/table-1", "first-align/figures"))]
)
def test_rows_are_those_of_the_paper(name: str) -> None:
    text = shared(TEXTS[name.partition("/")[0]]).read_text(encoding="utf-8")
    lines = [re.sub(r"\*|\t[-–_](?=\t)", "", line) for line in text.splitlines()]
    found = {tuple(part.strip() for part in line.split("\t")[1:] if part.strip()) for line in lines}
    for row in sequences(name):
        assert row in found, f"{name}: no row {' '.join(row)} in the paper"


@pytest.mark.parametrize("name", ["parsing", "pos", "ner"])
def test_table_1_is_that_of_the_paper(name: str) -> None:
    text = shared(TEXTS["first-align"]).read_text(encoding="utf-8").partition("Table 1:")[0]
    frame = raw(f"first-align/table-1-{name}").filter(pl.col("place") == "Table 1")
    assert len(frame) == 6 * 7
    for _, rows in frame.group_by("source", "target"):
        assert "\t".join(rows["value"]) in text


@pytest.mark.slow
def test_a_twin_runs(bert: Path, tmp_path: Path) -> None:
    other = {"models": {"tiny": str(bert)}, "changes": ["REF", "1-2"], "seeds": 1, "settings.epochs": 1}
    results = run_study(FOLDER / "lab/table-1-pos.yaml", store=tmp_path / "store", set=other, device="cpu", workers=1)
    assert not results.failed
    assert results.deltas().select("target", "change").rows() == [
        (target, "1-2") for target in ("qla", "qlb", "qlc", "qld", "qlf")
    ]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["table-2", "table-4", "table-7", "figure-1"])
def test_twins_of_adjustment_run(name: str, bert: Path, tmp_path: Path) -> None:
    small = {"train": "lab:qla/train/40", "dev": "lab:qla/dev/10"}
    other = {"models": {"tiny": str(bert)}, "seeds": 1, "settings.epochs": 1, "sources.qla": small}
    file = FOLDER / f"lab/adjustment-{name}.yaml"
    results = run_study(file, store=tmp_path / "store", set=other, device="cpu", workers=0)
    assert not results.failed
    study = read_study(file)
    columns = [" ".join(filter(None, column)) for column in study.conditions]
    assert results.frame["changes"].unique(maintain_order=True).to_list() == columns
    assert results.tests["target"].unique(maintain_order=True).to_list() == list(study.targets)
    if name == "figure-1":
        named = results.distances.labelled().summary["model"].unique(maintain_order=True).to_list()
        after = [f"{column}, fine-tuned (nli)" for column in columns]
        assert named == ["Original", after[0], "Adjusted", *after[1:]]
