"""Everything that can be known before training is an error before training, in `validate` and in `run`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

import isogloss as ig
from isogloss.cli import main
from isogloss.core.errors import IsoglossError
from isogloss.store.entries import Store
from isogloss.studies.execution import run_study as module
from isogloss.studies.execution.checks import corpus_checks
from isogloss.studies.execution.run_study import check_plan, planned, run_study
from isogloss.text.transliteration import roman

SMALL: dict[str, Any] = {
    "name": "checked",
    "task": "pos",
    "sources": {"qla": {"train": "lab:qla/train/8", "dev": "lab:qla/dev/4"}},
    "targets": {"qlb": "lab:qlb/test/4"},
}
TREE = "1\tone\t_\t{tag}\t_\t_\t0\troot\t_\t_\n\n"


def errors_of(data: dict[str, Any], store: Store | None = None) -> list[str]:
    return list(map(str, check_plan(planned(data, device="cpu"), store).errors))


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A few small files: labelled, unlabelled, aligned, parallel."""
    (tmp_path / "unlabelled.conllu").write_text(TREE.format(tag="_") * 3)
    (tmp_path / "labelled.conllu").write_text(TREE.format(tag="NOUN") * 3)
    (tmp_path / "broken.conllu").write_text("1\tone\n\n")
    (tmp_path / "empty.txt").write_text("")
    pairs = ig.Laboratory(seed=0).bitext("qla", "qlb", 15)
    pairs.write(tmp_path / "qla-qlb.jsonl")
    for lang in ("en", "fr"):
        (tmp_path / f"text.{lang}").write_text("One sentence.\nTwo of them.\nThree.\n")
    (tmp_path / "words.tsv").write_text("dog\tchien\n")
    return tmp_path


def with_lexicon(path: Path) -> dict[str, Any]:
    return {"text": "lab:qlb/train/9", "size": 5, "initial": "lexicon", "lexicon": str(path)}


def adjustment(files: Path, pairs: int) -> dict[str, Any]:
    return {"bitext": str(files / "qla-qlb.jsonl"), "pairs": pairs}


# change of the study (from the folder of files) → what the one error contains
WRONG: dict[str, tuple[Callable[[Path], dict[str, Any]], list[str]]] = {
    "unlabelled target": (
        lambda files: {"targets": {"fr": str(files / "unlabelled.conllu")}},
        ["unlabelled.conllu:1: expected labelled items, got no UPOS tags in any of its 3 items"],
    ),
    "one unlabelled file of several": (
        lambda files: {"targets": {"fr": [str(files / "labelled.conllu"), str(files / "unlabelled.conllu")]}},
        ["unlabelled.conllu:1: expected labelled items"],
    ),
    "unlabelled training corpus": (
        lambda files: {"sources": {"qla": {"train": str(files / "unlabelled.conllu"), "dev": "lab:qla/dev/4"}}},
        ["unlabelled.conllu:1: expected labelled items"],
    ),
    "format": (lambda files: {"targets": {"fr": str(files / "broken.conllu")}}, ["broken.conllu:1: expected 10"]),
    "kind": (
        lambda files: {"task": "nli", "targets": {"fr": str(files / "labelled.conllu")}},
        ["labelled.conllu: expected one of the formats"],
    ),
    "domain of the laboratory": (
        lambda files: {"task": "nli", "targets": {"qlb": "lab:qlb/test/4/talk"}},
        ["lab:qlb/test/4/talk: only treebank and ner corpora"],
    ),
    "pairs": (
        lambda files: {"changes": {"REF": [], "ADJ": [{"adjust": adjustment(files, pairs=16)}]}},
        ["expected at most 15 for 'changes.ADJ.0.adjust.pairs', got 16", "15 sentence pairs in qla-qlb.jsonl"],
    ),
    "pairs of the laboratory": (
        lambda files: {"changes": {"REF": [], "A": [{"adjust": {"bitext": "lab:qla,qlb/train/10", "pairs": 250000}}]}},
        ["expected at most 10 for 'changes.A.0.adjust.pairs', got 250,000"],
    ),
    "sentences of continual learning": (
        lambda files: {"continual": {"bitext": "lab:qla,qlb/train/10", "sentences": 11}},
        ["expected at most 10 for 'continual.continual.sentences', got 11"],
    ),
    "sentences of distances": (
        lambda files: {"distances": {"bitext": "lab:qla,qlb/train/10", "sentences": 11}},
        ["expected at most 10 for 'distances.sentences', got 11"],
    ),
    "sentences of a measurement": (
        lambda files: {"measure": {"parallel": "lab:qla,qlb/dev/10", "sentences": 11}},
        ["expected at most 10 for 'measure.sentences', got 11"],
    ),
    "language of a measurement": (
        lambda files: {"measure": {"parallel": {lang: str(files / f"text.{lang}") for lang in ("en", "fr")}}},
        ["expected parallel text in 'qla' for 'measure.parallel', got only en, fr"],
    ),
    "layers to re-initialise": (
        lambda files: {"changes": {"REF": [], "deep": [{"reinit": "13"}]}},
        ["'changes.deep.0.reinit'", "the layers of 'laboratory' are 1-12, got 13"],
    ),
    "layers after pretraining": (
        lambda files: {
            "model": {"m": {"pretrain": {"texts": {"qla": "lab:qla/train/9"}, "layers": 2, "width": 16, "heads": 1}}},
            "changes": {"REF": [], "deep": [{"reinit": "3"}]},
        },
        ["'changes.deep.0.reinit'", "are 1-2, got 3"],
    ),
    "heads of pretraining": (
        lambda files: {"model": {"m": {"pretrain": {"texts": {"qla": "lab:qla/train/9"}, "width": 20, "heads": 3}}}},
        ["a width divisible by twice the 3 heads"],
    ),
    "layers to adjust": (
        lambda files: {"changes": {"REF": [{"adjust": {"bitext": "lab:qla,qlb/train/9", "layers": [3, 13]}}]}},
        ["'changes.REF.0.adjust'", "has the layers 0 … 12, not 13"],
    ),
    "layer of distances": (
        lambda files: {"distances": {"bitext": "lab:qla,qlb/train/9", "layer": 40}},
        ["'distances.layer'", "has the layers 0 … 12, not 40"],
    ),
    "layers of continual learning": (
        lambda files: {"continual": {"bitext": "lab:qla,qlb/train/9", "layers": 40}},
        ["'continual.continual.layers'", "not 40"],
    ),
    "measurement of the baseline": (
        lambda files: {"model": "bilstm", "measure": {"parallel": "lab:qla,qlb/dev/10"}},
        ["expected models with layers to measure for 'measure', got the model 'bilstm'"],
    ),
    "distances of the baseline": (
        lambda files: {"model": "bilstm", "distances": {"bitext": "lab:qla,qlb/train/9"}},
        ["expected models with layers to measure for 'distances'"],
    ),
    "interventions on the baseline": (
        lambda files: {"model": "bilstm", "changes": {"REF": [], "1": [{"reinit": "1"}]}},
        ["expected no interventions on a BiLSTM for 'changes.1', got 'reinit'"],
    ),
    "task of the baseline": (
        lambda files: {"model": "bilstm", "task": "nli"},
        ["expected tasks that a BiLSTM can do (pos, parse, ner) for 'tasks', got 'nli'"],
    ),
    "text change": (
        lambda files: {"text": {"x": [{"code_switch": {"lexicon": str(files / "labelled.conllu")}}]}},
        ["labelled.conllu:1: expected source<TAB>target"],
    ),
    "kind of a text change": (
        lambda files: {"task": "ner", "text": {"x": [{"reorder": "SOV"}]}},
        ["reorder"],
    ),
    "empty text": (
        lambda files: {"changes": {"REF": [], "MLM": [{"adapt": {"text": str(files / "empty.txt")}}]}},
        ["empty.txt: expected at least one item of the format 'text', got an empty file"],
    ),
    "text to transliterate": (
        lambda files: {"changes": {"REF": [{"adapt": {"text": f"transliterated:{files / 'empty.txt'}"}}]}},
        ["empty.txt: expected at least one item"],
    ),
    "lexicon of a vocabulary": (
        lambda files: {"changes": {"REF": [], "V": [{"extend_vocabulary": with_lexicon(files / "labelled.conllu")}]}},
        ["labelled.conllu:1: expected source<TAB>target"],
    ),
    "published values": (
        lambda files: {"published": str(files / "words.tsv")},
        ["words.tsv: expected the columns task, source"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_what_must_fail_is_refused(files: Path, case: str) -> None:
    change, parts = WRONG[case]
    errors = errors_of({**SMALL, "model": "laboratory", **change(files)})
    assert len(errors) == 1, errors
    assert all(part in errors[0] for part in parts), errors[0]


def test_what_is_right_passes(files: Path) -> None:
    changes = {"REF": [], "1": [{"reinit": "1-12"}], "A": [{"adjust": adjustment(files, pairs=15)}]}
    data = {
        **SMALL,
        "models": {"lab": "laboratory", "lora": {"base": "laboratory", "changes": [{"lora": {}}]}},
        "changes": changes,
        "measure": {"parallel": "lab:qla,qlb/dev/10", "sentences": 10},
        "text": {"": [], "noise": [{"noise": 0.1}]},
    }
    findings = check_plan(planned(data, device="cpu"), None)
    assert (findings.errors, findings.warnings) == ([], [])


def test_missing_packages_are_errors(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "peft", None)
    (error,) = errors_of({**SMALL, "model": "laboratory", "changes": {"REF": [{"lora": {}}]}})
    assert "'peft', which is not installed; run: pip install 'isogloss[adapters]'" in error
    monkeypatch.setitem(sys.modules, "uroman", None)
    roman._uroman.cache_clear()
    (files / "amharic.conllu").write_text(TREE.format(tag="NOUN").replace("one", "ቤት"), encoding="utf-8")
    change = {"text": {"x": [{"transliterate": {"langs": ["am"]}}]}, "targets": {"am": str(files / "amharic.conllu")}}
    (error,) = errors_of({**SMALL, "model": "laboratory", **change})
    assert "'uroman', which is not installed" in error
    monkeypatch.setitem(sys.modules, "datasets", None)
    errors = errors_of({**SMALL, "model": "laboratory", "targets": {"fr": "hub:some/dataset"}})
    assert errors == ["this needs the package 'datasets', which is not installed; run: pip install 'isogloss[hub]'"]


def test_labels_are_compared_with_those_of_training(files: Path) -> None:
    for name, tag in {"train": "NOUN", "french": "NN", "german": "NOUN"}.items():
        more = TREE.format(tag="PROPN") if name == "german" else ""
        (files / f"{name}.conllu").write_text(TREE.format(tag=tag) * 3 + more)
    source = {"train": str(files / "train.conllu"), "dev": str(files / "train.conllu")}
    data = {**SMALL, "model": "laboratory", "sources": {"en": source}}
    (error,) = errors_of({**data, "targets": {"fr": str(files / "french.conllu")}})
    assert "french.conllu: expected tags of the training corpus (NOUN), got only NN" in error
    findings = check_plan(planned({**data, "targets": {"de": str(files / "german.conllu")}}, device="cpu"), None)
    assert not findings.errors
    assert findings.warnings == ["pos: tags that do not occur in the training corpus cannot be predicted: PROPN"]


def test_run_refuses_before_any_work_and_lists_everything(
    files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object) -> None:
        raise AssertionError("work")

    monkeypatch.setattr(module, "_compute_missing", never)
    data = {**SMALL, "model": "laboratory", "targets": {n: str(files / "unlabelled.conllu") for n in ("fr", "de")}}
    data["changes"] = {"REF": [], "deep": [{"reinit": "13"}]}
    with pytest.raises(IsoglossError, match="2 errors") as caught:
        run_study(data, store=tmp_path / "store", device="cpu", workers=0)
    assert "unlabelled.conllu:1" in str(caught.value) and "are 1-12, got 13" in str(caught.value)


def test_validate_names_the_lines_of_the_study(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change, _ = WRONG["pairs"]
    study = files / "study.yaml"
    study.write_text(yaml.safe_dump({**SMALL, "model": "laboratory", **change(files)}, sort_keys=False))
    line = next(i for i, text in enumerate(study.read_text().splitlines(), 1) if "pairs: 16" in text)
    with pytest.raises(SystemExit) as leave:
        main.run(["validate", str(study)])
    streams = capsys.readouterr()
    assert leave.value.code == 3
    assert f"study.yaml:{line}: expected at most 15" in streams.err.replace("\n", "")
    assert not streams.out.rstrip().endswith("valid")


def test_a_corpus_is_read_once_for_a_store(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(files / "store")
    data = {**SMALL, "model": "laboratory", "targets": {"fr": str(files / "unlabelled.conllu")}}
    first = errors_of(data, store)

    def never(*_: object, **__: object) -> None:
        raise AssertionError("read again")

    monkeypatch.setattr(corpus_checks, "read_corpora", never)
    assert errors_of(data, store) == first != []
    assert json.loads((store.folder / "corpus_facts.json").read_text())
    (files / "unlabelled.conllu").write_text(TREE.format(tag="NOUN"))
    with pytest.raises(AssertionError, match="read again"):
        errors_of(data, store)


def test_a_reference_may_name_its_format(files: Path) -> None:
    """Lines of word and tag without a suffix are not recognised as NER unless the study says it."""
    (files / "entities.data").write_text("Ada B-PER\nsings O\n\n" * 3)
    plain, named = str(files / "entities.data"), f"ner-space:{files / 'entities.data'}"
    data = {**SMALL, "model": "laboratory", "task": "ner", "sources": {"en": {"train": named, "dev": named}}}
    assert errors_of({**data, "targets": {"en": named}}) == []
    (error,) = errors_of({**data, "targets": {"en": f"panx:{plain}"}})
    assert "entities.data:1: expected" in error
    (missing,) = errors_of({**data, "targets": {"en": f"ner-space:{files / 'nowhere'}"}})
    assert "nowhere: expected a file that can be read" in missing
    first, second = (planned({**data, "targets": {"en": name}}, device="cpu").runs[0] for name in (plain, named))
    assert first.evaluation != second.evaluation
