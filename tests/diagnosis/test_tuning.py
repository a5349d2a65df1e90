"""The settings of every system are chosen before systems are compared: on toys whose best settings are known."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml

import isogloss as ig
from isogloss.core.errors import IsoglossError, UsageError
from isogloss.diagnosis.selection_data import FOLD_COUNT, MIN_DEV_SENTENCES, fold_indices
from isogloss.diagnosis.treatments import TrainingSizes
from isogloss.diagnosis.verdict import Verdict
from isogloss.studies.planning import job as planned_job

LABELLED = {"train": "lab:qlj/train/40", "dev": f"lab:qlj/dev/{MIN_DEV_SENTENCES}", "test": "lab:qlj/test/10"}
# the encoder is better than the BiLSTM with its best settings, and worse with the published ones (5e-5, 6 epochs)
SCORES, BEST = {"plain": 0.9, "bilstm": 0.85}, {"plain": (2e-4, 12), "bilstm": (3e-3, 30)}
Diagnose = Callable[..., Verdict]


@pytest.fixture
def diagnose(tmp_path: Path, bert: Path, monkeypatch: pytest.MonkeyPatch) -> Diagnose:
    monkeypatch.setattr(planned_job, "STAGE_FUNCTIONS_MODULE", "diagnose_toys")
    monkeypatch.setenv("TOY_LOG", str(tmp_path / "log"))
    monkeypatch.setenv("TOY_SCORES", json.dumps({**SCORES, "noise": 0.95}))
    monkeypatch.setenv("TOY_BEST", json.dumps({**BEST, "noise": (1e-4, 6)}))

    def run(**options: Any) -> Verdict:
        usual: dict[str, Any] = {**LABELLED, "text": (), "remedies": [], "seeds": 3, "sizes": TrainingSizes()}
        usual |= {"parallel": "lab:qla,qld,qlj/dev/10", "out": tmp_path / "out"}
        return ig.diagnose(bert, lang="qlj", workers=0, device="cpu", **(usual | options))  # type: ignore[no-any-return]

    return run


def trained(tmp_path: Path) -> Counter[str]:
    return Counter((tmp_path / "log").read_text().splitlines())


def chosen(verdict: Verdict) -> dict[str, tuple[float, int]]:
    rows = verdict.tuning.filter("chosen")
    assert rows["system"].n_unique() == rows.height
    return {row["system"]: (row["learning_rate"], row["epochs"]) for row in rows.to_dicts()}


def test_the_published_recipe_and_the_best_one_give_different_verdicts(diagnose: Diagnose, tmp_path: Path) -> None:
    untuned = diagnose(tune=False, out=tmp_path / "untuned")
    assert (untuned.level, untuned.best) == ("Undecided", "BiLSTM")
    assert untuned.tuning.is_empty() and untuned.selection == ""
    assert "Learning rates and epochs were not searched" in report(untuned)
    verdict = diagnose()
    assert (verdict.level, verdict.best) == ("Easy", "fine-tuned")
    assert chosen(verdict) == {"fine-tuned": (pytest.approx(2e-4), 12), "BiLSTM": (pytest.approx(3e-3), 30)}
    means = dict(verdict.systems.select("system", "test").iter_rows())
    assert means == {"fine-tuned": pytest.approx(0.9, abs=0.02), "BiLSTM": pytest.approx(0.85, abs=0.02)}


def test_seeds_share_one_search_and_its_last_network(diagnose: Diagnose, tmp_path: Path) -> None:
    verdict = diagnose()
    trials = Counter(verdict.tuning["system"])
    assert trained(tmp_path) == {  # the first seed of the final training is a trial
        "plain 0": trials["fine-tuned"], "plain 1": 1, "plain 2": 1,
        "bilstm 0": trials["BiLSTM"], "bilstm 1": 1, "bilstm 2": 1,
    }  # fmt: skip
    assert max(trials.values()) <= 12
    networks = list((tmp_path / "out" / "store" / "entries" / "finetuned").iterdir())
    assert len(networks) == 1  # the best; those of trials are removed
    before = trained(tmp_path)
    again = diagnose()
    assert trained(tmp_path) == before  # a second diagnosis repeats nothing
    assert again.tuning.equals(verdict.tuning) and again.systems.equals(verdict.systems)


def test_an_interrupted_search_resumes(diagnose: Diagnose, tmp_path: Path) -> None:
    whole = diagnose(out=tmp_path / "whole")
    expected = trained(tmp_path)
    (tmp_path / "log").unlink()

    def interrupt_after(jobs: int) -> Callable[..., None]:
        left = [jobs]

        def watch(job: Any, outcome: Any, total: int) -> None:
            left[0] -= outcome.state == "done"
            if left[0] < 0:
                raise KeyboardInterrupt

        return watch

    for jobs in (2, 5, 7):
        with pytest.raises(KeyboardInterrupt):
            diagnose(out=tmp_path / "cut", watch=interrupt_after(jobs))
    verdict = diagnose(out=tmp_path / "cut")
    assert trained(tmp_path) == expected
    assert verdict.tuning.equals(whole.tuning)


def test_what_was_tried_is_shown(diagnose: Diagnose) -> None:
    verdict = diagnose()
    text = report(verdict)
    assert "## Settings tried" in text
    assert f"Settings and systems were chosen on the dev set of {MIN_DEV_SENTENCES} sentences." in text
    rows = verdict.tuning.filter(system="fine-tuned", epochs=12).sort("learning_rate").to_dicts()
    cells = [
        f"{row['learning_rate']:.3g}: {100 * row['dev']:.1f}{' (chosen)' if row['chosen'] else ''}" for row in rows
    ]
    assert " · ".join(cells) in text and "0.0002" in text
    stored = json.loads((verdict.folder / "verdict.json").read_text())
    assert stored["tuning"] == verdict.tuning.to_dicts() and stored["selection"] == verdict.selection
    settings = yaml.safe_load(verdict.recipe.read_text())["settings"]["fine-tuned"]
    assert (settings["learning_rate"], settings["epochs"]) == (pytest.approx(2e-4), 12)


def test_settings_of_the_user_are_not_searched(diagnose: Diagnose) -> None:
    sizes = TrainingSizes(finetune={"learning_rate": 5e-5, "epochs": 6}, bilstm={"epochs": 20})
    tuning = diagnose(sizes=sizes).tuning
    assert tuning.filter(system="fine-tuned").select("learning_rate", "epochs").rows() == [(5e-5, 6)]
    assert set(tuning.filter(system="BiLSTM")["epochs"]) == {20}
    assert tuning.filter(system="BiLSTM")["learning_rate"].n_unique() > 3


def test_remedies_are_tuned_too(diagnose: Diagnose) -> None:
    verdict = diagnose(remedies=["noise"])
    assert chosen(verdict)["noise"] == (pytest.approx(1e-4), 6)
    assert verdict.best == "noise"


def test_trials_that_diverge_lose(diagnose: Diagnose, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOY_DIVERGES_ABOVE", "0.008")
    verdict = diagnose()
    failed = verdict.tuning.filter(pl.col("dev").is_null())
    assert set(failed["system"]) == {"BiLSTM"} and failed["learning_rate"].min() > 0.008  # type: ignore[operator]
    assert set(failed["failure"]) == {"training diverged"}
    assert chosen(verdict)["BiLSTM"] == (pytest.approx(3e-3), 30)
    assert "0.012: failed" in report(verdict)


def test_a_system_that_always_fails_is_an_error_and_a_remedy_is_reported(
    diagnose: Diagnose, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TOY_FAILS", "noise")
    row = diagnose(remedies=["noise"]).remedies.row(0, named=True)
    assert (row["outcome"], row["why"]) == ("failed", "this remedy is not for toys")
    monkeypatch.setenv("TOY_FAILS", "plain")
    with pytest.raises(IsoglossError, match="fine-tuned with all settings: this remedy is not for toys"):
        diagnose(out=tmp_path / "other")


def test_a_loss_that_still_falls_makes_a_verdict_unsure(
    diagnose: Diagnose, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert diagnose(out=tmp_path / "usual").cautions == ()
    monkeypatch.setenv("TOY_UNFINISHED", "bilstm")
    verdict = diagnose(tune=False, out=tmp_path / "untuned")
    (sentence,) = verdict.cautions
    assert sentence.startswith("BiLSTM: the training loss still falls") and "3 of 3 networks" in sentence
    assert sentence in report(verdict) and not verdict.sure
    assert json.loads((verdict.folder / "verdict.json").read_text())["cautions"] == [sentence]
    assert diagnose(tune=False, out=tmp_path / "untuned").cautions == (sentence,)  # also when all is read
    tuned = diagnose()
    assert tuned.tuning.filter(system="BiLSTM")["epochs"].max() > chosen(tuned)["BiLSTM"][1]  # type: ignore[operator]
    assert tuned.cautions == ()  # longer training was tried and was no better


def test_a_system_that_predicts_one_class_makes_a_verdict_unsure(
    diagnose: Diagnose, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOY_ONE_CLASS", "plain")
    verdict = diagnose()
    assert verdict.cautions == ("fine-tuned: 3 of 3 networks predict one class only: they learnt nothing.",)
    assert not verdict.sure and verdict.cautions[0] in report(verdict)


@pytest.mark.parametrize("dev", ["lab:qlj/dev/20", ()])
def test_few_labels_are_split_into_folds(diagnose: Diagnose, tmp_path: Path, dev: str | tuple[()]) -> None:
    bank = ig.Laboratory().treebank("qlj", "train", 42)
    verdict = diagnose(train=bank, dev=dev)
    reason = "there is no dev set" if not dev else "the dev set has 20 sentences, fewer than 200"
    assert verdict.selection == f"by 3-fold cross-validation on the 42 training sentences ({reason})"
    assert verdict.level == "Easy" and chosen(verdict)["fine-tuned"] == (pytest.approx(2e-4), 12)
    trials = Counter(verdict.tuning["system"])
    runs = {"plain 0": trials["fine-tuned"], "bilstm 0": trials["BiLSTM"]}
    final = {f"{kind} {seed}": 1 for kind in ("plain", "bilstm") for seed in range(3)}
    expected = Counter({kind: FOLD_COUNT * number for kind, number in runs.items()}) + Counter(final)
    assert trained(tmp_path) == expected
    texts = {tree.text: number for number, tree in enumerate(bank)}
    held_out = [_texts(tmp_path / "out" / "corpora" / f"fold{fold}-dev.conllu") for fold in range(1, FOLD_COUNT + 1)]
    assert sorted(texts[text] for fold in held_out for text in fold) == list(range(42))  # a partition
    for fold, dev_texts in enumerate(held_out, 1):
        rest = _texts(tmp_path / "out" / "corpora" / f"fold{fold}-train.conllu")
        assert not set(rest) & set(dev_texts) and len(rest) + len(dev_texts) == 42
    selected = dict(verdict.systems.select("system", "dev").iter_rows())
    best = dict(verdict.tuning.filter("chosen").select("system", "dev").iter_rows())
    assert selected == best  # systems are selected by cross-validation, not by a tiny dev set


def test_without_a_dev_set_a_tenth_is_held_out(diagnose: Diagnose, tmp_path: Path) -> None:
    verdict = diagnose(train=ig.Laboratory().treebank("qlj", "train", 42), dev=())
    recipe = yaml.safe_load(verdict.recipe.read_text())["sources"]["qlj"]
    train, dev = (_texts(verdict.folder / recipe[role][0]) for role in ("train", "dev"))
    assert len(dev) == 5 and len(train) == 37 and not set(train) & set(dev)


def test_folds_follow_the_seed() -> None:
    assert fold_indices(50, 4, seed=1) == fold_indices(50, 4, seed=1) != fold_indices(50, 4, seed=2)
    assert sorted(map(len, fold_indices(50, 4, seed=1))) == [12, 12, 13, 13]


def test_too_few_sentences_for_folds(diagnose: Diagnose) -> None:
    with pytest.raises(UsageError, match="at least 3 sentences to choose settings by cross-validation, got 2"):
        diagnose(train="lab:qlj/train/2", dev="lab:qlj/dev/3")


def _texts(path: Path) -> list[str]:
    return [line.removeprefix("# text = ") for line in path.read_text().splitlines() if line.startswith("# text = ")]


def report(verdict: Verdict) -> str:
    return (verdict.folder / "report.md").read_text()
