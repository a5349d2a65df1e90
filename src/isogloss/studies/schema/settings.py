"""Settings in study files: the keys and their checks are generated from the declarations of the settings classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from isogloss.core.settings import SettingField, SettingValues, declared_settings
from isogloss.studies.schema.references import SpecError, did_you_mean, known_name
from isogloss.tasks.scoring import ScoringSettings
from isogloss.training.adjustment.settings import AdjustmentSettings, LossOptions, PairOptions
from isogloss.training.engine.settings import NoisyTrainingSettings
from isogloss.training.language_modeling.settings import LanguageModelSettings


class SettingsOf:
    """Annotation of a mapping that may hold any settings of these classes; a key without a value keeps its default.

    The first class that declares a name defines it. `purpose` completes the error message of an unknown key.
    """

    def __init__(self, *kinds: type, purpose: str, without: tuple[str, ...] = ()):
        self.fields: dict[str, SettingField] = {}
        for kind in kinds:
            declared = declared_settings(kind).items()
            self.fields |= {name: field for name, field in declared if name not in (*self.fields, *without)}
        self.purpose = purpose

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        values = {
            name: core_schema.typed_dict_field(self._checked(field, handler), required=False)
            for name, field in self.fields.items()
        }
        return core_schema.no_info_before_validator_function(self._given, core_schema.typed_dict_schema(values))

    def _given(self, value: object) -> object:
        """The mapping without empty values; an unknown key is an error."""
        if not isinstance(value, Mapping):
            return value
        return {
            known_name(name, self.fields, f"setting of {self.purpose}"): item
            for name, item in value.items()
            if item is not None or name not in self.fields
        }

    def _checked(self, field: SettingField, handler: GetCoreSchemaHandler) -> CoreSchema:
        def check(value: Any) -> Any:
            if not field.accepts(value):
                raise SpecError(field.expected, repr(value), did_you_mean(str(value), field.choices))
            return value

        return core_schema.no_info_after_validator_function(check, handler.generate_schema(field.type))


FINE_TUNING_SETTINGS = SettingsOf(NoisyTrainingSettings, ScoringSettings, purpose="fine-tuning")
LANGUAGE_MODEL_SETTINGS = SettingsOf(LanguageModelSettings, purpose="language modelling")
ADJUSTMENT_SETTINGS = SettingsOf(PairOptions, LossOptions, AdjustmentSettings, purpose="adjustment")
WEIGHTS = ("pull", "hold", "reduction")  # of continual learning: they follow from `weight` and `weighting`
REPLAY_SETTINGS = SettingsOf(PairOptions, LossOptions, purpose="continual learning", without=WEIGHTS)

FineTuningValues = Annotated[SettingValues, FINE_TUNING_SETTINGS]
LanguageModelValues = Annotated[SettingValues, LANGUAGE_MODEL_SETTINGS]
AdjustmentValues = Annotated[SettingValues, ADJUSTMENT_SETTINGS]
ReplayValues = Annotated[SettingValues, REPLAY_SETTINGS]
