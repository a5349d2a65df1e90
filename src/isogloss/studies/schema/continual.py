"""Continual learning in study files: Equation 1 on a bitext as a second loss during fine-tuning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from pydantic import Field

from isogloss.studies.schema.references import Bitexts, Part, SpecError
from isogloss.studies.schema.settings import ReplayValues

NO_REPLAY, DEFAULT_NAME = "none", "continual"


class Continual(Part):
    """The arguments of `ig.alignment_replay`, with the defaults of the paper.

    `bitext`: one or several language pairs, of which the first `sentences` are read. `pairs`: sentence pairs per step.
    `anchor`: the model whose source vectors are kept: "original" before the interventions of the condition, or
    "adjusted" after them. `changes`: the conditions that it is crossed with; all by default.
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
        """The description in `isogloss validate`.

        >>> str(Continual(bitext="lab:qla,qlb/train/20", weight=0.1))
        'lab:qla,qlb/train/20, weight 0.1, 16 pairs a step, anchor original'
        """
        bitexts = ", ".join(text if text.startswith("lab:") else Path(text).name for text in self.bitext)
        weighting = "" if self.weighting == "published" else f" ({self.weighting} weighting)"
        return f"{bitexts}, weight {self.weight:g}{weighting}, {self.pairs} pairs a step, anchor {self.anchor}"


def named_continual(value: object) -> object:
    """Kinds of fine-tuning by name: "" without continual learning, "continual" for one without a name.

    >>> list(named_continual(["none", {"bitext": "en-fr.jsonl"}])), named_continual({"plain": "none"})
    (['', 'continual'], {'plain': None})
    """
    if value is None or value == NO_REPLAY or _is_single(value):
        value = [value]
    if isinstance(value, Mapping):
        return {name: _checked(options) for name, options in value.items()}
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise SpecError("none, {bitext: …}, a list of these, or {NAME: …}", repr(value))
    names = ["" if options is None or options == NO_REPLAY else DEFAULT_NAME for options in value]
    if len(set(names)) < len(names):
        raise SpecError("names for these ({NAME: {bitext: …}, …})", repr(value))
    return {name: _checked(options) for name, options in zip(names, value, strict=True)}


def _is_single(value: object) -> bool:
    """Whether a mapping has the options of one kind, and not several kinds by name."""
    return isinstance(value, Mapping) and any(name in Continual.model_fields for name in value)


def _checked(value: object) -> object:
    if value is None or value == NO_REPLAY:
        return None
    if isinstance(value, Mapping | Continual):
        return value
    raise SpecError("none or {bitext: …} for continual learning", repr(value))
