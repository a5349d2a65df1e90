"""The studies of real data: each is read and planned without the data, and nothing is chosen on what is scored."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest
from shared_data import shared

from isogloss.studies.planning.planner import Plan, plan_study
from isogloss.studies.schema.study_file import read_study

FOLDER = Path(__file__).parents[3] / "studies" / "real"
FILES = sorted(path.name for path in FOLDER.glob("*.yaml"))
VARIABLES = ("MODEL", "DATA", "PREPARED")
# (columns or models) × tasks × seeds
RUNS = {
    "adjustment.yaml": (8 + 4) * 2 * 3,
    "adjustment-matching.yaml": 8,
    "first-align.yaml": 7 * 3 * 3,
    "unseen-bambara.yaml": 4 * 3,
    "unseen-erzya.yaml": 4 * 2 * 3,
    "unseen-faroese.yaml": 4 * 2 * 3,
    "unseen-maltese.yaml": 4 * 2 * 3,
    "unseen-naija.yaml": 4 * 3 * 3,
    "unseen-narabizi.yaml": 4 * 2 * 3,
    "unseen-uyghur.yaml": 4 * 2 * 3,
    "unseen-uyghur-latin.yaml": 3 * 2 * 3,
    "unseen-wolof.yaml": 4 * 3 * 3,
}


def prepare() -> ModuleType:
    spec = importlib.util.spec_from_file_location("prepare", FOLDER / "prepare.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def planned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Plan]:
    """Every file's plan, with all that it reads made up: a file holds its own name."""
    for name in VARIABLES:
        monkeypatch.setenv(name, str(tmp_path / name))
    (tmp_path / "MODEL").mkdir()
    (tmp_path / "MODEL/config.json").write_text("{}", encoding="utf-8")
    plans = {}
    for file in FILES:
        study = read_study(FOLDER / file)
        for path in map(Path, plan_study(study).missing):
            assert path.is_relative_to(tmp_path), f"{path} comes from no variable"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(str(path), encoding="utf-8")
        plans[file] = plan_study(study)
    return plans


def test_files_are_planned(planned: dict[str, Plan]) -> None:
    assert {file: len(plan.runs) for file, plan in planned.items()} == RUNS
    for file, plan in planned.items():
        assert not plan.missing
        assert plan.study.name == f"real-{Path(file).stem}"


@pytest.mark.parametrize("file", FILES)
def test_what_must_be_given_is_asked_for(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(Exception, match=rf"the variable '({'|'.join(VARIABLES)})' needs a value"):
        read_study(FOLDER / file)


def test_no_epoch_is_chosen_on_what_is_scored_and_nothing_scored_is_learnt_from(planned: dict[str, Plan]) -> None:
    for plan in planned.values():
        study = plan.study
        scored = {one for target in study.targets.values() for files in target.values() for one in files}
        for source in study.sources.values():
            train, dev = ({one for files in part.values() for one in files} for part in (source.train, source.dev))
            assert not (train | dev) & scored
            assert not train & dev


def test_adjustment_reads_neither_scored_sentences_nor_those_that_are_measured(planned: dict[str, Plan]) -> None:
    study = planned["adjustment.yaml"].study
    read = {one for changes in study.changes.values() for change in changes for one in change.arguments.bitext}  # type: ignore[attr-defined]
    assert len(read) == 9
    assert study.measure and study.distances
    assert not read & {*study.measure.parallel.values(), *study.distances.bitext}
    assert all("heldout" in one for one in study.distances.bitext)


def test_matching_is_measured_on_the_very_models_of_the_main_study(planned: dict[str, Plan]) -> None:
    models = [{id for id in planned[file].stages if id.startswith("model")} for file in FILES[:2]]
    assert FILES[:2] == ["adjustment-matching.yaml", "adjustment.yaml"]
    assert models[0] == models[1]
    assert len(models[0]) == 7


def test_uyghur_is_the_same_in_both_scripts_but_for_the_text(planned: dict[str, Plan]) -> None:
    arabic, latin = (planned[f"unseen-{name}.yaml"].study for name in ("uyghur", "uyghur-latin"))
    assert (arabic.sources, arabic.targets, arabic.tasks) == (latin.sources, latin.targets, latin.tasks)
    assert set(arabic.models) - set(latin.models) == {"BiLSTM"}
    for model in latin.models:
        assert all(arabic.settings_of(task, model) == latin.settings_of(task, model) for task in latin.tasks)
    assert list(latin.text) == ["latin"]


@pytest.mark.slow
def test_preparation_makes_all_that_the_files_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the data sets themselves, with a stand-in for eflomal, which takes minutes."""
    module = prepare()
    data = shared("data")
    monkeypatch.setattr(module, "write_bitext", lambda english, other, lang, path: _two_bitexts(path, english, other))
    module.main(data, tmp_path)
    text = "".join((FOLDER / file).read_text(encoding="utf-8") for file in FILES)
    named = set(re.findall(r"\$\{PREPARED\}/([\w./-]+)", text))
    assert named <= {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.xz")}
    others = set(re.findall(r"\$\{DATA\}/([\w./-]+)", text))
    assert not [path for path in others if not (data / path).is_file()]


def _two_bitexts(path: Path, english: list[str], other: list[str]) -> None:
    assert len(english) == len(other) > 7000
    for place in (path, path.parent / "heldout" / path.name):
        place.touch()


def test_words_are_parted_from_punctuation_in_any_script() -> None:
    module = prepare()
    assert module.tokens("Don't go: 3 times!") == "Don't go : 3 times !"
    assert module.tokens("हिन्दी, यह।") == "हिन्दी , यह ।"


def test_held_out_pairs_are_not_read_by_adjustment(tmp_path: Path) -> None:
    pytest.importorskip("eflomal")
    module = prepare()
    (tmp_path / "heldout").mkdir()
    english = [f"the dog number {number} barks" for number in range(40)]
    other = [f"le chien numéro {number} aboie" for number in range(40)]
    module.write_bitext([*english, english[0]], [*other, other[0]], "fr", tmp_path / "en-fr.jsonl.xz")
    import isogloss as ig

    read, held = (ig.read_bitext(tmp_path / name) for name in ("en-fr.jsonl.xz", "heldout/en-fr.jsonl.xz"))
    assert (len(read), len(held)) == (37, 3)
    assert not {pair.source for pair in read} & {pair.source for pair in held}
