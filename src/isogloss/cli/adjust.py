"""`isogloss adjust MODEL --bitext FILE … --out FOLDER`: cross-lingual adjustment on word-aligned text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from isogloss.cli import language_model as shared
from isogloss.cli.arguments import AllowPickle, Device, ModelFolder, Repair, TrustRemoteCode
from isogloss.cli.screen import library_warnings, print_repairs, print_written, show_table
from isogloss.cli.settings_options import with_settings
from isogloss.cli.training import resumable, training_bar
from isogloss.core.errors import UsageError
from isogloss.core.settings import SettingValues
from isogloss.training.adjustment.settings import AdjustmentSettings, LossOptions, PairOptions

if TYPE_CHECKING:
    from isogloss.corpora.corpus import Corpus
    from isogloss.corpora.kinds.bitext import AlignedPair
    from isogloss.models.loading.loaded_model import Layer


@with_settings("words", PairOptions)
@with_settings("loss", LossOptions)
@with_settings("settings", AdjustmentSettings)
def adjust(
    *,
    model: Annotated[str, Argument(help="Model folder or Hugging Face name.")],
    bitext: Annotated[
        list[Path],
        Option(help="File of word-aligned sentence pairs (see `isogloss align`); repeatable, files are mixed."),
    ],
    folder: ModelFolder,
    layers: Annotated[
        str, Option(help="Layers whose vectors are compared: last, or numbers such as 8 or 8,12.")
    ] = "last",
    words: SettingValues,
    loss: SettingValues,
    pairs: Annotated[
        int | None, Option(min=1, help="Number of sentence pairs that are read from each file; by default all.")
    ] = None,
    settings: SettingValues,
    checkpoint_steps: shared.CheckpointSteps = None,
    seed: Annotated[int, Option(help="Random seed for the order of the pairs and for dropout.")] = 0,
    repair: Repair = False,
    device: Device = None,
    allow_pickle: AllowPickle = False,
    trust_remote_code: TrustRemoteCode = False,
) -> None:
    """Adjust a model so that words and their translations get similar vectors (Cao et al. 2020, Efimov et al. 2023)."""
    from isogloss.models.loading.load import load_model
    from isogloss.training.adjustment.adjust import adjust as adjust_model
    from isogloss.training.adjustment.adjust import read_adjustment_log
    from isogloss.training.adjustment.bitext_readability import read_bitext_readability

    corpora = [read_bitext(path, repair) for path in bitext]
    for corpus in corpora:
        if pairs is not None and pairs > len(corpus):
            raise UsageError(f"--pairs: expected at most {len(corpus)}, the pairs in {corpus.origin}, got {pairs}")
    corpora = [corpus[:pairs] for corpus in corpora]
    chosen = parse_layers(layers)
    loaded = load_model(model, device=device, allow_pickle=allow_pickle, trust_remote_code=trust_remote_code)
    with library_warnings(), resumable(folder), training_bar() as show_report:
        adjust_model(
            loaded,
            corpora,
            layers=chosen,
            out=folder,
            seed=seed,
            checkpoint_steps=checkpoint_steps,
            progress=lambda report: show_report("adjusting", report),
            **words,
            **loss,
            **settings,
        )
    rows = [(report.epoch, report.step, f"{report.loss:.4g}") for report in read_adjustment_log(folder)]
    show_table("mean loss of each epoch", ("epoch", "steps", "loss"), rows)
    head = ("text", "unknown", "byte pieces", "characters per token", "readable")
    texts = [
        (name, f"{text.unknown:.1%}", f"{text.byte_pieces:.1%}", f"{text.characters_per_token:.2f}", text.readable)
        for name, text in read_bitext_readability(folder).items()
    ]
    show_table("how the tokenizer splits the text: shares of tokens", head, texts)
    print_written(folder)


def read_bitext(path: Path, repair: bool) -> Corpus[AlignedPair]:
    from isogloss.corpora.readers import read_bitext as read

    corpus = read(path, repair=repair)
    print_repairs(corpus)
    return corpus


def parse_layers(text: str) -> list[Layer]:
    """
    >>> parse_layers("8,12"), parse_layers("last")
    ([8, 12], ['last'])
    """
    if any(not (part.isdecimal() or part in ("last", "final")) for part in text.split(",")):
        raise UsageError(f"--layers: expected last, or numbers such as 8 or 8,12, got '{text}'")
    return [int(part) if part.isdecimal() else part for part in text.split(",")]
