"""`isogloss adapt MODEL --text FILE --out FOLDER`: continue pretraining on raw text of a language."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from isogloss.cli import adapters
from isogloss.cli import language_model as shared
from isogloss.cli.arguments import Device, ModelFolder, Repair
from isogloss.cli.settings_options import with_settings
from isogloss.core.settings import SettingValues
from isogloss.training.engine.budget import Budget
from isogloss.training.language_modeling.settings import LanguageModelSettings


@with_settings("budget", Budget)
@with_settings("settings", LanguageModelSettings, without=("objective",), show_defaults=False)
def adapt(
    *,
    model: Annotated[str, Argument(help="Model folder or Hugging Face name.")],
    text: Annotated[list[Path], Option(help="Raw text of the language; a file or folder, repeatable.")],
    out: ModelFolder,
    preset: Annotated[
        str | None, Option(help="published (line by line, batches of 8), modern (joined, of 32) or adapter (of 64).")
    ] = None,
    epochs: Annotated[float | None, Option(min=0.01, help="Number of passes over the text; 20 by default.")] = None,
    budget: SettingValues,
    adapter: adapters.Kind = None,
    reduction: adapters.Reduction = None,
    placement: adapters.Placement = "pfeiffer",
    invertible: adapters.Invertible = True,
    rank: adapters.Rank = 8,
    mix: Annotated[
        list[str] | None, Option(help="LANGUAGE=FILE …: text of other languages that is mixed in, against forgetting.")
    ] = None,
    mix_share: Annotated[float, Option(min=0, max=0.99, help="Share of the sequences that come from --mix.")] = 0.2,
    settings: SettingValues,
    probes: shared.Probes = None,
    evaluations: shared.Evaluations = None,
    checkpoint_steps: shared.CheckpointSteps = None,
    seed: shared.Seed = 0,
    repair: Repair = False,
    device: Device = None,
) -> None:
    """Adapt a model to a language: continue its pretraining on raw text."""
    from isogloss.training.language_modeling.adapt import adapt as run
    from isogloss.training.language_modeling.heldout import TextFiles

    if evaluations is not None:
        settings["evaluations"] = evaluations
    with shared.language_model_training("adapting", out) as show_pace:
        run(
            model,
            TextFiles(tuple(text), repair),
            out=out,
            preset=preset,
            adapter=adapters.new_adapter(adapter, reduction, placement, invertible, rank),
            epochs=epochs,
            mix=shared.texts_by_language(mix, "--mix", repair) if mix else None,
            mix_share=mix_share,
            probes=shared.read_probes(probes),
            checkpoint_steps=checkpoint_steps,
            seed=seed,
            device=device,
            progress=show_pace,
            **budget,
            **settings,
        )
