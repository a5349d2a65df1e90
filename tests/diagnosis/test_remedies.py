"""Which remedies are tried, in which order, and what a system is made of."""

from __future__ import annotations

from dataclasses import replace

import pytest

from isogloss.core.errors import UnknownName
from isogloss.diagnosis.remedies import REMEDIES
from isogloss.diagnosis.remedies.remedy import LanguageFindings
from isogloss.diagnosis.search import select_remedies
from isogloss.diagnosis.systems import comparison_systems, systems_study, treatment_system
from isogloss.diagnosis.treatments import ADAPT, DiagnosisInputs, StudyDocument, TrainingSizes, Treatment
from isogloss.models.tokenization.statistics import ScriptCoverage, TokenizerStatistics
from isogloss.studies.schema.study_file import study_of
from isogloss.studies.schema.write_study import select_model

FULL = DiagnosisInputs("laboratory", "qlj", "pos", ("lab:qlj/train/5",), ("lab:qlj/dev/5",), ("lab:qlj/test/5",),
                ("lab:qlj/train/9",), ("transliterated:lab:qlj/train/9",), ("switched.conllu",))  # fmt: skip


def findings(
    script: str, unknown: float = 0.0, pieces: float = 1.5, neighbours: tuple[str, ...] = ()
) -> LanguageFindings:
    scripts = {script: ScriptCoverage(1.0, 500)}
    return LanguageFindings(TokenizerStatistics(100, pieces, 0.5, unknown, 1.0, 1.0, scripts), neighbours)


def order(found: LanguageFindings, material: DiagnosisInputs = FULL) -> list[str]:
    return [one.name for one in select_remedies(None, material, found).order]


def test_the_diagnosis_suggests_the_order() -> None:
    strange = findings("Arab", unknown=0.5, neighbours=("Latn",))
    assert order(strange) == ["transliterate", "vocabulary", "code-switching", "adapters", "noise"]
    at_home = findings("Latn", neighbours=("Latn", "Cyrl"))
    assert order(at_home) == ["code-switching", "noise", "vocabulary", "adapters"]
    assert order(findings("Latn", pieces=2.5))[0] == "vocabulary"


def test_what_cannot_be_tried_is_left_out_with_its_reason() -> None:
    bare = DiagnosisInputs("laboratory", "qlj", "pos")
    chosen = select_remedies(None, bare, findings("Arab"))
    assert [one.name for one in chosen.order] == ["noise"]
    assert set(chosen.left_out) == {"transliterate", "vocabulary", "adapters", "code-switching"}
    assert select_remedies(None, FULL, findings("Latn")).left_out == {
        "transliterate": "the language is written in Latin script"
    }


def test_named_remedies_keep_their_order() -> None:
    chosen = select_remedies(["noise", "transliterate"], FULL, findings("Arab"))
    assert [one.name for one in chosen.order] == ["noise", "transliterate"]
    assert select_remedies([], FULL, findings("Arab")).order == ()
    with pytest.raises(UnknownName, match="did you mean 'noise'"):
        select_remedies(["noises"], FULL, findings("Arab"))


def test_each_remedy_is_one_more_step() -> None:
    plain, adapted = Treatment(), Treatment((ADAPT,))
    steps = {name: REMEDIES[name].step for name in REMEDIES}
    transliterated = Treatment((steps["transliterate"], ADAPT))
    assert REMEDIES["transliterate"].apply(plain) == transliterated
    assert REMEDIES["vocabulary"].apply(adapted) == Treatment((steps["vocabulary"], ADAPT))
    assert REMEDIES["adapters"].apply(transliterated) == Treatment((steps["transliterate"], steps["adapters"]))
    assert REMEDIES["noise"].apply(adapted).name == "adapted + noise"
    assert REMEDIES["code-switching"].apply(plain).name == "code-switching"
    assert REMEDIES["transliterate"].apply(transliterated) == transliterated


def untuned_study(name: str, inputs: DiagnosisInputs, treatment: Treatment | None = None) -> StudyDocument:
    systems = [treatment_system(treatment, inputs)] if treatment else comparison_systems(inputs)
    return systems_study(name, systems, {system.name: system.untuned_settings for system in systems}, inputs)


def test_studies_of_systems_can_be_read() -> None:
    sizes = TrainingSizes(finetune={"epochs": 3}, bilstm={"epochs": 9}, adapt={"epochs": 2}, vocabulary=7)
    four = study_of(untuned_study("comparison", replace(FULL, sizes=sizes, seeds=(0, 1))))
    assert list(four.models) == ["fine-tuned", "adapted", "monolingual", "BiLSTM"]
    assert [four.settings_of("pos", name).get("epochs") for name in four.models] == [3, 3, 3, 9]
    every = Treatment()
    for name in ("noise", "code-switching", "adapters", "vocabulary", "transliterate"):
        every = REMEDIES[name].apply(every)
    study = study_of(untuned_study(every.name, replace(FULL, sizes=sizes, seeds=(5,), threads=2), every))
    (model,) = study.models.values()
    assert [change.name for change in model.changes] == ["extend_vocabulary", "language_adapter", "task_adapter"]
    assert model.changes[0].arguments.text == ("transliterated:lab:qlj/train/9",)  # type: ignore[attr-defined]
    assert [change.name for change in model.text] == ["transliterate"]
    assert study.settings_of("pos", every.name) == {"epochs": 3, "character_noise": 0.1, "subword_dropout": 0.1}
    assert study.sources["qlj"].train[""][1].endswith("switched.conllu")
    assert (study.seeds, study.threads, study.name) == (
        (5,), 2, "qlj-pos-transliterated-new-sub-words-adapters-noise-code-switching",
    )  # fmt: skip


def test_without_raw_text_two_systems_are_compared() -> None:
    bare = DiagnosisInputs("laboratory", "qlj", "pos", FULL.train, FULL.dev, FULL.test)
    assert list(study_of(untuned_study("comparison", bare)).models) == ["fine-tuned", "BiLSTM"]


def test_one_system_alone() -> None:
    study = select_model(
        untuned_study("comparison", replace(FULL, sizes=TrainingSizes(finetune={"epochs": 3}))), "BiLSTM"
    )
    assert study["models"] == {"BiLSTM": "bilstm"} and study["settings"] == {}
    assert study_of(study).settings_of("pos", "BiLSTM") == {}
