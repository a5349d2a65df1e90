"""`isogloss pretrain --text en=… fr=… --out FOLDER`: a language model from scratch, of one language or many."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from isogloss.cli import language_model as shared
from isogloss.cli.arguments import Device, files_by_language
from isogloss.cli.screen import library_warnings
from isogloss.cli.training import work_kept


def pretrain(
    text: Annotated[
        list[str], typer.Option(help="LANGUAGE=FILE or LANGUAGE=FOLDER of raw text; parallel files for tlm.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder of the model; the same command goes on from it.")],
    objective: Annotated[str, typer.Option(help="mlm (masked), clm (causal) or tlm (masked, over translations).")] = (
        "mlm"
    ),
    tokenizer: Annotated[
        str, typer.Option(help="To train: wordpiece, bpe, unigram, characters, bytes; or a folder that has one.")
    ] = "wordpiece",
    vocabulary: Annotated[int, typer.Option(min=10, help="Tokens of the vocabulary.")] = 8000,
    alphabet: Annotated[str, typer.Option(help="Letters that the vocabulary has though the text may lack them.")] = "",
    layers: Annotated[int, typer.Option(min=1)] = 6,
    width: Annotated[int, typer.Option(min=2, help="Units of a layer.")] = 256,
    heads: Annotated[int | None, typer.Option(min=1, help="Attention heads (one for 64 units).")] = None,
    norm: Annotated[str | None, typer.Option(help="post, pre or normformer; Llama's for clm, unless given.")] = None,
    alpha: Annotated[
        float | None, typer.Option(min=0, max=1, help="Languages are read as their size to this power; 1 = alike.")
    ] = None,
    steps: shared.Steps = None,
    tokens: shared.Tokens = None,
    minutes: shared.Minutes = None,
    batch: shared.Batch = None,
    length: shared.Length = None,
    optimizer: shared.Optimizer = None,
    lr: shared.Rate = None,
    warmup: shared.Warmup = None,
    decay: shared.Decay = None,
    masking: shared.Masking = None,
    mask_share: shared.MaskShare = None,
    dropout: Annotated[float, typer.Option(min=0, max=0.9, help="Of this training; 0.1 if text is read often.")] = 0.0,
    by_line: shared.ByLine = None,
    confine: Annotated[
        bool, typer.Option("--confine", help="Attention stays within each of the joined lines.")
    ] = False,
    accumulate: shared.Accumulate = None,
    precision: shared.Precision = None,
    compiled: shared.Compiled = None,
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
    from isogloss.training.engine.distributed import join
    from isogloss.training.language_modeling.model_files import read_history
    from isogloss.training.language_modeling.pretrain import pretrain as run

    join()
    translations = objective == "tlm"
    source = read_parallel(files_by_language(text, "--text")) if translations else shared.texts(text, "--text", repair)
    settings = shared.given(
        alpha=alpha, batch=batch, length=length, optimizer=optimizer, learning_rate=lr, warmup=warmup, decay=decay,
        masking=masking, mask_share=mask_share, by_line=by_line, accumulate=accumulate, precision=precision,
        compiled=compiled, evaluations=evaluations,
    )  # fmt: skip
    with library_warnings(), work_kept(out), shared.bar("pretraining") as tell:
        run(
            source,
            out,
            objective=objective,
            tokenizer=tokenizer,
            vocabulary=vocabulary,
            alphabet=alphabet,
            layers=layers,
            width=width,
            heads=heads,
            norm=norm,
            steps=steps,
            tokens=tokens,
            minutes=minutes,
            dropout=dropout,
            confine=confine,
            probes=shared.parallel(probes),
            checkpoint_steps=checkpoint_steps,
            seed=seed,
            half=half,
            device=device,
            progress=tell,
            **settings,
        )
    if join().first:
        shared.show_figures(read_history(out).evaluations, out)
