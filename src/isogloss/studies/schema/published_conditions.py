"""The conditions under which values were published: models, languages, recipe and data of a paper, as one YAML file.

A study names it beside its published values (`published_conditions`). Published values are shown as comparable only
where the study agrees with it.
"""

from __future__ import annotations

import os
from typing import Any

from pydantic import Field, ValidationError

from isogloss.core.errors import InputError, shown
from isogloss.studies.schema.references import Part
from isogloss.studies.schema.settings import FineTuningValues
from isogloss.studies.schema.yaml_text import read_yaml

Arguments = dict[str, Any]  # some arguments of an intervention, by name
FileNames = dict[str, str]  # by the name of a corpus, or by what follows its language ("" for the language alone)


class PublishedModel(Part):
    """A model by its name, and by the facts of `config.json` that identify a folder with another name; or the arguments
    with which it was pretrained."""

    name: str = ""
    config: dict[str, str | int] = Field(default_factory=dict)
    pretrain: Arguments | None = None


class PublishedConditions(Part):
    """`languages`: those of published means and correlations, the source included. `settings`, `train`, `test` and
    `notes` are by task; `{language}` in a file name is the language of the corpus. `changes` and `continual` are by
    condition.

    Arguments of interventions that are not listed have their defaults in the paper; required ones (a bitext) are free.
    `stars`: for a condition, the mark of the paper and the condition that it is compared with: `["**", Adjusted]`.
    """

    paper: str
    models: dict[str, PublishedModel] = Field(min_length=1)
    languages: tuple[str, ...] = ()
    settings: dict[str, FineTuningValues] = Field(default_factory=dict)
    changes: dict[str, tuple[dict[str, Arguments], ...]] = Field(default_factory=dict)
    continual: dict[str, Arguments] = Field(default_factory=dict)
    train: dict[str, FileNames] = Field(default_factory=dict)
    test: dict[str, FileNames] = Field(default_factory=dict)
    notes: dict[str, str] = Field(default_factory=dict)
    stars: dict[str, tuple[str, str]] = Field(default_factory=dict)


def read_conditions(path: str | os.PathLike[str]) -> PublishedConditions:
    data, lines = read_yaml(path)
    try:
        return PublishedConditions.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        place = tuple(part for part in first["loc"] if isinstance(part, str | int))
        line = next((lines[place[:end]] for end in range(len(place), 0, -1) if place[:end] in lines), None)
        expected = f"conditions of published values: {'.'.join(map(str, place))}: {first['msg']}"
        raise InputError(path, expected, shown(repr(first["input"])), line=line) from None
