"""Published values are comparable where languages, metric, model, recipe and data are those of the paper."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl
import pytest
from result_rows import result_rows

from isogloss.core.errors import InputError
from isogloss.results.rows.study_results import StudyResults
from isogloss.results.tables.formats import comma_separated, latex, markdown
from isogloss.studies.planning.published_rows import published_rows
from isogloss.studies.schema.published_conditions import read_conditions
from isogloss.studies.schema.study import Study
from isogloss.studies.schema.study_file import read_study

STUDIES = Path(__file__).parents[3] / "studies"
WITH_VALUES = sorted(path for path in STUDIES.glob("*/*.yaml") if "\npublished:" in path.read_text("utf-8"))
POS = STUDIES / "first-align/table-1-pos.yaml"
MBERT = {"model_type": "bert", "hidden_size": 768, "num_hidden_layers": 12, "vocab_size": 119547}


def study_in(path: Path, **changes: object) -> Study:
    needed = re.findall(r"^  (\w+): null", path.read_text("utf-8"), flags=re.MULTILINE)
    return read_study(path, {**{name: f"/data/{name}" for name in needed}, **changes})


def reasons(study: Study, **cell: str) -> set[str]:
    rows = published_rows(study)
    assert rows
    return {str(row["mismatch"]) for row in rows if all(row[name] == value for name, value in cell.items())}


@pytest.mark.parametrize("path", WITH_VALUES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_study_file_as_it_is_agrees_with_its_paper(path: Path) -> None:
    study = study_in(path)
    assert study.published_conditions, "every study with published values declares their conditions"
    assert reasons(study) == {""}
    rows, values = published_rows(study), pl.read_csv(str(study.published), infer_schema=False)
    assert rows and len(rows) == len(values)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"models.mBERT": "xlm-roberta-base"}, "paper: bert-base-multilingual-cased; yours: xlm-roberta-base"),
        ({"settings.epochs": 1}, "paper: epochs 6; yours: epochs 1"),
        ({"settings.learning_rate": 2e-4}, "paper: learning_rate 5e-05; yours: learning_rate 0.0002"),
        ({"settings.warmup": 0.0}, "paper: warmup 0.1; yours: warmup 0.0"),
        (
            {"source": {"en": {"train": "/x/en_gum-ud-train.conllu.xz", "dev": "/x/dev.conllu"}}},
            "paper: trained on en_ewt-ud-train.conllu; yours: en_gum-ud-train.conllu",
        ),
        ({"text": {"noisy": [{"noise": {"rate": 0.1}}]}}, "paper: unchanged text; yours: changed text"),
    ],
)
def test_what_differs_is_the_reason(changes: dict[str, object], reason: str) -> None:
    assert reasons(study_in(POS, **changes), source="en") == {reason}


def test_settings_that_only_save_time_or_memory_do_not_matter() -> None:
    assert reasons(study_in(POS, **{"settings.accumulate": 4, "settings.precision": "bf16", "seeds": 1})) == {""}


@pytest.mark.parametrize(("scorer", "named"), [("mlqa", "mlqa"), (None, "of the data set")])
def test_answers_by_another_script_than_that_of_the_paper(scorer: str | None, named: str) -> None:
    study = study_in(STUDIES / "adjustment/table-4.yaml", settings={"scorer": scorer} if scorer else {})
    assert reasons(study) == {f"paper: scorer squad; yours: scorer {named}"}


def test_a_condition_with_another_recipe() -> None:
    other = study_in(POS, **{"changes.1-2": [{"reinit": {"layers": "1-2", "scheme": "pytorch"}}]})
    assert reasons(other, change="1-2") == {"paper: scheme model; yours: scheme pytorch"}
    assert reasons(other, change="3-4") == {""}
    none = study_in(POS, **{"changes.1-2": []})
    assert reasons(none, change="1-2") == {"paper: reinit; yours: none"}
    table_5 = STUDIES / "adjustment/table-5.yaml"
    few = [{"adjust": {"bitext": "/data/en-ru.jsonl", "pairs": 150, "seed": "run"}}]
    adjusted = study_in(table_5, **{"changes.250K": few})
    assert reasons(adjusted, change="250K") == {"paper: pairs 250000; yours: pairs 150"}
    assert reasons(adjusted, change="100K") == {""}


def test_another_test_set() -> None:
    dev = {"fr": "/x/dev-fr.tsv.xz", "en": "hub:unimelb-nlp/wikiann/en:test"}
    study = study_in(STUDIES / "first-align/table-1-ner.yaml", targets=dev)
    assert reasons(study, target="fr") == {"paper: tested on hub:unimelb-nlp/wikiann/fr:test; yours: dev-fr.tsv"}
    assert reasons(study, target="en") == {""}


@pytest.mark.parametrize(("facts", "same"), [(MBERT, True), ({**MBERT, "hidden_size": 384}, False)])
def test_a_folder_is_known_by_its_configuration(tmp_path: Path, facts: dict[str, object], same: bool) -> None:
    folder = tmp_path / "my-model"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(facts))
    expected = "" if same else "paper: bert-base-multilingual-cased; yours: my-model"
    assert reasons(study_in(POS, **{"models.mBERT": str(folder)})) == {expected}


def test_each_model_has_its_reason() -> None:
    study = study_in(POS, models={"mBERT": "bert-base-multilingual-cased", "xlmr": "xlm-roberta-base"})
    assert reasons(study, model="mBERT") == {""}
    assert reasons(study, model="xlmr") == {"paper: bert-base-multilingual-cased; yours: xlm-roberta-base"}


def results_of(study: Study, targets: list[str]) -> StudyResults:
    scores = {
        (change, target): [0.7 - 0.01 * i + seed / 100 for seed in range(2)]
        for i, target in enumerate(targets)
        for change in ("REF", "1-2")
    }
    published = pl.DataFrame(published_rows(study), infer_schema_length=None)
    return StudyResults(result_rows(scores, model="mBERT", study=study.name), published=published)


ALL = ["en", "ru", "ar", "fr", "de", "tr", "id", "pt", "es", "fi", "it", "sl", "cs", "pl", "hi", "zh", "ja"]


@pytest.mark.parametrize(
    ("targets", "reason"),
    [
        (ALL, ""),
        (["en", "fr", "de", "tr"], "mean of 16 languages; yours has 3"),
        ([*ALL[:-1], "th"], "mean of other languages: ja not in yours, th only in yours"),
        ([*ALL, "fr-gsd"], ""),
    ],
)
def test_a_mean_is_compared_over_the_same_languages(targets: list[str], reason: str) -> None:
    table = results_of(study_in(POS), targets).paper_table()
    mean = next(row for row in table.body if row[0].text == "en-X")
    assert [(cell.published, cell.mismatch) for cell in mean[1:]] == [("79.37", reason), ("-8.94", reason)]
    french = next(row for row in table.body if row[0].text == "en-fr")
    assert french[1].mismatch == ""
    texts = markdown(table), latex(table, caption="T"), comma_separated(table)
    assert all((reason in text) == bool(reason) or not reason for text in texts)
    if reason:
        assert "(79.37)¹" in texts[0]
        assert r"\textcolor{gray}{ (79.37)$^1$}" in texts[1]
        assert f"(79.37: {reason})" in texts[2]


def test_the_metric_of_table_3_is_stated() -> None:
    study = study_in(STUDIES / "adjustment/table-3.yaml", TARGET="ru")
    rows = published_rows(study)
    assert rows and {row["metric"] for row in rows} == {"f1"}
    published = pl.DataFrame(rows, infer_schema_length=None)
    scores = {(c, t): [0.6, 0.61] for c in ("Original", "Adjusted") for t in ("en", "ru")}
    parts = [result_rows(scores, model="mBERT", task="ner", metric=metric) for metric in ("f1", "token_f1")]
    table = StudyResults(pl.concat(parts), published=published, reference="Original").paper_table()
    beside = {(row[0].text, row[1].text): row[2].published for row in table.body}
    assert beside == {
        ("f1", "en-en"): "",
        ("f1", "en-ru"): "63.43",
        ("token_f1", "en-en"): "",
        ("token_f1", "en-ru"): "",
    }
    assert any("token-level micro F1" in note and "seqeval" in note for note in table.footnotes)


def test_an_invalid_file_of_conditions_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "paper.yaml"
    path.write_text("paper: x\nmodels: {a: {name: b}}\nlanguages: 3\n")
    with pytest.raises(InputError, match=r"paper\.yaml:3"):
        read_conditions(path)
