"""`isogloss pretrain --text en=… fr=… --out FOLDER`: a language model from scratch, of one language or many."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from isogloss.cli import language_model as shared
from isogloss.cli.arguments import Device, files_by_language
from isogloss.cli.screen import library_warnings
from isogloss.cli.settings_options import with_settings
from isogloss.cli.training import resumable
from isogloss.core.settings import SettingValues
from isogloss.training.engine.budget import Budget
from isogloss.training.language_modeling.settings import LanguageModelSettings


@with_settings("budget", Budget)
@with_settings("settings", LanguageModelSettings)
def pretrain(
    *,
    text: Annotated[
        list[str], typer.Option(help="LANGUAGE=FILE or LANGUAGE=FOLDER of raw text; parallel files for tlm.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder of the model; the same command goes on from it.")],
    tokenizer: Annotated[
        str, typer.Option(help="To train: wordpiece, bpe, unigram, characters, bytes; or a folder that has one.")
    ] = "wordpiece",
    vocabulary: Annotated[int, typer.Option(min=10, help="Tokens of the vocabulary.")] = 8000,
    alphabet: Annotated[str, typer.Option(help="Letters that the vocabulary has though the text may lack them.")] = "",
    layers: Annotated[int, typer.Option(min=1)] = 6,
    width: Annotated[int, typer.Option(min=2, help="Units of a layer.")] = 256,
    heads: Annotated[int | None, typer.Option(min=1, help="Attention heads (one for 64 units).")] = None,
    norm: Annotated[str | None, typer.Option(help="post, pre or normformer; Llama's for clm, unless given.")] = None,
    budget: SettingValues,
    settings: SettingValues,
    dropout: Annotated[float, typer.Option(min=0, max=0.9, help="Of this training; 0.1 if text is read often.")] = 0.0,
    probes: shared.Probes = None,
    evaluations: shared.Evaluations = None,
    checkpoint_steps: shared.CheckpointSteps = None,
    seed: shared.Seed = 0,
    half: Annotated[bool, typer.Option("--half", help="Save the weights in fp16.")] = False,
    repair: shared.Repair = False,
    device: Device = None,
) -> None:
    """Train tokenizer and model from scratch on raw text; the folder loads with `AutoModel.from_pretrained`."""
    from isogloss.corpora.readers import read_parallel
    from isogloss.training.engine.distributed import init_distributed
    from isogloss.training.language_modeling.model_files import read_history
    from isogloss.training.language_modeling.pretrain import pretrain as run

    init_distributed()
    translations = settings.get("objective") == "tlm"
    source = (
        read_parallel(files_by_language(text, "--text"))
        if translations
        else shared.texts_by_language(text, "--text", repair)
    )
    with library_warnings(), resumable(out), shared.budget_bar("pretraining") as show_pace:
        run(
            source,
            out,
            tokenizer=tokenizer,
            vocabulary=vocabulary,
            alphabet=alphabet,
            layers=layers,
            width=width,
            heads=heads,
            norm=norm,
            dropout=dropout,
            probes=shared.read_probes(probes),
            checkpoint_steps=checkpoint_steps,
            seed=seed,
            half=half,
            device=device,
            progress=show_pace,
            **budget,
            **settings,
            **({} if evaluations is None else {"evaluations": evaluations}),
        )
    if init_distributed().is_main:
        shared.show_figures(read_history(out).evaluations, out)
