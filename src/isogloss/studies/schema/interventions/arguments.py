"""What an intervention in study files declares."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from isogloss.studies.schema.references import Part

if TYPE_CHECKING:
    from isogloss.models.loading.loaded_model import LoadedModel


class InterventionArguments(Part, ABC):
    """One kind of intervention, model → model; its fields are the arguments in a study file.

    The first argument may be given without its name: `{reinit: "1-2"}` is `{reinit: {layers: "1-2"}}`.

    A `stored` intervention is expensive: it is applied once, with the seed among its arguments, whatever the seeds of
    the study, and its outcome is stored. Any other is applied for each run with a seed derived from the run's, and so
    is adjustment with `seed: run`, whose outcome is stored too.
    """

    version: ClassVar[int] = 1  # raised when the same arguments would give another model
    stored: ClassVar[bool] = False
    creates_model: ClassVar[bool] = False  # needs no model to start from

    def check(self, model: LoadedModel) -> None:
        """Raise an error if the intervention cannot be applied to a model, which has no weights here.

        Whatever it changes in the modules of the model, it changes here too: later interventions are checked after it.
        """

    @abstractmethod
    def apply(self, model: LoadedModel, seed: int, work: Path) -> LoadedModel:
        """The changed model; `work` is a folder for checkpoints."""
