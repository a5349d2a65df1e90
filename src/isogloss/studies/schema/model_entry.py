"""The models of a study file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationInfo, model_validator

from isogloss.core.bundled import SHIPPED
from isogloss.studies.schema.interventions import INTERVENTIONS, Intervention
from isogloss.studies.schema.references import Part, SpecError, absolute, known_name
from isogloss.studies.schema.text_changes import TextChange

BILSTM = "bilstm"


class ModelEntry(Part):
    """A model with its interventions in every condition; `base` is None where the first intervention creates it.

    `text`: changes of all corpora that it is trained and tested on, but not of the text of its interventions
    (for which there is `transliterated:…`).
    """

    base: str | None
    changes: tuple[Intervention, ...] = ()
    text: tuple[TextChange, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _from_file(cls, value: object, info: ValidationInfo) -> object:
        """A name, `{base: …, changes: […], text: […]}`, or an intervention that creates the model (`{pretrain: …}`)."""
        if isinstance(value, str):
            return {"base": _model_name(value, info)}
        if isinstance(value, Mapping) and "base" not in value and len(value) == 1:
            creating = [name for name, kind in INTERVENTIONS.items() if kind.creates_model]
            known_name(next(iter(value)), ["base", *creating], "way to get a model")
            return {"base": None, "changes": [value]}
        if isinstance(value, Mapping) and isinstance(value.get("base"), str):
            return {**value, "base": _model_name(value["base"], info)}
        if isinstance(value, Mapping):
            return value
        raise SpecError("a model name, a folder, or {base: …, changes: […]}", repr(value))

    @model_validator(mode="after")
    def _has_one_origin(self) -> ModelEntry:
        """Either `base` or the first intervention, and no other, provides the model."""
        creating = [position for position, change in enumerate(self.changes) if change.arguments.creates_model]
        if creating != ([0] if self.base is None else []):
            got = str([change.name for change in self.changes])
            raise SpecError("a base, or an intervention that creates a model as the first", got)
        return self


def named_models(value: object) -> object:
    """A list of models as a mapping from their short names; a single model is a list of one."""
    if isinstance(value, Mapping):
        return value
    models = value if isinstance(value, list | tuple) else [value]
    names = [Path(model).name if isinstance(model, str) else None for model in models]
    if None in names or len(set(names)) < len(names):
        raise SpecError("names for these models ({NAME: model, …})", repr(value))
    return dict(zip(names, models, strict=True))


def _model_name(value: str, info: ValidationInfo) -> str:
    """A folder as an absolute path; any other name unchanged."""
    folder = Path(absolute(value, info))
    if value == BILSTM or value in SHIPPED or not (folder.is_dir() or value.startswith((".", "/", "~"))):
        return value
    if not (folder / "config.json").is_file():
        raise SpecError("a model folder with config.json", f"'{folder}', which has none")
    return str(folder)
