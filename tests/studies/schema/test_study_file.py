from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest
from toy_driver import STUDY

from isogloss.core.errors import InputError, IsoglossError
from isogloss.studies.schema.interventions import INTERVENTIONS
from isogloss.studies.schema.settings import FINE_TUNING_SETTINGS
from isogloss.studies.schema.study_file import read_study, study_of
from isogloss.tasks.scoring import ScoringSettings
from isogloss.training.engine.settings import NoisyTrainingSettings

FILE = """\
name: table
variables:
  DATA: data
model: bilstm
task: pos
changes:
  REF: []
  "1-2": [{reinit: "1-2"}]
source:
  en: {train: "${DATA}/en.conllu", dev: [a.conllu, "hub:x/y:dev"]}
targets:
  en: lab:qla/test/100
  no: {pos: "lab:qlb/test/100@3"}
settings: {epochs: 3, pos: {learning_rate: 5e-5}}
seeds: 2
measure: {parallel: "lab:qla,qlb/test/20", when: [after]}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "study.yaml"
    path.write_text(FILE, encoding="utf-8")
    return path


def test_a_study_is_read(file: Path) -> None:
    study = read_study(file)
    assert study.tasks == ("pos",)
    assert study.sources["en"].train == {"": (str(file.parent / "data/en.conllu"),)}
    assert study.sources["en"].dev == {"": (str(file.parent / "a.conllu"), "hub:x/y:dev")}
    assert study.targets["no"] == {"pos": ("lab:qlb/test/100@3",)}
    assert study.settings_of("pos", "bilstm") == {"epochs": 3, "learning_rate": 5e-5}
    assert study.seeds == (0, 1)
    assert study.changes["1-2"][0].arguments.model_dump()["layers"] == "1-2"
    assert study.measure
    assert study.measure.when == ("after",)


def test_overrides_reach_the_study(file: Path) -> None:
    study = read_study(
        file, {"seeds": [7], "DATA": "/other", "settings.pos.epochs": 1, "changes": "1-2", "reference": "1-2"}
    )
    assert (study.seeds, study.settings_of("pos", "bilstm")["epochs"], list(study.changes)) == ((7,), 1, ["1-2"])
    assert study.sources["en"].train == {"": ("/other/en.conllu",)}


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('seeds: 2', 'seads: 2', ['study.yaml:15: expected known keys', "did you mean 'seeds'?"]),
        ('name: table', 'title: table', ['study.yaml:1: expected known keys', "'title' in a study"]),
        ('name: table\n', '', ["expected the key 'name', got none"]),
        ('name: table', 'name: a b', ['study.yaml:1: expected']),
        ('task: pos', 'task: po', ['study.yaml:5: expected one of', "did you mean 'pos'?"]),
        ('reinit:', 'reint:', ['study.yaml:8: expected one of', "did you mean 'reinit'?"]),
        ('{reinit: "1-2"}', '{reinit: {layer: 1}}', ['study.yaml:8: expected known keys', "did you mean 'layers'?"]),
        ('epochs: 3', 'epochs: three', ["study.yaml:14: expected a whole number for 'settings.epochs', got"]),
        ('epochs: 3', 'epochs: 0', ["study.yaml:14: expected a whole number above 0 for 'settings.epochs', got 0"]),
        ('epochs: 3', 'epoch: 3', ['study.yaml:14: expected one of epochs, batch,', "did you mean 'epochs'?"]),
        ('pos: {learning_rate', 'poss: {learning_rate', ['study.yaml:14: expected one of', "did you mean 'pos'?"]),
        ('pos: {learning_rate', 'bilst: {learning_rate', ['study.yaml:14: expected one of', "did you mean 'bilstm'?"]),
        ('pos: {learning_rate', 'bilstm: {rate', ["yaml:14: expected one of", "'settings.bilstm', got 'rate'"]),
        ('pos: {learning_rate', 'bilstm: {bilstm: {}, learning_rate', ['study.yaml:14: expected one of']),
        ('pos: {learning_rate: 5e-5}', 'bilstm: 3', ['study.yaml:14: expected settings (epochs: 3, …)']),
        ('model: bilstm', 'model: {pos: bilstm}', ["'pos', which is a task or setting too"]),
        ('model: bilstm', 'model: {epochs: bilstm}', ["'epochs', which is a task or setting too"]),
        ('task: pos\n', '', ["expected 'tasks' with 'sources' and 'targets', or 'measure' alone"]),
        ('targets:\n  en: lab:qla/test/100\n  no: {pos: "lab:qlb/test/100@3"}\n', '', ["'sources' and 'targets'"]),
        ('seeds: 2', 'seeds: [1, 1]', ['study.yaml:15: expected how many seeds (5), or which']),
        ('seeds: 2', 'seeds: -1', ['study.yaml:15: expected how many seeds']),
        ('lab:qla/test/100', 'lab:qla/100', ['study.yaml:12: expected lab:LANGUAGE/SPLIT/NUMBER']),
        ('when: [after]', 'when: [later]', ["study.yaml:16: expected 'before' or 'after' for 'measure.when.0'"]),
        ('when: [after]', 'indexes: [ckaa]', ['study.yaml:16: expected one of', "did you mean 'cka'?"]),
        ('lab:qla/test/100', 'lab:qzz/test/100', ['study.yaml:12: expected one of']),
        ('lab:qla/test/100', 'lab:qla,qlb/test/100', ['study.yaml:12: expected lab:LANGUAGE']),
        ('when: [after]', 'changes: [2-3]', ["study.yaml:16: expected one of", "for 'measure.changes', got '2-3'"]),
        ('when: [after]', 'seeds: [9]', ["study.yaml:16: expected seeds of the study ([0, 1]) for 'measure.seeds'"]),
        ('seeds: 2', 'seeds: 2\nreference: 1-3', ["study.yaml:16: expected one of REF, 1-2", "did you mean '1-2'?"]),
        ('dev: [a.conllu', 'dv: [a.conllu', ['study.yaml:10: expected known keys (train, dev)', "did you mean 'dev'?"]),
        ('no: {pos:', 'no: {ner:', ["expected a corpus for the task 'pos' under targets.no, got only ner"]),
        ('REF: []', 'BASE: []', ["condition of 'changes' for 'reference'"]),
        ('REF: []', 'REF: [{pretrain: {texts: {en: x}}}]', ["which belongs in 'models'"]),
        ('model: bilstm', 'model: {a: {pretran: {}}}', ["did you mean 'pretrain'?"]),
        ('model: bilstm', 'model: {a: {base: x, changes: [{pretrain: {texts: {en: x}}}]}}', ['expected a base, or']),
        ('model: bilstm', 'model: ./nowhere', ['study.yaml:4: expected a model folder with config.json']),
        ('model: bilstm', 'model: bilstm\nmodels: bilstm', ["expected 'model' or 'models', got both"]),
        ('model: bilstm', 'model: [{base: x}]', ['expected names for these models']),
        ('${DATA}', '${DATEN}', ["unknown variable 'DATEN'"]),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_line(file: Path, old: str, new: str, said: list[str]) -> None:
    assert old in FILE
    file.write_text(FILE.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(IsoglossError) as caught:
        read_study(file)
    for words in said:
        assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_override_that_is_wrong_is_not_blamed_on_the_file(file: Path) -> None:
    with pytest.raises(IsoglossError, match=r"^--set settings.epochs: expected a whole number"):
        read_study(file, {"settings.epochs": "x"})
    with pytest.raises(IsoglossError, match=r"^--set tasks: expected one of pos, parse"):
        read_study(file, {"task": "x"})


def test_settings_by_task_and_model() -> None:
    given = {"epochs": 3, "batch": 4, "parse": {"epochs": 5}, "BiLSTM": {"epochs": 7, "parse": {"epochs": 9}}}
    data = {**{k: v for k, v in STUDY.items() if k != "model"}, "models": {"BiLSTM": "bilstm", "m": "laboratory"}}
    study = study_of({**data, "settings": given})
    found = {(model, task): study.settings_of(task, model) for model in ("m", "BiLSTM") for task in ("pos", "parse")}
    assert {key: one["epochs"] for key, one in found.items()} == {
        ("m", "pos"): 3, ("m", "parse"): 5, ("BiLSTM", "pos"): 7, ("BiLSTM", "parse"): 9,
    }  # fmt: skip
    assert {one["batch"] for one in found.values()} == {4}
    written = study.model_dump(mode="json", exclude_defaults=True)
    assert written["settings"] == given
    assert study_of({**data, "settings": written["settings"]}) == study


MEASURED = {"name": "m", "model": "bilstm", "measure": {"parallel": "lab:qla,qlb/test/9", "source": "qla"}}


def test_a_study_may_only_measure() -> None:
    measure = {**MEASURED["measure"], "when": ["before"]}
    study = study_of({**MEASURED, "measure": measure})
    assert (study.tasks, study.sources, study.targets) == ((), {}, {})
    for wrong in ({"when": ["before", "after"]}, {"when": ["after"]}, {"source": None}):
        with pytest.raises(IsoglossError, match=r"expected 'when: \[before\]' and a 'source' in 'measure'"):
            study_of({**MEASURED, "measure": {**measure, **wrong}})
    for more in ({"targets": {"qla": "lab:qla/test/9"}}, {"settings": {"epochs": 1}}, {"measure": None}):
        with pytest.raises(IsoglossError, match="or 'measure' alone"):
            study_of({**MEASURED, "measure": measure, **more})


def test_what_is_set_is_meant_from_here(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = tmp_path / "here"
    (here / "model").mkdir(parents=True)
    (here / "model/config.json").write_text("{}")
    monkeypatch.chdir(here)
    set = {
        "models": "./model",
        "targets.en": "en.conllu",
        "sources.en.dev": ["dev.conllu", "lab:qla/dev/9"],
        "measure.parallel": {"en": "en.txt", "fr": "fr.txt"},
        "changes.new": [{"adapt": {"text": "text.txt"}}],
        "published": "p.csv",
        "DATA": "absent",
    }
    study = read_study(file, set)
    assert study.models["model"].base == str(here / "model")
    assert study.targets["en"] == {"": (str(here / "en.conllu"),)}
    assert study.sources["en"].dev == {"": (str(here / "dev.conllu"), "lab:qla/dev/9")}
    assert study.sources["en"].train == {"": (str(here / "absent/en.conllu"),)}
    assert study.measure
    assert study.measure.parallel == {"en": str(here / "en.txt"), "fr": str(here / "fr.txt")}
    assert study.changes["new"][0].arguments.model_dump()["text"] == (str(here / "text.txt"),)
    assert study.published == str(here / "p.csv")
    assert read_study(file, {"targets.en": "${DATA}/x"}).targets["en"] == {"": (str(tmp_path / "data/x"),)}
    assert read_study(file, {"models": "model"}).models["model"].base == str(here / "model")


@pytest.mark.parametrize("text", ["", "- 1\n", "just text", "a: [\n"])
def test_files_that_are_no_study(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.yaml").write_text(text)
    with pytest.raises(InputError, match=r"x\.yaml"):
        read_study(tmp_path / "x.yaml")


def test_a_model_may_be_made_or_changed() -> None:
    models = {
        "made": {"pretrain": {"texts": {"qla": "lab:qla/train/10"}, "layers": 2}},
        "changed": {"base": "bilstm", "changes": [{"adapt": {"text": "lab:qlb/train/10"}}]},
    }
    study = study_of({**{k: v for k, v in STUDY.items() if k != "model"}, "models": models})
    assert study.models["made"].base is None
    assert [change.name for change in study.models["changed"].changes] == ["adapt"]


def test_settings_of_a_study_are_those_of_training() -> None:
    kinds = (NoisyTrainingSettings, ScoringSettings)
    assert set(FINE_TUNING_SETTINGS.fields) == {field.name for kind in kinds for field in fields(kind)}


def test_every_stored_change_has_a_seed_of_its_own() -> None:
    assert all("seed" in kind.model_fields for kind in INTERVENTIONS.values() if kind.stored)
