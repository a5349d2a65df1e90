"""The text changes that a study file may name. A new one is a file here, with a class of arguments, a function and a
`TextChangeKind`, and a line in the list below."""

from __future__ import annotations

from typing import Any

from pydantic import SerializeAsAny, ValidationInfo, model_validator

from isogloss.studies.schema.references import Part, parsed_change
from isogloss.studies.schema.text_changes.code_switch import CODE_SWITCH
from isogloss.studies.schema.text_changes.kind import TextArguments, TextChangeKind
from isogloss.studies.schema.text_changes.noise import NOISE
from isogloss.studies.schema.text_changes.reorder import REORDER
from isogloss.studies.schema.text_changes.transliterate import TRANSLITERATE

TEXT_CHANGES: dict[str, TextChangeKind[Any]] = {
    kind.name: kind
    for kind in (
        TRANSLITERATE,
        NOISE,
        CODE_SWITCH,
        REORDER,
    )
}


class TextChange(Part):
    """One text change of a study file, with its arguments checked."""

    name: str
    arguments: SerializeAsAny[TextArguments]

    @model_validator(mode="before")
    @classmethod
    def _from_file(cls, value: object, info: ValidationInfo) -> object:
        return parsed_change(value, TEXT_CHANGES, "text change", info)

    @property
    def kind(self) -> TextChangeKind[Any]:
        return TEXT_CHANGES[self.name]
