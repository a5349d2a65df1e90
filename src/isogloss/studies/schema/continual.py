"""Continual learning in study files: Equation 1 on a bitext as a second loss while a task is learnt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from pydantic import Field

from isogloss.studies.schema.references import Bitexts, Part, SpecError
from isogloss.studies.schema.settings import ReplayValues

NONE, USUAL = "none", "continual"


class Continual(Part):
    """As `ig.alignment_replay`, which has the defaults of the paper.

    `bitext`: a language pair or several; `sentences`: of each, the first so many. `pairs`: sentence pairs of a step.
    `anchor`: the model that the source is held to, "original" before the changes of its column, or "adjusted" after
    them. `changes`: the columns that it is crossed with, all where not given.
    """

    bitext: Bitexts
    sentences: int | None = Field(None, ge=1)
    weight: float = Field(0.01, gt=0)
    pairs: int = Field(16, ge=1)
    anchor: Literal["original", "adjusted"] = "original"
    weighting: Literal["published", "released"] = "published"
    reduction: Literal["mean", "sum"] = "mean"
    layers: int | str | tuple[int | str, ...] = "last"
    settings: ReplayValues = Field(default_factory=dict)
    changes: tuple[str, ...] | None = None

    def __str__(self) -> str:
        """What `isogloss validate` says of it.

        >>> str(Continual(bitext="lab:qla,qlb/train/20", weight=0.1))
        'lab:qla,qlb/train/20, weight 0.1, 16 pairs a step, anchor original'
        """
        bitexts = ", ".join(one if one.startswith("lab:") else Path(one).name for one in self.bitext)
        weighting = "" if self.weighting == "published" else f" ({self.weighting} weighting)"
        return f"{bitexts}, weight {self.weight:g}{weighting}, {self.pairs} pairs a step, anchor {self.anchor}"


def named_continual(value: object) -> object:
    """One or several kinds of fine-tuning by name: "" without continual learning, "continual" for one without a name.

    >>> list(named_continual(["none", {"bitext": "en-fr.jsonl"}])), named_continual({"plain": "none"})
    (['', 'continual'], {'plain': None})
    """
    if value is None or value == NONE or _is_one(value):
        value = [value]
    if isinstance(value, Mapping):
        return {name: _checked(one) for name, one in value.items()}
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise SpecError("none, {bitext: …}, a list of these, or {NAME: …}", repr(value))
    names = ["" if one is None or one == NONE else USUAL for one in value]
    if len(set(names)) < len(names):
        raise SpecError("names for these ({NAME: {bitext: …}, …})", repr(value))
    return {name: _checked(one) for name, one in zip(names, value, strict=True)}


def _is_one(value: object) -> bool:
    """Whether a mapping is continual learning itself and not several by name."""
    return isinstance(value, Mapping) and any(name in Continual.model_fields for name in value)


def _checked(value: object) -> object:
    if value is None or value == NONE:
        return None
    if isinstance(value, Mapping | Continual):
        return value
    raise SpecError("none or {bitext: …} for continual learning", repr(value))
