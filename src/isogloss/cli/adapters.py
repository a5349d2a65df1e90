"""The adapter options of `adapt` and `transfer`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

from typer import Option

from isogloss.cli.arguments import files_by_language
from isogloss.core.errors import UsageError
from isogloss.core.registry import check_name

if TYPE_CHECKING:
    from isogloss.models.adapters.hooks import Placement as PlacementName
    from isogloss.models.interventions.adapters import Adapter, UseAdapter

ADAPTER_KINDS = ("bottleneck", "lora")

Kind = Annotated[str | None, Option("--adapter", help="Train and save only an adapter: bottleneck or lora.")]
Reduction = Annotated[int | None, Option(min=1, help="Reduction factor: hidden size divided by bottleneck size.")]
Placement = Annotated[
    str, Option(help="Placement of adapters: pfeiffer (after feed-forward layers) or houlsby (after attention too).")
]
Invertible = Annotated[
    bool, Option("--invertible/--no-invertible", help="Add an invertible adapter after the embeddings.")
]
Rank = Annotated[int, Option(min=1, help="Rank of the LoRA matrices.")]
LanguageAdapters = Annotated[
    list[Path] | None,
    Option("--adapter", help="Folder of a frozen language adapter; a task adapter and the head are trained on it."),
]
TaskAdapter = Annotated[
    int | None, Option(min=1, help="Train a task adapter with this reduction factor (usually 16) and the head only.")
]
Lora = Annotated[int | None, Option(min=1, help="Train LoRA matrices of this rank and the head only.")]
Swap = Annotated[
    list[str] | None,
    Option(help="TARGET=FOLDER: language adapter for a test set; FOLDER,FOLDER … is an ensemble of adapters."),
]
Weights = Annotated[str, Option(help="Weights of an adapter ensemble: uniform, or entropy (minimised for each batch).")]


def new_adapter(kind: str | None, reduction: int | None, placement: str, invertible: bool, rank: int) -> Adapter | None:
    """The adapter that `adapt` trains, or None for the whole model."""
    from isogloss.models.adapters.lora import lora
    from isogloss.models.interventions.adapters import LANGUAGE_REDUCTION, language_adapter

    if kind is None:
        return None
    if check_name(kind, ADAPTER_KINDS, "kind of adapter") == "lora":
        return lora(rank)
    return language_adapter(
        reduction or LANGUAGE_REDUCTION, placement=cast("PlacementName", placement), invertible=invertible
    )


def adapter_interventions(
    below: Sequence[Path] | None, reduction: int | None, placement: str, rank: int | None
) -> list[Adapter]:
    """The adapters that `transfer` adds to the model before fine-tuning."""
    from isogloss.models.adapters.lora import lora
    from isogloss.models.interventions.adapters import TASK_REDUCTION, task_adapter, use_adapter

    if rank is not None and (below or reduction):
        raise UsageError("--lora cannot be combined with --adapter or --task-adapter; give only one of them")
    if rank is not None:
        return [lora(rank)]
    language: list[Adapter] = [use_adapter(*below)] if below else []
    return (
        [*language, task_adapter(reduction or TASK_REDUCTION, placement=cast("PlacementName", placement))]
        if below or reduction
        else []
    )


def swapped_adapters(words: Sequence[str] | None, weights: str) -> dict[str, UseAdapter]:
    """The language adapters for each test set."""
    from isogloss.models.interventions.adapters import use_adapter

    ensemble = cast("Literal['uniform', 'entropy']", weights)
    folders = {lang: str(path).split(",") for lang, path in files_by_language(words or [], "--swap").items()}
    return {
        lang: use_adapter(*several, weights=ensemble if len(several) > 1 else "uniform")
        for lang, several in folders.items()
    }
