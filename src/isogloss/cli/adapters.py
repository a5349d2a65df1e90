"""The options of `adapt` and `transfer` that concern adapters, and what they make."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from isogloss.cli.arguments import files_by_language
from isogloss.core.errors import UsageError
from isogloss.core.registry import check_name

if TYPE_CHECKING:
    from isogloss.models.adapters.interventions import Adapter, UseAdapter

ADAPTER_KINDS = ("bottleneck", "lora")

Kind = Annotated[
    str | None, typer.Option("--adapter", help="Train an adapter only, and write it alone: bottleneck or lora.")
]
Reduction = Annotated[
    int | None, typer.Option(min=1, help="How many times narrower than the model its bottlenecks are.")
]
Placement = Annotated[str, typer.Option(help="pfeiffer (after each feed-forward) or houlsby (after attention too).")]
Invertible = Annotated[bool, typer.Option("--invertible/--no-invertible", help="With an adapter of the embeddings.")]
Rank = Annotated[int, typer.Option(min=1, help="Of lora's matrices.")]
LanguageAdapters = Annotated[
    list[Path] | None,
    typer.Option("--adapter", help="Language adapter below a new task adapter, which alone is trained with the head."),
]
TaskAdapter = Annotated[
    int | None, typer.Option(min=1, help="Train a task adapter, so many times narrower than the model (16).")
]
Lora = Annotated[int | None, typer.Option(min=1, help="Train low-rank matrices of this rank and the head only.")]
Swap = Annotated[
    list[str] | None,
    typer.Option(help="TARGET=FOLDER: the language adapter for a test set; FOLDER,FOLDER … is an ensemble."),
]
Weights = Annotated[str, typer.Option(help="Of ensembles: uniform, or entropy (least for each batch).")]


def new_adapter(kind: str | None, reduction: int | None, placement: str, invertible: bool, rank: int) -> Adapter | None:
    """The adapter that `adapt` trains."""
    from isogloss.models.adapters.interventions import LANGUAGE_REDUCTION, language_adapter
    from isogloss.models.adapters.lora import lora

    if kind is None:
        return None
    if check_name(kind, ADAPTER_KINDS, "kind of adapter") == "lora":
        return lora(rank)
    chosen: Any = placement
    return language_adapter(reduction or LANGUAGE_REDUCTION, placement=chosen, invertible=invertible)


def adapter_interventions(
    below: Sequence[Path] | None, reduction: int | None, placement: str, rank: int | None
) -> list[Adapter]:
    """What `transfer` does to the model before fine-tuning."""
    from isogloss.models.adapters.interventions import TASK_REDUCTION, task_adapter, use_adapter
    from isogloss.models.adapters.lora import lora

    if rank is not None and (below or reduction):
        raise UsageError("--lora does not go with --adapter or --task-adapter; give one")
    if rank is not None:
        return [lora(rank)]
    chosen: Any = placement
    language: list[Adapter] = [use_adapter(*below)] if below else []
    return [*language, task_adapter(reduction or TASK_REDUCTION, placement=chosen)] if below or reduction else []


def swapped_adapters(words: Sequence[str] | None, weights: str) -> dict[str, UseAdapter]:
    """Which adapters each test set is read with."""
    from isogloss.models.adapters.interventions import use_adapter

    chosen: Any = weights
    folders = {lang: str(path).split(",") for lang, path in files_by_language(words or [], "--swap").items()}
    return {
        lang: use_adapter(*several, weights=chosen if len(several) > 1 else "uniform")
        for lang, several in folders.items()
    }
