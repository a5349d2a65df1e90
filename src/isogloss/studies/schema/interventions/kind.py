"""What an intervention in study files declares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from isogloss.studies.schema.references import Part

if TYPE_CHECKING:
    from isogloss.models.loading.loaded_model import LoadedModel

A = TypeVar("A", bound=Part)
RUN_SEED = "run"  # as the value of `seed`: the seed is derived from the run's


@dataclass(frozen=True)
class InterventionKind(Generic[A]):
    """One kind of intervention, model → model.

    `apply(model, arguments, seed, work)` returns the changed model; `work` is a folder for checkpoints. In a study
    file the first argument may be given without its name: `{reinit: "1-2"}` is `{reinit: {layers: "1-2"}}`.

    A `stored` intervention is expensive: it is applied once, with the seed among its arguments, whatever the seeds of
    the study, and its outcome is stored. Any other is applied for each run with a seed derived from the run's, and so
    is adjustment with `seed: run`, whose outcome is stored too.
    """

    name: str
    arguments: type[A]
    apply: Callable[[LoadedModel, A, int, Path], LoadedModel]
    version: int = 1  # raised when the same arguments would give another model
    stored: bool = False
    creates_model: bool = False  # needs no model to start from
