"""`ig.diagnose` from door to door: on toys whose scores are known, and once for real on a tiny model."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import isogloss as ig
from isogloss.core.errors import IsoglossError, UnknownName, UsageError
from isogloss.diagnosis.inputs import collect_inputs, sentences
from isogloss.diagnosis.treatments import TrainingSizes
from isogloss.diagnosis.verdict import Verdict
from isogloss.models.tokenization import readability
from isogloss.studies.planning import job as planned_job
from isogloss.studies.schema.study_file import read_study
from isogloss.training.finetuning.finetuned_files import load_finetuned

LAB = {name: f"lab:qlj/{split}/{n}" for name, split, n in
       (("train", "train", 8), ("dev", "dev", 4), ("test", "test", 10), ("text", "train", 60))}  # fmt: skip
HARD = {"plain": 0.5, "adapt": 0.55, "pretrain": 0.3, "bilstm": 0.7}
Diagnose = Callable[..., Verdict]


@pytest.fixture
def diagnose(tmp_path: Path, bert: Path, monkeypatch: pytest.MonkeyPatch) -> Diagnose:
    """A diagnosis of Jagur whose training is done by toys; `scores` are those that systems get."""
    monkeypatch.setattr(planned_job, "STAGE_FUNCTIONS_MODULE", "diagnose_toys")
    monkeypatch.setenv("TOY_LOG", str(tmp_path / "log"))
    monkeypatch.setattr(readability, "MAX_UNKNOWN_SHARE", 1.0)  # the tokenizer of the toy has no letters of Jagur

    def run(scores: dict[str, float], **options: Any) -> Verdict:
        monkeypatch.setenv("TOY_SCORES", json.dumps(scores))
        given = {
            **LAB,
            "parallel": "lab:qla,qld,qlj/dev/10",
            "seeds": 3,
            "out": tmp_path / "out",
            "tune": False,
            **options,
        }
        return ig.diagnose(bert, lang="qlj", workers=0, device="cpu", **given)  # type: ignore[no-any-return]

    return run


def log(folder: Path) -> list[str]:
    return (folder / "log").read_text().splitlines()


@pytest.mark.parametrize(
    ("scores", "level"),
    [
        ({"plain": 0.9, "adapt": 0.8, "pretrain": 0.5, "bilstm": 0.7}, "Easy"),
        ({"plain": 0.6, "adapt": 0.8, "pretrain": 0.5, "bilstm": 0.7}, "Intermediate"),
        ({"plain": 0.5, "adapt": 0.6, "pretrain": 0.3, "bilstm": 0.8}, "Hard"),
    ],
)
def test_three_levels(diagnose: Diagnose, scores: dict[str, float], level: str) -> None:
    verdict = diagnose(scores, remedies=[])
    assert (verdict.level, verdict.sure, verdict.by_bilstm) == (level, True, level)
    assert verdict.repaired is (level != "Hard")
    assert len(verdict.remedies) == 0
    means = dict(verdict.systems.select("system", "test").iter_rows())
    names = dict(zip(("plain", "adapt", "pretrain", "bilstm"), means, strict=True))
    assert all(means[name] == pytest.approx(scores[kind], abs=0.03) for kind, name in names.items())
    assert set(verdict.differences["baseline"]) == {"BiLSTM", "monolingual"}
    assert verdict.differences.height == 4


UNREADABLE = {
    "unknown": 0.72,
    "byte_pieces": 0.0,
    "characters_per_token": 3.0,
    "bytes_per_token": 9.0,
    "readable": False,
}
READABLE = {**UNREADABLE, "unknown": 0.01, "readable": True}


@pytest.mark.parametrize("plain", [0.9, 0.5])
@pytest.mark.parametrize(("remedied", "repaired"), [(0.8, True), (0.4, False), (None, None)])
def test_text_that_the_model_cannot_read(
    diagnose: Diagnose, monkeypatch: pytest.MonkeyPatch, plain: float, remedied: float | None, repaired: bool | None
) -> None:
    """The level is withheld, however good the scores are; a remedy that makes the text readable is compared."""
    kinds = {"plain": UNREADABLE, "adapt": UNREADABLE, "pretrain": READABLE, "adapt+transliterate": READABLE}
    monkeypatch.setenv("TOY_TEXT", json.dumps(kinds))
    scores = {"plain": plain, "adapt": plain, "pretrain": 0.3, "bilstm": 0.7, "adapt+transliterate": remedied or 0.0}
    verdict = diagnose(scores, remedies=[] if remedied is None else ["transliterate"])
    assert (verdict.level, verdict.sure, verdict.by_bilstm) == ("Undecided", False, "Undecided")
    assert verdict.withheld == "72 % of the tokens are unknown"
    assert verdict.repaired is repaired
    assert verdict.repaired_by == ("" if remedied is None else "transliterated + adapted")
    systems = {row["system"]: row["unknown"] for row in verdict.systems.iter_rows(named=True)}
    assert (systems["fine-tuned"], systems["monolingual"], systems["BiLSTM"]) == (0.72, 0.01, None)
    text = (verdict.folder / "report.md").read_text()
    assert "Undecided: the model cannot read the text." in text
    assert "72 % of the tokens are unknown" in text
    assert "fine-tuned compared with" not in text
    sentence = {
        True: "In a form that it can read (transliterated + adapted), the model is below no baseline.",
        False: "In a form that it can read (transliterated + adapted), the model is still below a baseline.",
        None: "No remedy made the text readable; transliterate it",
    }[repaired]
    assert sentence in text
    assert json.loads((verdict.folder / "verdict.json").read_text())["withheld"] == verdict.withheld


@pytest.mark.parametrize(("given", "batch"), [({}, 1), ({"batch": 5}, 5)])
@pytest.mark.parametrize(("best", "part"), [("bilstm", "bilstm"), ("plain", "finetune")])
def test_few_sentences_are_read_in_small_batches(
    diagnose: Diagnose, best: str, part: str, given: dict[str, int], batch: int
) -> None:
    """There are eight: in the recipes' batches all of them would be one step."""
    verdict = diagnose({**HARD, best: 0.9}, remedies=[], sizes=TrainingSizes(**{part: given}))
    assert re.findall(r"batch: (\d+)", (verdict.folder / "recipe.yaml").read_text()) == [str(batch)]


def test_a_strong_monolingual_model_counts_too(diagnose: Diagnose) -> None:
    verdict = diagnose({"plain": 0.7, "adapt": 0.72, "pretrain": 0.9, "bilstm": 0.5}, remedies=[])
    assert (verdict.level, verdict.by_bilstm) == ("Hard", "Easy")
    assert "Compared with the BiLSTM alone, as in Muller et al. (2021), the language would be Easy." in report(verdict)


def test_transliteration_turns_a_hard_language(diagnose: Diagnose, tmp_path: Path) -> None:
    scores = {**HARD, "adapt+transliterate": 0.9, "extend_vocabulary+adapt+transliterate": 0.8}
    verdict = diagnose(scores, remedies=["transliterate", "vocabulary"])
    assert (verdict.level, verdict.repaired, verdict.best) == ("Hard", True, "transliterated + adapted")
    first, second = verdict.remedies.iter_rows(named=True)
    assert (first["outcome"], first["against"], first["significant"]) == ("best so far", "BiLSTM", True)
    assert (second["outcome"], second["against"]) == ("no better", "transliterated + adapted")
    assert first["delta"] == pytest.approx(0.2, abs=0.04)
    assert second["delta"] == pytest.approx(-0.1, abs=0.04)
    assert (verdict.saved / "kind").read_text().startswith("adapt+transliterate ")
    assert "isogloss transliterate" in report(verdict)


def test_the_most_urgent_remedy_comes_first_and_the_others_build_on_it(diagnose: Diagnose) -> None:
    better = "extend_vocabulary+adapt+transliterate"
    scores = {**HARD, "adapt+transliterate": 0.8, better: 0.9, f"{better}+noise": 0.85,
              "extend_vocabulary+language_adapter+task_adapter+transliterate": 0.6}  # fmt: skip
    verdict = diagnose(scores)
    assert verdict.remedies["remedy"].to_list() == [
        "transliterate",
        "vocabulary",
        "adapters",
        "noise",
        "code-switching",
    ]
    assert verdict.remedies["outcome"].to_list() == ["best so far", "best so far", "no better", "no better", "left out"]
    assert verdict.best == "transliterated + new sub-words + adapted"


def test_only_the_best_network_is_kept(diagnose: Diagnose, tmp_path: Path) -> None:
    verdict = diagnose({**HARD, "adapt+transliterate": 0.9}, remedies=["transliterate"])
    kept = list((tmp_path / "out" / "store" / "entries" / "finetuned").iterdir())
    assert len(kept) == 1
    dev = verdict.results.frame.filter(pl.col("model") == verdict.best, pl.col("split") == "dev")
    assert (verdict.saved / "kind").read_text() == f"adapt+transliterate {dev.sort('value')['seed'][-1]}"
    trained = log(tmp_path)
    again = diagnose(HARD, remedies=[])  # whose best network was removed
    assert (again.saved / "kind").read_text().startswith("bilstm ")
    assert log(tmp_path)[len(trained) :] == [(again.saved / "kind").read_text()]  # it alone is trained again


def test_a_remedy_that_fails_is_told_and_the_rest_goes_on(diagnose: Diagnose, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOY_FAILS", "adapt+noise")
    verdict = diagnose({**HARD, "adapt+transliterate": 0.9}, remedies=["noise", "transliterate"])
    first, second = verdict.remedies.iter_rows(named=True)
    assert (first["outcome"], first["why"], first["test"]) == ("failed", "this remedy is not for toys", None)
    assert second["outcome"] == "best so far"


def test_a_system_of_the_comparison_that_fails_is_an_error(diagnose: Diagnose, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOY_FAILS", "plain")
    with pytest.raises(IsoglossError, match=r"fine-tuned .*: this remedy is not for toys"):
        diagnose(HARD)


def test_no_remedy_is_begun_after_the_budget(diagnose: Diagnose, tmp_path: Path) -> None:
    scores = {**HARD, "adapt+transliterate": 0.9}
    verdict = diagnose(scores, budget=0, remedies=["transliterate"])
    assert verdict.remedies["outcome"].to_list() == ["no time"]
    times = {"qlj-pos-comparison": 240.0, "qlj-pos-transliterated-adapted": 50.0}  # 60 s for a system
    (tmp_path / "out" / "times.json").write_text(json.dumps(times))
    assert diagnose(scores, budget=0.9, remedies=["transliterate"]).remedies["outcome"].to_list() == ["no time"]
    both = diagnose({**scores, "adapt+transliterate+noise": 0.95}, budget=1.5, remedies=["transliterate", "noise"])
    assert both.remedies["outcome"].to_list() == ["best so far", "no time"]
    assert both.remedies["why"][1] == "0.8 of 1.5 minutes are spent"


def test_killed_anywhere_it_goes_on(diagnose: Diagnose, tmp_path: Path) -> None:
    scores = {**HARD, "adapt+transliterate": 0.9}
    whole = diagnose(scores, remedies=["transliterate"], out=tmp_path / "whole")
    trained = sorted(log(tmp_path))
    (tmp_path / "log").unlink()
    for least in range(1, 30):

        def watch(job: Any, outcome: Any, total: int, left: list[int] = [least]) -> None:  # noqa: B006
            left[0] -= outcome.state == "done"
            if left[0] < 0:
                raise KeyboardInterrupt

        try:
            verdict = diagnose(scores, remedies=["transliterate"], out=tmp_path / "cut", watch=watch)
            break
        except KeyboardInterrupt:
            continue
    assert least > 2
    assert sorted(log(tmp_path)) == trained  # nothing was trained twice
    assert verdict.remedies.equals(whole.remedies)
    assert verdict.systems.equals(whole.systems)
    assert (verdict.best, verdict.level) == (whole.best, whole.level)


def test_without_raw_text_only_easy_can_be_told(diagnose: Diagnose, bert: Path) -> None:
    bank = ig.Laboratory().treebank("qlj", "train", 8)  # in memory: nothing of it comes from the laboratory's defaults
    given = {"train": bank, "dev": bank, "test": bank, "text": ()}
    verdict = diagnose({"plain": 0.5, "bilstm": 0.7}, **given)
    assert (verdict.level, verdict.best) == ("Undecided", "BiLSTM")
    assert verdict.remedies.filter(remedy="vocabulary")["why"].to_list() == ["no raw text"]
    assert diagnose({"plain": 0.8, "bilstm": 0.7, "noise": 0.7}, **given, out=verdict.folder / "b").level == "Easy"


def test_code_switching_needs_a_lexicon(diagnose: Diagnose) -> None:
    lexicon = ig.Laboratory().lexicon("qla", "qlj")
    source = {"qla": ("lab:qla/train/5", "lab:qla/dev/4")}
    verdict = diagnose({**HARD, "adapt+switched": 0.8}, remedies=["code-switching"], lexicon=lexicon, source=source)
    assert verdict.best == "adapted + code-switching"
    with pytest.raises(UsageError, match="code-switching needs labelled data of a source language"):
        diagnose(HARD, lexicon=lexicon)


def test_zero_shot_from_the_best_source(diagnose: Diagnose) -> None:
    langs = ["qla", "qlb", "qlc", "qld", "qle"]
    source = {lang: (f"lab:{lang}/train/5", f"lab:{lang}/dev/4") for lang in langs}
    parallel = f"lab:{','.join(langs)},qlj/dev/10"
    labelled = dict.fromkeys(("train", "dev", "test"))
    scores = {"plain": 0.6, "adapt": 0.7, "adapt+transliterate": 0.8}
    verdict = diagnose(scores, source=source, parallel=parallel, **labelled)
    assert (verdict.level, verdict.repaired) == ("Undecided", None)
    estimate = verdict.estimate
    assert estimate is not None
    assert estimate.source == verdict.sources.languages[0]
    assert estimate.home == pytest.approx(0.6, abs=0.05)
    assert estimate.low is not None and estimate.high is not None and estimate.expected is not None
    assert estimate.low <= estimate.expected <= estimate.high
    assert estimate.expected == pytest.approx(0.6, abs=0.08)  # toys lose nothing abroad
    assert "is a rule, not a measurement" in report(verdict)
    few = {lang: source[lang] for lang in ("qla", "qlb")}
    told = diagnose(scores, source=few, parallel=parallel, **labelled, out=verdict.folder / "few")
    assert told.estimate is not None and told.estimate.expected is None
    assert "labelled data of at least 4 languages, got 2" in report(told)


def test_no_estimate_for_text_that_the_model_cannot_read(diagnose: Diagnose, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readability, "MAX_UNKNOWN_SHARE", 0.15)
    langs = ["qla", "qlb", "qlc", "qld", "qle"]
    source = {lang: (f"lab:{lang}/train/5", f"lab:{lang}/dev/4") for lang in langs}
    labelled = dict.fromkeys(("train", "dev", "test"))
    scores = {"plain": 0.6, "adapt": 0.7, "adapt+transliterate": 0.8}
    verdict = diagnose(scores, source=source, parallel=f"lab:{','.join(langs)},qlj/dev/10", **labelled)
    assert verdict.estimate is not None and verdict.estimate.expected is None
    assert re.fullmatch(r"\d+ % of the tokens are unknown", verdict.withheld)
    assert f"cannot be estimated: the model cannot read the text: {verdict.withheld}" in report(verdict)


def test_zero_shot_with_a_lexicon(diagnose: Diagnose) -> None:
    source = {"qlf": ("lab:qlf/train/5", "lab:qlf/dev/4")}  # in Arabic letters: no reason to transliterate
    labelled = {**dict.fromkeys(("train", "dev", "test")), "source": source, "parallel": "lab:qlf,qlj/dev/10"}
    lexicon = ig.Laboratory().lexicon("qlf", "qlj")
    verdict = diagnose({"plain": 0.6, "adapt": 0.7, "adapt+switched": 0.8}, **labelled, lexicon=lexicon)
    assert verdict.best == "adapted + code-switching"
    assert verdict.systems["system"].to_list() == ["fine-tuned", "adapted", "adapted + code-switching"]
    study = read_study(verdict.recipe)
    assert [Path(one).name for one in study.sources["qlf"].train[""]] == ["5", "qlf-switched.conllu"]


@pytest.mark.parametrize("kind", ["ner", "nli", "qa", "treebank"])
def test_any_labelled_corpus_has_text(kind: str, tmp_path: Path) -> None:
    corpus = getattr(ig.Laboratory(), kind)("qla", "train", 3)
    task = {"treebank": "pos"}.get(kind, kind)
    material = collect_inputs("laboratory", "qla", task, tmp_path, {"train": corpus, "dev": corpus, "test": corpus})
    (read,) = {len(sentences(material, 5))}
    assert read == 3
    assert all(len(line.split()) > 2 for line in sentences(material, 5))


def test_files_for_people_and_programs(diagnose: Diagnose) -> None:
    verdict = diagnose(HARD, remedies=[])
    told = json.loads((verdict.folder / "verdict.json").read_text())
    assert told["level"] == "Hard" and told["sources"]["ranking"][0]["language"] in ("qla", "qld")
    assert told["tokenizer"]["subwords_per_word"] == verdict.tokenizer.subwords_per_word
    page = (verdict.folder / "report.html").read_text()
    assert "<title>Jagur (qlj) for bert: Hard · isogloss</title>" in page
    assert "<script" not in page
    assert repr(verdict) == "<qlj for bert, pos: Hard; best: BiLSTM>"


def test_wrong_arguments(diagnose: Diagnose, bert: Path, tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="did you mean 'transliterate'"):
        diagnose(HARD, remedies=["transliterat"])
    with pytest.raises(UnknownName, match="unknown task 'poss'"):
        diagnose(HARD, task="poss")
    bank = ig.Laboratory().treebank("qlj", "train", 2)
    with pytest.raises(UsageError, match="expected train and test, got no test"):
        ig.diagnose(bert, lang="ug", train=bank, out=tmp_path / "x")
    with pytest.raises(UsageError, match="no labelled data: expected train and test, or source"):
        ig.diagnose(bert, lang="ug", text=["lab:qlj/train/20"], out=tmp_path / "x")


def report(verdict: Verdict) -> str:
    return (verdict.folder / "report.md").read_text()


@pytest.mark.slow
def test_for_real_the_recipe_gives_the_same_numbers_and_the_model_loads(bert: Path, tmp_path: Path) -> None:
    language_model = {"steps": 2, "settings": {"length": 32}}
    sizes = TrainingSizes(
        finetune={"epochs": 1, "learning_rate": 1e-3},
        bilstm={"epochs": 1, "learning_rate": 3e-3},
        adapt=language_model,
        pretrain={**language_model, "layers": 1, "width": 8, "heads": 1, "vocabulary": 200},
        adapter=language_model,
        vocabulary=20,
    )
    given = {"lang": "qlj", "seeds": 2, "sizes": sizes, "workers": 0, "device": "cpu"}
    lab = ig.Laboratory()
    corpora = {**LAB, "train": lab.treebank("qlj", "train", 8), "text": lab.text("qlj", 200)}
    verdict = ig.diagnose(ig.load_model(bert, head="mlm"), out=tmp_path / "out", **corpora, **given)
    assert set(verdict.remedies["outcome"]) <= {"best so far", "helps", "no better", "left out"}
    assert verdict.selection.startswith("by 3-fold cross-validation on the 8 training sentences")
    assert set(verdict.tuning["system"]) >= {"fine-tuned", "adapted", "monolingual", "BiLSTM"}
    assert verdict.tuning["chosen"].all() and verdict.tuning["dev"].is_not_null().all()
    tuned = load_finetuned(verdict.saved, device="cpu")
    assert tuned.task.name == "pos"
    moved = (tmp_path / "out").rename(tmp_path / "moved")  # what lies in the folder is named from there
    again = ig.run_study(moved / "recipe.yaml", store=tmp_path / "fresh", workers=0, device="cpu")
    columns = ["split", "metric", "seed", "value"]
    first = verdict.results.frame.filter(model=verdict.best).select(columns).sort(columns)
    assert again.frame.select(columns).sort(columns).equals(first)
