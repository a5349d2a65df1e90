from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import torch
from toy import fingerprint, treebank

import isogloss as ig
from isogloss.core.errors import IsoglossError, UnknownName, UsageError
from isogloss.core.hashing import digest
from isogloss.models.interventions.intervention import apply_interventions
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.results.rows.results import Results
from isogloss.store.entries import Store
from isogloss.store.garbage import garbage
from isogloss.tasks import TASKS
from isogloss.training.engine.identity import corpus_identity, model_identity
from isogloss.training.engine.progress import EpochMetrics
from isogloss.training.finetuning import transfer as module
from isogloss.training.finetuning.finetuned_files import load_finetuned

TRAIN, DEV = treebank(24), treebank(8, seed=1)
TEST = {"fr": treebank(9, "fr"), "en": treebank(7, seed=2), "ru": treebank(5, "ru")}
QUICK: dict[str, Any] = {"epochs": 2, "batch": 8, "learning_rate": 3e-3}


def run(model: LoadedModel, **options: Any) -> Results:
    return ig.transfer(model, **{"task": "pos", "train": TRAIN, "dev": DEV, "test": TEST, **QUICK, **options})


def never(*_: object, **__: object) -> None:
    raise AssertionError("this was done before")


def test_a_row_for_every_target_and_seed(bert: LoadedModel) -> None:
    results = run(bert, seeds=range(2))
    rows = results.frame
    assert rows.select("target", "split", "seed", "n").rows() == [
        (target, split, seed, n)
        for seed in range(2)
        for target, split, n in [("fr", "test", 9), ("en", "test", 7), ("ru", "test", 5), ("en", "dev", 8)]
    ]
    assert set(rows["source"]) == {"en"}
    assert rows["run"].n_unique() == 2
    assert results.table()["seeds"].to_list() == [2, 2, 2]


def test_rows_say_whether_the_model_can_read_the_text(bert: LoadedModel, tmp_path: Path) -> None:
    """Against plain counts; the laboratory's Georgian script is not in the vocabulary of the toy."""
    test = {"qlg": ig.Laboratory().treebank("qlg", "test", 6), **TEST}
    with pytest.warns(UserWarning, match=r"qlg \(.*cannot read it: \d+ % of the tokens are unknown"):
        results = run(bert, test=test, out=tmp_path)
    rows = {row["target"]: row for row in results.tests.iter_rows(named=True)}
    for target, corpus in test.items():
        texts = [tree.text for tree in corpus]
        ids = [id for text in texts for id in bert.tokenizer.encode(text, add_special_tokens=False)]
        unknown = ids.count(bert.tokenizer.unk_token_id) / len(ids)
        assert rows[target]["unknown"] == pytest.approx(unknown)
        assert rows[target]["characters_per_token"] == pytest.approx(sum(map(len, texts)) / len(ids))
        assert rows[target]["readable"] == (unknown <= 0.15)
    assert not rows["qlg"]["readable"]
    stored = pl.read_parquet(tmp_path / "results.parquet")
    assert stored.filter(target="qlg", split="test")["unknown"][0] == rows["qlg"]["unknown"]
    assert results.table().filter(target="qlg")["readable"].to_list() == [False]
    baseline = ig.transfer("bilstm", "pos", TRAIN, DEV, TEST, epochs=1, batch=8)
    assert baseline.frame["unknown"].is_null().all()  # no sub-words of pretraining


def test_predictions_add_up_to_the_scores(bert: LoadedModel) -> None:
    results = run(bert)
    predictions = results.predictions.collect()
    assert predictions["target"].to_list() == ["fr"] * 9 + ["en"] * 7 + ["ru"] * 5
    assert predictions.schema["seed"] == predictions.schema["item"] == pl.Int64, "as in the stores that there are"
    for row in results.tests.iter_rows(named=True):
        mine = predictions.filter(pl.col("target") == row["target"])
        assert mine["item"].to_list() == list(range(row["n"]))
        assert row["value"] == mine["accuracy.correct"].sum() / mine["accuracy.total"].sum()
        pairs = [(json.loads(g), json.loads(p)) for g, p in mine.select("gold", "prediction").rows()]
        assert [gold for gold, _ in pairs] == [tree.upos for tree in TEST[row["target"]]]
        assert mine["accuracy.correct"].to_list() == [sum(map(str.__eq__, g, p)) for g, p in pairs]


def test_no_test_sets_make_no_rows(bert: LoadedModel) -> None:
    results = run(bert, test={})
    assert results.frame["split"].to_list() == ["dev"] and not len(results.predictions.collect())


def test_a_network_with_one_answer_for_all_is_told_of(bert: LoadedModel) -> None:
    lab = ig.Laboratory()
    pairs = {
        "train": lab.nli("qla", "train", 6),
        "dev": lab.nli("qla", "dev", 6),
        "test": {"qlb": lab.nli("qlb", "test", 2)},
    }
    stuck = replace(TASKS["nli"], predict=lambda _network, batch, _labels: ["neutral"] * len(batch.first_row))
    with pytest.warns(UserWarning, match="degenerate, one class is predicted for the whole dev set") as told:
        results = run(bert, task=stuck, seeds=[3], **pairs)
    assert f"nli qla seed 3, run {results.frame['run'][0]}: " in str(told[0].message)


def test_what_is_done_is_not_done_again(bert: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = run(bert, seeds=range(2), out=tmp_path)
    assert first.frame.equals(run(bert, seeds=range(2)).frame), "keeping things changes the result"
    assert first.frame.equals(pl.read_parquet(tmp_path / "results.parquet"))
    monkeypatch.setattr(module, "evaluate_targets", never)
    monkeypatch.setattr(module, "finetune", never)
    again = run(bert, seeds=range(2), out=tmp_path)
    assert again.frame.equals(first.frame)
    assert again.predictions.collect().equals(first.predictions.collect())
    with pytest.raises(AssertionError, match="done before"):
        run(bert, seeds=[2], out=tmp_path)


def test_new_test_sets_are_scored_with_the_network_at_hand(
    bert: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = run(bert, out=tmp_path)
    monkeypatch.setattr(module, "finetune", never)
    more = run(bert, out=tmp_path, test={**TEST, "de": treebank(4, "de")})
    assert more.tests["target"].to_list() == ["fr", "en", "ru", "de"]
    assert more.tests["value"].to_list()[:3] == first.tests["value"].to_list()


def test_a_damaged_entry_is_quarantined_and_recomputed(bert: LoadedModel, tmp_path: Path) -> None:
    first = run(bert, out=tmp_path)
    store = Store(tmp_path)
    assert garbage(store) == [], "nothing to remove after a finished run"
    (evaluation,) = (id for id in store.ids() if id.startswith("evaluation"))
    (store.place(evaluation) / "rows.parquet").write_bytes(b"damaged")
    assert run(bert, out=tmp_path).frame.equals(first.frame)
    assert [name.partition(".")[0] for name in store.quarantined()] == [evaluation]


def test_a_second_process_waits_for_the_first(
    bert: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = run(bert, out=tmp_path)
    store = Store(tmp_path)
    (evaluation,) = (id for id in store.ids() if id.startswith("evaluation"))
    away = store.place(evaluation).rename(tmp_path / "away")
    lock = store.lock(evaluation)
    assert lock is not None
    monkeypatch.setattr(module, "evaluate_targets", never)
    monkeypatch.setattr("time.sleep", lambda _: away.rename(store.place(evaluation)))  # the first one finishes
    assert run(bert, out=tmp_path).frame.equals(first.frame)
    lock.release()


@pytest.mark.parametrize(
    "other", [{"epochs": 3}, {"train": treebank(24, seed=9)}, {"dev": treebank(8, seed=9)}, {"task": "parse"}]
)
def test_another_run_is_never_taken_for_this_one(
    bert: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, other: dict[str, Any]
) -> None:
    run(bert, out=tmp_path)
    monkeypatch.setattr(module, "finetune", never)
    with pytest.raises(AssertionError, match="done before"):
        run(bert, out=tmp_path, **other)


def test_an_interrupted_run_goes_on_to_the_same_end(bert: LoadedModel, tmp_path: Path) -> None:
    whole = run(bert, out=tmp_path / "whole")
    seen: list[EpochMetrics] = []

    def stop(seed: int, report: EpochMetrics) -> None:
        seen.append(report)
        if report.score is not None:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        run(bert, out=tmp_path / "parts", progress=stop, checkpoint_steps=1)
    store = Store(tmp_path / "parts")
    (work,) = (store.folder / "work").iterdir()
    assert not store.ids() and work.name.startswith("finetuned-pos-en-seed0-")
    assert [path.name for path in work.iterdir()] == ["checkpoints"]
    resumed = run(bert, out=tmp_path / "parts")
    assert resumed.frame.equals(whole.frame)
    assert not work.exists() and sorted(id.partition("-")[0] for id in store.ids()) == ["evaluation", "finetuned"]
    assert {path.name for path in store.place(work.name).iterdir()} == {"log.tsv", "manifest.json", "model"}
    stores = [Store(tmp_path / name) for name in ("whole", "parts")]
    networks = [load_finetuned(found.need(work.name).checked_folder() / "model").network for found in stores]
    assert fingerprint(networks[0]) == fingerprint(networks[1])


def zeroed(model: LoadedModel, *, seed: int) -> LoadedModel:
    with torch.no_grad():
        model.body.get_input_embeddings().weight.zero_()  # type: ignore[operator]
    return model


def test_changes_are_made_on_a_copy_with_seeds_of_their_own(bert: LoadedModel) -> None:
    before, seeds = model_identity(bert), []

    def note(model: LoadedModel, *, seed: int) -> LoadedModel:
        seeds.append(seed)
        return model

    results = run(bert, before=[zeroed, note], seeds=range(2))
    assert model_identity(bert) == before
    assert set(results.frame["changes"]) == {"zeroed + note"}
    assert len(set(seeds)) == 2
    assert results.frame["run"][0] != run(bert).frame["run"][0]
    after = apply_interventions(bert, [zeroed], 0)
    assert after.body is after.network is not bert.body
    assert apply_interventions(bert, [], 0) is bert


def test_a_second_loss_reaches_the_loop(bert: LoadedModel) -> None:
    steps: list[int] = []

    def pull(network: torch.nn.Module, step: int) -> torch.Tensor:
        steps.append(step)
        return 0.0 * next(network.parameters()).sum()

    run(bert, continual=pull)
    assert steps == list(range(6))


def test_identities_are_of_content(bert: LoadedModel, tmp_path: Path) -> None:
    assert corpus_identity(TRAIN) == corpus_identity(treebank(24)) != corpus_identity(TRAIN[:23])
    assert corpus_identity(TRAIN) != corpus_identity(treebank(24, "fr"))
    bert.body.save_pretrained(tmp_path)  # type: ignore[operator]
    bert.tokenizer.save_pretrained(tmp_path)
    same = replace(bert, pooler={})  # which is no part of the body
    assert model_identity(ig.load_model(tmp_path, device="cpu")) == model_identity(same) != model_identity(bert)
    assert digest(1, 2) != digest(12)


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"task": "poss"}, UnknownName, "did you mean 'pos'"),
        ({"epoch": 2}, TypeError, "unexpected keyword argument 'epoch'"),
        ({"task": "ner"}, UsageError, "train: the task 'ner' reads a ner corpus"),
        ({"test": {"fr": treebank(0)}}, UsageError, "test 'fr': the corpus is empty"),
        ({"seeds": []}, UsageError, "seeds: expected"),
        ({"seeds": [1, 1]}, UsageError, "each once"),
    ],
)
def test_nonsense_is_an_error(bert: LoadedModel, options: dict[str, Any], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        run(bert, **options)


@pytest.mark.parametrize("make", [lambda lab: lab.treebank, lambda lab: lab.nli])
def test_the_laboratory_in_one_line_each(bert: LoadedModel, make: Callable[[Any], Any]) -> None:
    corpus = make(ig.Laboratory(seed=0))
    task = "nli" if "nli" in corpus.__name__ else "parse"
    results = ig.transfer(
        bert, task, corpus("qla", "train", 12), corpus("qla", "dev", 4), {"qlb": corpus("qlb", "test", 4)}, epochs=1
    )
    assert results.tests["target"].unique().to_list() == ["qlb"]
    assert results.frame["value"].is_between(0, 1).all()


def test_corpora_without_labels_are_errors_before_a_model_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "load_model", never)
    bare = [tree.with_nodes(upos=["_"] * len(tree.nodes)) for tree in TEST["fr"]]
    unlabelled = TEST["fr"].with_items(bare)
    with pytest.raises(IsoglossError) as caught:
        ig.transfer("some-model", "pos", unlabelled, DEV, {"fr": unlabelled, "ru": TEST["ru"]})
    assert str(caught.value).count("no UPOS tags in any of its 9 items") == 2


def test_items_without_labels_are_left_out(bert: LoadedModel) -> None:
    bare = TEST["ru"][0].with_nodes(upos=["_"] * len(TEST["ru"][0].nodes))
    partly = TEST["ru"].with_items([*TEST["ru"], bare])
    with pytest.warns(UserWarning, match="1 of 6 items are left out"):
        results = run(bert, test={"ru": partly})
    assert results.frame.drop("run").equals(run(bert, test={"ru": TEST["ru"]}).frame.drop("run"))


def test_a_target_that_fails_costs_only_its_rows(
    bert: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The scores of the other targets are those of a run without the target; the same call tries again."""
    task, failing = TASKS["pos"], [True]

    def encode(model: LoadedModel, corpus: Any, labels: Any) -> Any:
        if failing[0] and corpus is TEST["fr"]:
            raise OSError("the disk was unplugged")
        return task.encode(model, corpus, labels)

    strange = replace(task, encode=encode)
    results = run(bert, task=strange, seeds=range(2), out=tmp_path)
    assert results.failed == dict.fromkeys(["fr, seed 0", "fr, seed 1"], "OSError: the disk was unplugged")
    others = {name: corpus for name, corpus in TEST.items() if name != "fr"}
    plain = run(bert, test=others, seeds=range(2))
    assert results.frame.equals(plain.frame)
    assert pl.read_parquet(tmp_path / "results.parquet").equals(results.frame)
    assert results.predictions.collect().equals(plain.predictions.collect())

    failing[0], complete = False, run(bert, seeds=range(2))
    monkeypatch.setattr(module, "finetune", never)
    again = run(bert, task=strange, seeds=range(2), out=tmp_path)
    assert not again.failed and again.frame.equals(complete.frame)


@pytest.mark.parametrize("lost", ["dev", "all"])
def test_nothing_is_reported_without_a_dev_score_or_any_target(bert: LoadedModel, lost: str) -> None:
    task, epochs = TASKS["pos"], [0]

    def encode(model: LoadedModel, corpus: Any, labels: Any) -> Any:
        epochs[0] += corpus is DEV  # first for training, then for the evaluation
        if (lost == "dev" and corpus is DEV and epochs[0] > 1) or (lost == "all" and corpus in TEST.values()):
            raise OSError("the disk was unplugged")
        return task.encode(model, corpus, labels)

    with pytest.raises(OSError, match="unplugged"):
        run(bert, task=replace(task, encode=encode))
