"""Continual learning in study files: an axis of the grid that gives what the library gives."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from test_run_study import SETTINGS, never, run, study

import isogloss as ig
from isogloss.core.errors import IsoglossError
from isogloss.report.inputs import inputs_from_store
from isogloss.report.page import page
from isogloss.studies.execution import finetuning
from isogloss.studies.execution import run_job as work
from isogloss.studies.planning.explain import explain
from isogloss.studies.planning.planner import Plan, plan_study
from isogloss.studies.schema.references import mixed_parts
from isogloss.studies.schema.settings import ADJUSTMENT_SETTINGS, REPLAY_SETTINGS
from isogloss.studies.schema.study_file import read_study, study_of
from isogloss.studies.schema.yaml_text import parse_yaml
from isogloss.training.adjustment.settings import AdjustmentSettings, LossOptions, PairOptions

BITEXT = "lab:qla,qlb/train/20"
OTHER = "lab:qla,qlc/train/20"
REPLAY = {"bitext": BITEXT, "pairs": 3, "weight": 0.5}
COMPARED = ["target", "split", "seed", "value"]


@pytest.fixture(autouse=True)
def _fresh_memory() -> None:
    work._worker_context.cache_clear()


def planned(bert: Path, continual: Any, **changes: Any) -> Plan:
    return plan_study(study_of(study(bert, continual=continual, **changes)), device="cpu")


def tuned(plan: Plan) -> list[str]:
    return [run.finetuned for run in plan.runs]


def corpora() -> tuple[Any, Any, dict[str, Any]]:
    lab = ig.Laboratory()
    test = {lang: lab.treebank(lang, "test", n) for lang, n in (("qla", 9), ("qlb", 7))}
    return lab.treebank("qla", "train", 16), lab.treebank("qla", "dev", 8), test


@pytest.mark.parametrize("anchor", ["original", "adjusted"])
def test_a_study_gives_what_transfer_gives(anchor: Any, bert: Path, tmp_path: Path) -> None:
    """Of a column that changes the model, so that the two anchors are not the same."""
    kinds = ["none", {**REPLAY, "bitext": [BITEXT, OTHER], "sentences": 9, "anchor": anchor}]
    results = run(study(bert, changes={"REF": [], "1": [{"reinit": "1"}]}, continual=kinds, seeds=1), tmp_path)
    assert not results.failed
    assert results.frame["changes"].unique(maintain_order=True).to_list() == [
        "REF",
        "REF continual",
        "1",
        "1 continual",
    ]
    lab, model = ig.Laboratory(), ig.load_model(bert, device="cpu")
    bitexts = [lab.bitext("qla", other, 20)[:9] for other in ("qlb", "qlc")]
    train, dev, test = corpora()
    replay = ig.alignment_replay(bitexts, weight=0.5, pairs=3, anchor=anchor)
    before = [ig.reinit("1")]
    told = ig.transfer(model, "pos", train, dev, test, before=before, seeds=range(1), continual=replay, **SETTINGS)
    rows = results.frame.filter(pl.col("changes") == "1 continual")
    assert rows.select(COMPARED).equals(told.frame.select(COMPARED))
    plain = results.frame.filter(pl.col("changes") == "1")
    assert not rows.select(COMPARED).equals(plain.select(COMPARED))


def test_after_a_stored_change_the_original_is_the_model_before_it(bert: Path, tmp_path: Path) -> None:
    options = {"batch": 8, "learning_rate": 1e-3, "reduction": "mean"}
    columns = {"REF": [], "adjusted": [{"adjust": {"bitext": BITEXT, "settings": options}}]}
    kinds = {"": "none", "replay": {**REPLAY, "changes": ["adjusted"], "weighting": "released"}}
    results = run(study(bert, changes=columns, continual=kinds, seeds=1), tmp_path)
    assert not results.failed
    assert results.frame["changes"].unique(maintain_order=True).to_list() == ["REF", "adjusted", "adjusted replay"]
    lab, original = ig.Laboratory(), ig.load_model(bert, device="cpu")
    bitext = lab.bitext("qla", "qlb", 20)
    replay = ig.alignment_replay(bitext, weight=0.5, pairs=3, weighting="released", anchor=original)
    train, dev, test = corpora()
    told = ig.transfer(ig.adjust(original, bitext, **options), "pos", train, dev, test, continual=replay, **SETTINGS)
    rows = results.frame.filter(pl.col("changes") == "adjusted replay")
    assert rows.select(COMPARED).equals(told.frame.select(COMPARED))


def test_it_is_done_once_and_told(bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = study(bert, changes={"REF": []}, continual=["none", REPLAY], seeds=2)
    first = run(data, tmp_path)
    assert set(first.deltas()["change"]) == {"REF continual"}
    assert "Δ REF continual" in first.paper_table().head
    monkeypatch.setattr(finetuning, "finetune", never)
    assert run(data, tmp_path).frame.equals(first.frame)
    assert "REF continual" in page(inputs_from_store(tmp_path))
    monkeypatch.setattr(finetuning, "finetune", never)
    alone = run(study(bert, name="alone", changes={"REF": []}, continual=REPLAY), tmp_path)  # the same networks
    assert alone.frame["changes"].unique().to_list() == ["REF"]
    same = first.frame.filter(pl.col("changes") == "REF continual")
    assert alone.frame["value"].equals(same["value"])


@pytest.mark.parametrize(
    "change",
    [
        {"weight": 0.1},
        {"pairs": 4},
        {"anchor": "adjusted"},
        {"weighting": "released"},
        {"reduction": "sum"},
        {"layers": 1},
        {"sentences": 5},
        {"bitext": [BITEXT, OTHER]},
        {"settings": {"words": "first"}},
    ],
)
def test_it_is_part_of_the_identity_of_a_network(change: dict[str, Any], bert: Path) -> None:
    assert not set(tuned(planned(bert, REPLAY))) & set(tuned(planned(bert, {**REPLAY, **change})))


def test_without_it_nothing_has_another_identity(bert: Path) -> None:
    plain = plan_study(study_of(study(bert)), device="cpu")
    for none in ("none", None, ["none"], {"plain": "none"}):
        assert tuned(planned(bert, none)) == tuned(plain)
    both = planned(bert, ["none", REPLAY])
    assert tuned(plain) == [run.finetuned for run in both.runs if not run.continual]
    assert len(both.runs) == 2 * len(plain.runs)
    assert len({run.name for run in both.runs}) == len(both.runs)


def test_names_and_columns_are_no_part_of_it(bert: Path) -> None:
    for other in ({"a": REPLAY}, {**REPLAY, "changes": ["REF", "1"]}):
        assert tuned(planned(bert, other)) == tuned(planned(bert, REPLAY))


def test_the_bitext_is_known_by_its_content(bert: Path, tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    plans = []
    for number in (9, 9, 8):
        ig.Laboratory().bitext("qla", "qlb", number).write(path)
        plans.append(tuned(planned(bert, {"bitext": str(path)})))
    assert plans[0] == plans[1] != plans[2]


def test_it_is_explained(bert: Path) -> None:
    kinds = {"": "none", "Continual": {**REPLAY, "changes": ["1"], "weighting": "released"}}
    told = list(explain(planned(bert, kinds), None))
    assert ("conditions", "REF, 1, 1 Continual (reference: REF)") in told
    what = "lab:qla,qlb/train/20, weight 0.5 (released weighting), 3 pairs a step, anchor original"
    assert ("continual", f"Continual: {what}") in told
    assert dict(told)["runs"] == "6 = 1 model × 3 conditions × 1 task × 2 seeds"


def test_its_time_is_measured_separately(bert: Path) -> None:
    plans = planned(bert, "none"), planned(bert, {**REPLAY, "pairs": 8}), planned(bert, REPLAY)
    keys = [plan.stages[plan.runs[0].finetuned].time_key for plan in plans]
    assert len(set(keys)) == 3, "a step takes longer the more pairs it has"


@pytest.mark.parametrize(
    ("continual", "said"),
    [
        ("nothing", "expected none, {bitext: …}, a list of these, or {NAME: …} for 'continual', got 'nothing'"),
        (3, "expected none, {bitext: …}"),
        ([REPLAY, REPLAY], "expected names for these ({NAME: {bitext: …}, …})"),
        ({"weight": 1}, "expected the key 'bitext', got none"),
        ({"a": "x"}, "expected none or {bitext: …} for continual learning for 'continual', got 'x'"),
        ({**REPLAY, "wieght": 1}, "did you mean 'weight'?"),
        ({**REPLAY, "weight": 0}, "expected greater than 0 for 'continual.continual.weight'"),
        ({**REPLAY, "pairs": 0}, "expected greater than or equal to 1"),
        ({**REPLAY, "anchor": "first"}, "expected 'original' or 'adjusted'"),
        ({**REPLAY, "weighting": "x"}, "expected 'published' or 'released'"),
        ({**REPLAY, "settings": {"tokn": 1}}, "did you mean 'tokens'?"),
        ({**REPLAY, "changes": ["2"]}, "condition of 'changes' for 'continual.continual.changes'"),
        ({**REPLAY, "changes": ["REF"]}, "expected a kind of 'continual' for every condition, got none for 1"),
        ({"bitext": "lab:qla,qlx/train/5"}, "language of the laboratory"),
    ],
)
def test_what_is_wrong_is_told(continual: Any, said: str, bert: Path) -> None:
    with pytest.raises(IsoglossError) as caught:
        study_of(study(bert, continual=continual))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_adjusted_model_is_no_original(bert: Path) -> None:
    model = {"base": str(bert), "changes": [{"adjust": BITEXT}]}
    data = {**study(bert, continual=REPLAY), "model": {"m": model}}
    with pytest.raises(IsoglossError, match="'adjust' under 'changes', or 'anchor: adjusted'"):
        study_of(data)
    assert study_of({**data, "continual": {**REPLAY, "anchor": "adjusted"}})


def test_a_baseline_without_layers_is_refused(tmp_path: Path) -> None:
    with pytest.raises(IsoglossError, match=r"expected models with layers to adjust for 'continual.continual'"):
        run(study(Path("bilstm"), changes={"REF": []}, continual=REPLAY, seeds=1), tmp_path)


def test_it_is_chosen_by_name_on_the_command_line(bert: Path, tmp_path: Path) -> None:
    data = study(bert, continual={"plain": "none", "replay": REPLAY})
    assert list(study_of(data, set={"continual": "replay"}).continual) == ["replay"]
    assert study_of(data, set={"continual": "none"}).continual == {"plain": None}
    changed = study_of(data, set={"continual.replay.pairs": 5}).continual["replay"]
    assert changed
    assert changed.pairs == 5
    file = tmp_path / "study.yaml"
    file.write_text("name: x\nmodel: bilstm\ncontinual: {bitext: en-fr.jsonl, pair: 3}\n", encoding="utf-8")
    with pytest.raises(IsoglossError, match=r"study.yaml:3: expected known keys .*did you mean 'pairs'\?"):
        read_study(file)


def test_settings_are_the_options_of_the_library() -> None:
    pairs, loss, settings = (
        {field.name for field in fields(kind)} for kind in (PairOptions, LossOptions, AdjustmentSettings)
    )
    weights = {"pull", "hold", "reduction"}  # follow from weight and weighting
    assert set(REPLAY_SETTINGS.fields) == (pairs | loss) - weights
    meaningless = {"accumulate", "patience"}  # steps are whole, and there is no dev score
    assert set(ADJUSTMENT_SETTINGS.fields) == (pairs | loss | settings) - meaningless


def test_a_study_file_that_is_written_is_read_again(bert: Path) -> None:
    first = study_of(study(bert, continual={"": None, "replay": REPLAY}))
    written = first.model_dump(mode="json", exclude_defaults=True)
    assert (
        study_of({**written, "models": study(bert)["model"], "changes": study(bert)["changes"]}).continual
        == first.continual
    )


def test_the_example_of_the_textis_what_it_says() -> None:
    text = (Path(__file__).parents[3] / "docs/studies.md").read_text(encoding="utf-8")
    example = text.partition("## Continual learning and distances")[2].partition("```yaml\n")[2].partition("```")[0]
    read = study_of(parse_yaml(example, "the page")[0])
    assert [" ".join(filter(None, condition)) for condition in read.conditions] == [
        "Original",
        "Adjusted",
        "Adjusted Continual",
    ]
    assert read.distances
    assert mixed_parts(read.targets["hi-mixed"][""][0])
