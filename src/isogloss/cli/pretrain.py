"""`isogloss pretrain --text en=… fr=… --out FOLDER`: train a language model from scratch."""

from __future__ import annotations

from typing import Annotated

from typer import Option

from isogloss.cli import language_model as shared
from isogloss.cli.arguments import Device, ModelFolder, Repair, files_by_language
from isogloss.cli.settings_options import with_settings
from isogloss.core.settings import SettingValues
from isogloss.training.engine.budget import Budget
from isogloss.training.language_modeling.settings import LanguageModelSettings


@with_settings("budget", Budget)
@with_settings("settings", LanguageModelSettings)
def pretrain(
    *,
    text: Annotated[
        list[str], Option(help="LANGUAGE=FILE or LANGUAGE=FOLDER with raw text; parallel files for the objective tlm.")
    ],
    out: ModelFolder,
    tokenizer: Annotated[
        str,
        Option(help="Tokenizer to train (wordpiece, bpe, unigram, characters, bytes), or folder of an existing one."),
    ] = "wordpiece",
    vocabulary: Annotated[int, Option(min=10, help="Size of the vocabulary.")] = 8000,
    alphabet: Annotated[str, Option(help="Characters that the vocabulary contains even if the text does not.")] = "",
    layers: Annotated[int, Option(min=1, help="Number of layers.")] = 6,
    width: Annotated[int, Option(min=2, help="Hidden size.")] = 256,
    heads: Annotated[int | None, Option(min=1, help="Number of heads; by default one per 64 hidden units.")] = None,
    norm: Annotated[
        str | None, Option(help="Layer normalisation: post, pre or normformer; by default post, for clm that of Llama.")
    ] = None,
    budget: SettingValues,
    settings: SettingValues,
    dropout: Annotated[
        float, Option(min=0, max=0.9, help="Dropout during pretraining; 0.1 is usual if the text is read many times.")
    ] = 0.0,
    probes: shared.Probes = None,
    evaluations: shared.Evaluations = None,
    checkpoint_steps: shared.CheckpointSteps = None,
    seed: shared.Seed = 0,
    half: Annotated[bool, Option("--half", help="Save the weights in half precision (fp16).")] = False,
    repair: Repair = False,
    device: Device = None,
) -> None:
    """Train a tokenizer and a model from scratch; the folder loads with `AutoModel.from_pretrained`."""
    from isogloss.corpora.readers import read_parallel
    from isogloss.training.language_modeling.pretrain import pretrain as run

    translations = settings.get("objective") == "tlm"
    source = (
        read_parallel(files_by_language(text, "--text"))
        if translations
        else shared.texts_by_language(text, "--text", repair)
    )
    if evaluations is not None:
        settings["evaluations"] = evaluations
    with shared.language_model_training("pretraining", out) as show_pace:
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
        )
