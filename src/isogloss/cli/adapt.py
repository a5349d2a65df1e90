"""`isogloss adapt MODEL --text FILE --out FOLDER`: train a pretrained model further on raw text of a language."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from isogloss.cli import adapters
from isogloss.cli import language_model as shared
from isogloss.cli.arguments import Device
from isogloss.cli.screen import library_warnings
from isogloss.cli.training import work_kept


def adapt(
    model: Annotated[str, typer.Argument(help="Model folder or Hugging Face name.")],
    text: Annotated[list[Path], typer.Option(help="Raw text of the language: files or folders.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder of the model; the same command goes on from it.")],
    recipe: Annotated[
        str | None,
        typer.Option(help="published (line by line, batches of 8), modern (joined, of 32) or adapter (of 64)."),
    ] = None,
    epochs: Annotated[float | None, typer.Option(min=0.01, help="Passes over the text (20).")] = None,
    steps: shared.Steps = None,
    tokens: shared.Tokens = None,
    minutes: shared.Minutes = None,
    adapter: adapters.Kind = None,
    reduction: adapters.Reduction = None,
    placement: adapters.Placement = "pfeiffer",
    invertible: adapters.Invertible = True,
    rank: adapters.Rank = 8,
    mix: Annotated[
        list[str] | None, typer.Option(help="LANGUAGE=FILE …: text of other languages, against forgetting.")
    ] = None,
    mix_share: Annotated[float, typer.Option(min=0, max=0.99, help="Share of it in what is read.")] = 0.2,
    batch: shared.Batch = None,
    length: shared.Length = None,
    lr: shared.Rate = None,
    masking: shared.Masking = None,
    by_line: shared.ByLine = None,
    accumulate: shared.Accumulate = None,
    precision: shared.Precision = None,
    compiled: shared.Compiled = None,
    probes: shared.Probes = None,
    evaluations: shared.Evaluations = None,
    checkpoint_steps: shared.CheckpointSteps = None,
    seed: shared.Seed = 0,
    repair: shared.Repair = False,
    device: Device = None,
) -> None:
    """Adapt a model to a language by training on its raw text, with the model's own objective."""
    from isogloss.training.engine.distributed import join
    from isogloss.training.language_modeling.adapt import adaptation
    from isogloss.training.language_modeling.heldout import TextFiles

    join()
    settings = shared.given(
        batch=batch, length=length, learning_rate=lr, masking=masking, by_line=by_line, accumulate=accumulate,
        precision=precision, compiled=compiled, evaluations=evaluations,
    )  # fmt: skip
    with library_warnings(), work_kept(out), shared.bar("adapting") as tell:
        _, history = adaptation(
            model,
            TextFiles(tuple(text), repair),
            out=out,
            recipe=recipe,
            adapter=adapters.new_adapter(adapter, reduction, placement, invertible, rank),
            epochs=epochs,
            steps=steps,
            tokens=tokens,
            minutes=minutes,
            mix=shared.texts(mix, "--mix", repair) if mix else None,
            mix_share=mix_share,
            probes=shared.parallel(probes),
            checkpoint_steps=checkpoint_steps,
            seed=seed,
            device=device,
            progress=tell,
            **settings,
        )
    if join().first:
        shared.show_figures(history.evaluations, out)
