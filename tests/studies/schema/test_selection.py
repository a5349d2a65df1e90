"""A choice made by `--set` narrows a study; a name that the file never had stays a mistake, told with its line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from isogloss.core.errors import InputError, IsoglossError, UsageError
from isogloss.studies.schema.study_file import read_study

FILE = """\
name: adjusted
model: bilstm
changes:
  REF: []
  es: [{reinit: "1"}]
  ru: [{reinit: "2"}]
continual:
  "": none
  continual-es: {bitext: "lab:qla,qlb/train/9", changes: [es]}
  continual-ru: {bitext: "${RUSSIAN}", changes: [ru]}
  continual-both: {bitext: "lab:qla,qlb/train/9", changes: [es, ru]}
tasks: [pos, ner]
source: {qla: {train: "lab:qla/train/9", dev: "lab:qla/dev/9"}}
targets:
  qla: lab:qla/test/9
  entities: {ner: "lab:qlb/test/9"}
  tags: {pos: "lab:qlb/test/9"}
published: values.csv
measure: {parallel: "lab:qla,qlb/test/9", changes: [es, ru]}
distances: {bitext: "lab:qla,qlb/test/9", changes: [ru]}
variables: {RUSSIAN: null}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "study.yaml"
    path.write_text(FILE, encoding="utf-8")
    return path


def test_columns_take_with_them_what_is_only_theirs(file: Path) -> None:
    """And a variable that only a column left out needs needs no value."""
    study = read_study(file, {"changes": ["REF", "es"]})
    assert [*study.changes] == ["REF", "es"]
    assert {name: one and one.changes for name, one in study.continual.items()} == {
        "": None, "continual-es": ("es",), "continual-both": ("es",),
    }  # fmt: skip
    assert study.measure
    assert study.measure.changes == ("es",)
    assert study.distances is None
    assert (study.reference, study.published) == ("REF", str(file.parent / "values.csv"))


def test_all_columns_is_the_whole_study(file: Path) -> None:
    whole = read_study(file, {"RUSSIAN": "x"})
    assert read_study(file, {"RUSSIAN": "x", "changes": ["REF", "es", "ru"]}) == whole
    assert read_study(file, {"RUSSIAN": "x", "tasks": ["pos", "ner"], "continual": [*whole.continual]}) == whole


def test_without_the_reference_the_first_column_is_it_and_nothing_is_published_of_it(file: Path) -> None:
    study = read_study(file, {"changes": ["ru", "es"], "RUSSIAN": "x"})
    assert (study.reference, study.published) == ("ru", None)
    assert read_study(file, {"changes": ["es", "REF"]}).reference == "REF"
    chosen = read_study(file, {"changes": ["ru", "es"], "RUSSIAN": "x", "reference": "es", "published": "p.csv"})
    assert chosen.reference == "es"
    assert chosen.published


@pytest.mark.parametrize(
    ("chosen", "columns"),
    [
        ("continual-es", [("es", "continual-es")]),
        (["continual-es", "none"], [("REF", ""), ("es", ""), ("es", "continual-es"), ("ru", "")]),
        ("none", [("REF", ""), ("es", ""), ("ru", "")]),
        ("continual-both", [("es", "continual-both"), ("ru", "continual-both")]),
    ],
)
def test_continual_learning_takes_with_it_the_columns_that_it_is_not_for(
    file: Path, chosen: object, columns: list[tuple[str, str]]
) -> None:
    assert read_study(file, {"continual": chosen}).conditions == columns


def test_continual_learning_of_one_column_narrows_what_is_measured_too(file: Path) -> None:
    study = read_study(file, {"continual": "continual-es"})
    assert (study.reference, study.published, study.distances) == ("es", None, None)
    assert study.measure
    assert study.measure.changes == ("es",)


def test_columns_and_continual_learning_chosen_together(file: Path) -> None:
    study = read_study(file, {"changes": ["es"], "continual": "continual-both"})
    assert study.conditions == [("es", "continual-both")]
    with pytest.raises(UsageError, match=r"--set continual.continual-es.changes: expected one of REF, ru"):
        read_study(file, {"changes": ["REF", "ru"], "continual": ["none", "continual-es"]})
    with pytest.raises(IsoglossError, match="a kind of 'continual' for every condition, got none for REF"):
        read_study(file, {"changes": ["REF", "es"], "continual": "continual-es"})
    with pytest.raises(UsageError, match=r"--set measure.changes: expected one of REF, es"):
        read_study(file, {"changes": ["REF", "es"], "measure.changes": ["ru"]})


def test_continual_learning_without_names(file: Path) -> None:
    some = 'continual: [none, {bitext: "lab:qla,qlb/train/9", changes: [ru]}]\n'
    file.write_text(re.sub(r"continual:\n(  .*\n)*", some, FILE), encoding="utf-8")
    assert read_study(file).conditions == [("REF", ""), ("es", ""), ("ru", ""), ("ru", "continual")]
    assert [*read_study(file, {"changes": ["REF", "es"]}).continual] == [""]
    assert read_study(file, {"continual": "continual"}).conditions == [("ru", "continual")]


def test_tasks_take_with_them_targets_and_sources_of_others(file: Path) -> None:
    assert [*read_study(file, {"task": "pos", "RUSSIAN": "x"}).targets] == ["qla", "tags"]
    assert [*read_study(file, {"tasks": ["ner"], "RUSSIAN": "x"}).targets] == ["qla", "entities"]
    sources = 'sources: {qla: {train: {ner: "lab:qla/train/9", pos: "lab:qla/train/9", parse: x}, dev: x}, qlb: {train: {pos: x, ner: x}, dev: x}}'  # noqa: E501
    file.write_text(re.sub(r"source: .*", sources, FILE), encoding="utf-8")
    assert [*read_study(file, {"task": "parse", "RUSSIAN": "x", "targets": "qla"}).sources] == ["qla"]
    with pytest.raises(IsoglossError, match=r"a corpus for the task 'pos' under targets.entities, got only ner"):
        read_study(file, {"task": "pos", "RUSSIAN": "x", "targets": ["qla", "entities"]})
    with pytest.raises(IsoglossError, match=r"a corpus for the task 'qa' under sources.qla.train"):
        read_study(file, {"task": "qa", "RUSSIAN": "x"})


@pytest.mark.parametrize(
    ("old", "new", "set", "said"),
    [
        ("changes: [es]", "changes: [ess]", {"changes": ["REF", "ru"]},
         "study.yaml:9: expected one of REF, ru as condition of 'changes' for 'continual.continual-es.changes', got"),
        ("changes: [es]", "changes: [es, ess]", {"changes": ["REF", "ru"]}, "study.yaml:9: expected one of REF, ru"),
        ("changes: [es, ru]}", "changes: [es, rru]}", {"changes": ["REF", "es"]}, "got 'rru'"),
        ("published: values.csv", "reference: Ref", {"changes": ["es"]}, "yaml:18: expected one of es as condition"),
        ("changes: [ru]}\nvar", "changes: [rru]}\nvar", {"changes": ["REF"]}, "study.yaml:20: expected one of REF"),
        ("{ner:", "{nner:", {"task": "pos"}, "study.yaml:16: expected one of"),
        ("{ner:", "{qa:", {"task": "pos"}, "a corpus for the task 'pos' under targets.entities, got only qa"),
    ],
)  # fmt: skip
def test_a_name_that_the_file_never_had_is_told_with_its_line(
    file: Path, old: str, new: str, set: dict[str, object], said: str
) -> None:
    assert old in FILE
    file.write_text(FILE.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_study(file, {"RUSSIAN": "x", **set})
    assert said in str(caught.value)


def test_an_unknown_kind_of_continual_learning(file: Path) -> None:
    with pytest.raises(
        IsoglossError, match="unknown name under 'continual' 'continual-ee'; did you mean 'continual-es'"
    ):
        read_study(file, {"continual": "continual-ee"})


def test_what_has_no_name_comes_first(file: Path) -> None:
    """Else two columns would have the name of one."""
    kinds = [{"bitext": "lab:qla,qlb/train/9"}, "none"]
    study = read_study(file, {"continual": kinds, "text": {"x": [], "": []}})
    assert ([*study.continual], [*study.text]) == (["", "continual"], ["", "x"])
