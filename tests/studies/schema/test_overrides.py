from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from isogloss.core.errors import IsoglossError
from isogloss.studies.schema.overrides import parse_overrides, with_overrides, with_variables

DATA: dict[str, Any] = {
    "task": ["pos", "parse"],
    "variables": {"UD": "data/ud", "NER": None},
    "targets": {"fr": "${UD}/fr", "ru": "${UD}/ru", "no": "x"},
    "settings": {"epochs": 3},
}


def test_values_in_place_of_the_files() -> None:
    changed = with_overrides(
        DATA, parse_overrides(["task=pos", "seeds=1", "settings.parse.epochs=2", "targets=[no, fr]"])
    )
    assert changed["tasks"] == "pos"
    assert changed["seeds"] == 1
    assert changed["settings"] == {"epochs": 3, "parse": {"epochs": 2}}
    assert list(changed["targets"]) == ["no", "fr"]
    assert DATA["settings"] == {"epochs": 3}, "what was handed in stays as it is"


def test_variables_of_command_line_environment_and_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here").mkdir()
    assert with_variables(DATA, {})["targets"]["fr"] == "data/ud/fr"
    assert with_variables(DATA, {"UD": "there"})["targets"]["fr"] == "there/fr"
    assert with_variables(DATA, {"UD": "here"})["targets"]["fr"] == f"{tmp_path}/here/fr"
    told = with_overrides(DATA, {"UD": "mine"})
    assert with_variables(told, {"UD": "there"})["targets"]["fr"] == "mine/fr"


def test_models_are_chosen_by_name_or_replaced_and_their_settings_go_with_them() -> None:
    data = {**DATA, "models": {"a": "x", "b": {"base": "y"}}, "settings": {"epochs": 3, "a": {"epochs": 1}, "b": {}}}
    chosen = with_overrides(data, {"models": ["b"]})
    assert (chosen["models"], chosen["settings"]) == ({"b": {"base": "y"}}, {"epochs": 3, "b": {}})
    other = with_overrides(data, {"model": "some/a"})
    assert (other["models"], other["settings"]) == ("some/a", {"epochs": 3, "a": {"epochs": 1}})
    assert with_overrides(data, {"models": "z"})["settings"] == {"epochs": 3}
    assert with_overrides(data, {"models.a": "z"})["settings"] == data["settings"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["seeds"], "expected NAME=VALUE such as seeds=1, got 'seeds'"),
        (["=1"], "expected NAME=VALUE"),
        (["sead=1"], "no key 'sead'; did you mean 'seeds'?"),
        (["U=1"], "no key 'U'"),
        (["settings.epochs.x=1"], "'epochs' of the study is not a mapping"),
        (["targets=[fr, de]"], "unknown name under 'targets' 'de'"),
        (["task=[pos"], "--set task:1: expected YAML"),
    ],
)
def test_what_cannot_be_set(words: list[str], said: str) -> None:
    with pytest.raises(IsoglossError) as caught:
        with_overrides(DATA, parse_overrides(words))
    assert said in str(caught.value)


def test_a_variable_without_a_value() -> None:
    data = {**DATA, "targets": {"fr": "${NER}/fr"}}
    with pytest.raises(IsoglossError, match="'NER' needs a value: --set NER"):
        with_variables(data, {})
    assert with_variables(data, {"NER": "/n"})["targets"]["fr"] == "/n/fr"


def test_an_unknown_variable() -> None:
    with pytest.raises(IsoglossError, match="unknown variable 'UDD'; did you mean 'UD'"):
        with_variables({**DATA, "targets": {"fr": "${UDD}/fr"}}, {})
