"""Corpora that a study makes of others: mixed, transliterated, by task; and the text of single models."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from shared_data import shared
from test_run_study import SETTINGS, run, study

import isogloss as ig
from isogloss.core.errors import InputError, IsoglossError, UsageError
from isogloss.studies.execution import run_job as work
from isogloss.studies.execution.corpora import read_corpora
from isogloss.studies.planning.explain import explain
from isogloss.studies.planning.fingerprints import Fingerprints
from isogloss.studies.planning.planner import plan_study
from isogloss.studies.schema.study_file import study_of

MIXED = "mixed:lab:qlb/test/6|lab:qla/test/6"
COMPARED = ["target", "split", "seed", "value"]


@pytest.fixture(autouse=True)
def _fresh_memory() -> None:
    work._worker_context.cache_clear()


def test_mixed_inference_pairs_are_those_of_the_library() -> None:
    lab = ig.Laboratory()
    mixed = read_corpora([MIXED], "nli", lang="qlb")
    assert mixed == ig.mixed_language(lab.nli("qlb", "test", 6), lab.nli("qla", "test", 6), seed=0)
    assert {pair.replaced for pair in mixed} == {"premise", "hypothesis"}


def test_questions_are_asked_in_either_language() -> None:
    lab = ig.Laboratory()
    for asked, told in (("qlb", "qla"), ("qla", "qlb")):
        mixed = read_corpora([f"mixed:lab:{asked}/test/6|lab:{told}/test/6"], "qa", lang="qlb")
        assert list(mixed) == list(ig.pair_languages(lab.qa(asked, "test", 6), lab.qa(told, "test", 6)))
        assert {(item.question_lang, item.context_lang) for item in mixed} == {(asked, told)}


def test_files_are_mixed_by_their_own_languages(tmp_path: Path) -> None:
    lab = ig.Laboratory()
    for lang in ("qla", "qlb"):
        lab.qa(lang, "test", 4).write(tmp_path / f"xquad.{lang}.json")
    (mixed,) = {
        (item.question_lang, item.context_lang)
        for item in read_corpora([f"mixed:{tmp_path}/xquad.qla.json|{tmp_path}/xquad.qlb.json"], "qa", lang="qlb")
    }
    assert mixed == ("qla", "qlb")


def test_the_name_of_an_mlqa_file_tells_more_than_that_of_the_target(tmp_path: Path) -> None:
    path = tmp_path / "test-context-en-question-es.json"
    ig.Laboratory().qa("qla", "test", 3).write(path)
    found = {(item.question_lang, item.context_lang) for item in read_corpora([str(path)], "qa", lang="es")}
    assert found == {("es", "en")}


def test_only_some_corpora_can_be_mixed() -> None:
    with pytest.raises(UsageError, match="only nli and qa corpora can be mixed, not treebank"):
        read_corpora([MIXED], "treebank", lang="qlb")
    with pytest.raises(UsageError, match="expected parallel pairs, got"):
        read_corpora(["mixed:lab:qlb/test/6|lab:qla/test/5"], "nli", lang="qlb")


@pytest.mark.parametrize("wrong", ["mixed:a.tsv", "mixed:a|b|c", "mixed:|b", "mixed:a|mixed:b|c", "mixed:lab:x|lab:y"])
def test_what_is_wrong_with_a_mixture_is_told(wrong: str, bert: Path) -> None:
    with pytest.raises(IsoglossError, match="study: expected"):
        study_of(study(bert, task="nli", targets={"qlb": wrong}))


def test_a_mixture_is_known_by_both_of_its_parts(tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / name).write_text(name)
    (tmp_path / "d").write_text("a")
    one, same, turned, other = (
        Fingerprints().corpus([f"mixed:{tmp_path}/{x}|{tmp_path}/{y}"]) for x, y in ("ab", "db", "ba", "ac")
    )
    assert one == same
    assert one != turned
    assert one != other
    prints = Fingerprints()
    prints.corpus([f"mixed:{tmp_path}/a|{tmp_path}/missing"])
    assert list(prints.missing) == [f"{tmp_path}/missing"]
    assert isinstance(prints.missing[f"{tmp_path}/missing"], InputError)


def test_transliterated_corpora_are_those_of_the_library(tmp_path: Path) -> None:
    text = ig.Laboratory().text("qlj", 5)
    assert read_corpora(["transliterated:lab:qlj/train/5"], "text") == ig.transliterate(text)
    (tmp_path / "raw.txt").write_text("ياخشىمۇسىز\n", encoding="utf-8")
    assert list(read_corpora([f"transliterated:{tmp_path}/raw.txt"], "text", lang="ug")) == ["yaxşimusiz"]
    plain, latin = (Fingerprints().corpus([f"{start}{tmp_path}/raw.txt"]) for start in ("", "transliterated:"))
    assert plain != latin


def test_a_model_may_have_text_of_its_own(bert: Path, tmp_path: Path) -> None:
    """All that it is taught and tested on is rewritten, and nothing that another model reads."""
    models = {"plain": str(bert), "Latin": {"base": str(bert), "text": ["transliterate"]}}
    data = {**study(bert, changes={"REF": []}), "models": models, "targets": {"qlj": "lab:qlj/test/8"}, "seeds": 1}
    data["sources"] = {"qlj": {"train": "lab:qlj/train/16", "dev": "lab:qlj/dev/8"}}
    del data["model"]
    results = run(data, tmp_path)
    assert not results.failed
    lab, model = ig.Laboratory(), ig.load_model(bert, device="cpu")
    for name, rewritten in {"plain": lambda corpus: corpus, "Latin": ig.transliterate}.items():
        banks = [rewritten(lab.treebank("qlj", split, n)) for split, n in (("train", 16), ("dev", 8), ("test", 8))]
        told = ig.transfer(model, "pos", banks[0], banks[1], {"qlj": banks[2]}, **SETTINGS)
        rows = results.frame.filter(pl.col("model") == name)
        assert rows.select(COMPARED).equals(told.frame.select(COMPARED))


def test_targets_may_be_for_one_task(bert: Path, tmp_path: Path) -> None:
    targets = {"qla": "lab:qla/test/5", "qlb": {"pos": "lab:qlb/test/5"}, "qlc": {"ner": "lab:qlc/test/5"}}
    data = study(bert, task=["pos", "ner"], targets=targets, changes={"REF": []}, seeds=1)
    results = run(data, tmp_path)
    assert not results.failed
    scored = results.tests.select("task", "target").unique(maintain_order=True).rows()
    assert scored == [("pos", "qla"), ("pos", "qlb"), ("ner", "qla"), ("ner", "qlc")]
    assert ("targets", "qla, qlb (pos), qlc (ner)") in list(explain(plan_study(study_of(data)), None))
    with pytest.raises(IsoglossError, match=r"a corpus for the task 'pos' or 'ner' under targets\.x, got only qa"):
        study_of({**data, "targets": {**targets, "x": {"qa": "lab:qla/test/5"}}})
    with pytest.raises(IsoglossError, match="expected a target for the task 'ner', got none"):
        study_of({**data, "targets": {"qlb": targets["qlb"]}})


def test_names_have_variables_too() -> None:
    data: dict[str, Any] = {
        "name": "to-${TARGET}",
        "variables": {"TARGET": "qlb"},
        "model": "bilstm",
        "task": "nli",
        "sources": {"qla": {"train": "lab:qla/train/9", "dev": "lab:qla/dev/9"}},
        "targets": {"${TARGET}-mixed": "mixed:lab:${TARGET}/test/6|lab:qla/test/6"},
    }
    assert study_of(data).targets == {"qlb-mixed": {"": (MIXED,)}}
    other = study_of(data, set={"TARGET": "qlc"})
    assert (other.name, list(other.targets)) == ("to-qlc", ["qlc-mixed"])


def test_adjustment_may_be_done_for_each_seed(bert: Path, tmp_path: Path) -> None:
    quick = {"batch": 8, "learning_rate": 1e-3}
    change = {"adjust": {"bitext": "lab:qla,qlb/train/12", "seed": "run", "settings": quick}}
    data = study(bert, changes={"REF": [], "adjusted": [change]}, seeds=2)
    results = run(data, tmp_path)
    assert not results.failed
    assert len(list(tmp_path.rglob("model-*/manifest.json"))) == 2
    lab, model = ig.Laboratory(), ig.load_model(bert, device="cpu")
    test = {lang: lab.treebank(lang, "test", n) for lang, n in (("qla", 9), ("qlb", 7))}
    banks = lab.treebank("qla", "train", 16), lab.treebank("qla", "dev", 8)
    before = [partial(ig.adjust, bitext=lab.bitext("qla", "qlb", 12), **quick)]
    told = ig.transfer(model, "pos", *banks, test, before=before, seeds=range(2), **SETTINGS)
    rows = results.frame.filter(pl.col("changes") == "adjusted")
    assert rows.select(COMPARED).equals(told.frame.select(COMPARED))


def test_real_test_sets_are_mixed() -> None:
    """XNLI and XQuAD of Hindi and English; of MLQA there are files for both directions."""
    pairs = [str(shared(f"data/xnli/test-{lang}.tsv.xz")) for lang in ("hi", "en")]
    mixed, hindi, english = (
        read_corpora([one], "nli", lang=lang)
        for one, lang in zip((f"mixed:{'|'.join(pairs)}", *pairs), ("hi", "hi", "en"))
    )
    assert len(mixed) == 5010
    for item, own, other in zip(mixed, hindi, english, strict=True):
        expected = (other.premise, own.hypothesis) if item.replaced == "premise" else (own.premise, other.hypothesis)
        assert (item.premise, item.hypothesis, item.label) == (*expected, own.label)
    files = [str(shared(f"data/xquad/xquad.{lang}.json.xz")) for lang in ("hi", "en")]
    for first, second in (files, files[::-1]):
        asked = read_corpora([f"mixed:{first}|{second}"], "qa", lang="hi")
        langs = ("hi", "en") if first == files[0] else ("en", "hi")
        assert {(item.question_lang, item.context_lang) for item in asked} == {langs}
        assert len(asked) == 1190
    mlqa = shared("data/mlqa/dev/dev-context-en-question-hi.json.xz")
    assert {(item.question_lang, item.context_lang) for item in read_corpora([str(mlqa)], "qa", lang="hi")} == {
        ("hi", "en")
    }


def test_domains_of_the_laboratory() -> None:
    lab = ig.Laboratory(3)
    assert read_corpora(["lab:qla/test/4/talk@3"], "treebank") == lab.treebank("qla", "test", 4, "talk")
    assert read_corpora(["lab:qla/test/4/chronicle@3"], "ner") == lab.ner("qla", "test", 4, "chronicle")
    with pytest.raises(UsageError, match="only treebank and ner corpora of the laboratory have domains, not nli"):
        read_corpora(["lab:qla/test/4/talk"], "nli")
