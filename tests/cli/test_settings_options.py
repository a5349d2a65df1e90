"""Settings are declared once: dataclass, study file and command line agree."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Annotated

import pytest
import typer
from pydantic import TypeAdapter, ValidationError
from typer.testing import CliRunner

from isogloss.cli import main
from isogloss.cli.adapt import adapt
from isogloss.cli.adjust import adjust
from isogloss.cli.pretrain import pretrain
from isogloss.cli.settings_options import with_settings
from isogloss.cli.transfer import transfer
from isogloss.core.errors import UsageError
from isogloss.core.settings import Setting, SettingValues, check_settings, declared_settings
from isogloss.studies.schema.settings import (
    ADJUSTMENT_SETTINGS,
    FINE_TUNING_SETTINGS,
    LANGUAGE_MODEL_SETTINGS,
    SettingsOf,
)
from isogloss.tasks.scoring import ScoringSettings
from isogloss.training.adjustment.settings import AdjustmentSettings, LossOptions, PairOptions
from isogloss.training.engine.budget import Budget
from isogloss.training.engine.settings import NoisyTrainingSettings
from isogloss.training.language_modeling.settings import LanguageModelSettings

CLASSES = [
    NoisyTrainingSettings, ScoringSettings, LanguageModelSettings, Budget, PairOptions, LossOptions, AdjustmentSettings
]  # fmt: skip


@dataclass(frozen=True)
class Example(NoisyTrainingSettings):
    new_field: Annotated[int, Setting("Number of new things.", above=0, option="--new")] = 3


def test_a_new_field_appears_in_dataclass_study_file_and_command_line() -> None:
    with pytest.raises(UsageError, match="new_field: expected a whole number above 0, got 0"):
        Example(1, 1, 1.0, new_field=0)
    read = TypeAdapter(Annotated[SettingValues, SettingsOf(Example, purpose="a test")]).validate_python
    assert read({"new_field": "7", "epochs": None}) == {"new_field": 7}
    with pytest.raises(ValidationError, match="expected a whole number above 0, got 0"):
        read({"new_field": 0})
    with pytest.raises(ValidationError, match="setting of a test, got 'new_feld'; did you mean 'new_field'"):
        read({"new_feld": 0})

    received: list[SettingValues] = []
    app = typer.Typer()

    @app.command()
    @with_settings("settings", Example)
    def command(*, settings: SettingValues) -> None:
        received.append(settings)

    runner = CliRunner()
    assert runner.invoke(app, ["--new", "7", "--lr", "0.5"]).exit_code == 0
    assert received == [{"new_field": 7, "learning_rate": 0.5}]
    assert "Number of new things. [default: (3)]" in " ".join(
        runner.invoke(app, ["--help"], terminal_width=200).output.split()
    )
    assert isinstance(runner.invoke(app, ["--new", "0"]).exception, UsageError)


@pytest.mark.parametrize(
    ("command", "kinds", "in_study_files", "no_option"),
    [
        (transfer, [NoisyTrainingSettings, ScoringSettings], FINE_TUNING_SETTINGS, set()),
        (adjust, [PairOptions, LossOptions, AdjustmentSettings], ADJUSTMENT_SETTINGS, set()),
        (pretrain, [LanguageModelSettings], LANGUAGE_MODEL_SETTINGS, set()),
        (adapt, [LanguageModelSettings], LANGUAGE_MODEL_SETTINGS, {"objective"}),  # that of the model
    ],
)
def test_options_are_the_keys_of_study_files(
    command: Callable[..., None], kinds: list[type], in_study_files: SettingsOf, no_option: set[str]
) -> None:
    declared = {name for kind in kinds for name in declared_settings(kind)}
    assert set(in_study_files.fields) == declared
    assert declared - set(inspect.signature(command).parameters) == no_option


@pytest.mark.parametrize("kind", CLASSES)
def test_every_field_is_declared_with_a_full_phrase(kind: type) -> None:
    nested = {"budget"}
    assert {*declared_settings(kind), *getattr(kind, "excluded_settings", ())} == {
        f.name for f in fields(kind)
    } - nested
    for name, field in declared_settings(kind).items():
        text = field.setting.help
        assert text[0].isupper() and text.endswith(".") and len(text.split()) > 2, f"{name}: {text}"
        assert all(choice in text for choice in field.choices), f"{name}: {text}"
        assert field.default is None or field.accepts(field.default) or "MISSING" in repr(field.default)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"epochs": True}, "epochs: expected a whole number above 0, got True"),
        ({"warmup": 1.0}, "warmup: expected a number of at least 0 and below 1, got 1.0"),
        ({"clip": "x"}, r"clip: expected a number above 0 \(inf is allowed\), got 'x'"),
        ({"character_noise": 1.1}, "character_noise: expected a number of at least 0 and at most 1, got 1.1"),
    ],
)
def test_errors_name_the_field_its_limits_and_the_value(values: SettingValues, message: str) -> None:
    with pytest.raises(UsageError, match=f"^{message}$"):
        check_settings(NoisyTrainingSettings(**{"epochs": 1, "batch": 1, "learning_rate": 1.0, **values}))


def test_errors_of_the_command_line_name_the_option(capsys: pytest.CaptureFixture[str]) -> None:
    files = ["--task", "pos", "--train", "a", "--dev", "b", "--test", "fr=c"]
    with pytest.raises(SystemExit):
        main.run(["transfer", "model", *files, "--lr", "0"])
    assert capsys.readouterr().err == "error: --lr: expected a number above 0, got 0.0\n"
