"""The text changes that a study file may name: one file each, and one line in the list below."""

from __future__ import annotations

from pydantic import SerializeAsAny, ValidationInfo, model_validator

from isogloss.core.registry import Registry
from isogloss.studies.schema.references import Part, parsed_change
from isogloss.studies.schema.text_changes.arguments import TextArguments

TEXT_CHANGES: Registry[type[TextArguments]] = Registry(
    "text change",
    {
        "transliterate": "isogloss.studies.schema.text_changes.transliterate:Transliterate",
        "noise": "isogloss.studies.schema.text_changes.noise:Noise",
        "code_switch": "isogloss.studies.schema.text_changes.code_switch:CodeSwitch",
        "reorder": "isogloss.studies.schema.text_changes.reorder:Reorder",
    },
)


class TextChange(Part):
    """One text change of a study file, with its arguments checked."""

    name: str
    arguments: SerializeAsAny[TextArguments]

    @model_validator(mode="before")
    @classmethod
    def _from_file(cls, value: object, info: ValidationInfo) -> object:
        return parsed_change(value, TEXT_CHANGES, "text change", info)
