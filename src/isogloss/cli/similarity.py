"""`isogloss similarity MODEL --parallel en=… fr=…`: similarity of languages in every layer of a model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from isogloss.cli.arguments import (
    AllowPickle,
    Device,
    DeviceMap,
    Dtype,
    MaxMemory,
    OffloadFolder,
    ParallelFormat,
    TrustRemoteCode,
    files_by_language,
    memory_limits,
)
from isogloss.cli.screen import format_cell, library_warnings, print_written, progress_bars, show_frame, show_table

if TYPE_CHECKING:
    from isogloss.corpora.parallel import ParallelSet
    from isogloss.results.rows.curves import Curves


def similarity(
    models: Annotated[list[str], Argument(metavar="MODEL…", help="Model folders or Hugging Face names.")],
    parallel: Annotated[
        list[str],
        Option(
            help="Parallel text: LANGUAGE=FILE for each language (treebanks are joined by sentence id), or one file "
            "with all languages. Repeat the option, or list several after it."
        ),
    ],
    format: ParallelFormat = None,
    source: Annotated[
        str | None, Option(help="Language that is compared with all others; by default all pairs are compared.")
    ] = None,
    index: Annotated[
        str,
        Option(
            help="Similarity indexes separated by commas, with options: matching(both), matching(centre), svcca(20)."
        ),
    ] = "cka,anc,matching",
    pool: Annotated[str, Option(help="Vector of a sentence: mean, cls, last or max of its tokens.")] = "mean",
    specials: Annotated[bool, Option("--specials", help="Include special tokens in the pooling.")] = False,
    sentences: Annotated[int | None, Option(min=2, help="Number of first sentences to use; by default all.")] = None,
    keep_repeats: Annotated[
        bool,
        Option("--keep-repeats", help="Keep sentences that repeat another in every language; by default one of them."),
    ] = False,
    bootstrap: Annotated[
        int, Option(min=0, help="Number of bootstrap replicates for confidence intervals; 0 for none.")
    ] = 100,
    seed: Annotated[int, Option(help="Random seed for the bootstrap.")] = 0,
    control: Annotated[
        bool | None,
        Option(
            "--control/--no-control",
            help="Compare every curve with untrained networks of the same architecture. By default this is done for "
            "models of up to 150 million parameters (1 billion on a GPU). Without it, no verdict is yes.",
            show_default=False,
        ),
    ] = None,
    control_draws: Annotated[int, Option(min=2, help="Number of untrained networks to compare with.")] = 5,
    neurons: Annotated[int, Option(min=0, help="Number of most and least language-neutral neurons to list.")] = 0,
    mean: Annotated[bool, Option("--mean", help="Show mean and spread over language pairs, not every pair.")] = False,
    output: Annotated[
        list[Path] | None,
        Option(
            "--out",
            "-o",
            help="File for result rows (.csv .tsv .parquet .json) or charts (.html .svg .png .pdf); repeatable.",
        ),
    ] = None,
    dtype: Dtype = "float32",
    device: Device = None,
    device_map: DeviceMap = None,
    max_memory: MaxMemory = None,
    offload_folder: OffloadFolder = None,
    allow_pickle: AllowPickle = False,
    trust_remote_code: TrustRemoteCode = False,
) -> None:
    """Measure how similar the hidden states of parallel sentences are in every layer, with confidence intervals."""
    from isogloss.analysis.similarity import similarity as measure
    from isogloss.core.errors import UsageError
    from isogloss.indexes.labels import index_label
    from isogloss.indexes.named import named_index, split_indexes
    from isogloss.models.loading.load import load_model
    from isogloss.results.rows.files import check_suffix

    for path in output or ():
        check_suffix(path)
    index_names = [named_index(index_name).name for index_name in split_indexes(index)]
    if neurons and "anc" not in index_names:
        raise UsageError("--neurons needs the index 'anc'; add it to --index")
    text = _read(parallel, format)
    if sentences is not None and sentences > len(text):
        raise UsageError(f"--sentences: expected at most {len(text)}, the size of the parallel text, got {sentences}")
    text = text[:sentences]
    curves: Curves | None = None
    for model, name in zip(models, _short_names(models), strict=True):
        with library_warnings(), progress_bars(name) as bars:
            loaded = load_model(
                model,
                dtype=dtype,
                device=device,
                device_map=device_map,
                max_memory=memory_limits(max_memory),
                offload_folder=offload_folder,
                allow_pickle=allow_pickle,
                trust_remote_code=trust_remote_code,
            )
            measured = measure(
                loaded,
                text,
                source=source,
                indexes=index_names,
                pool=pool,
                specials=specials,
                keep_repeats=keep_repeats,
                bootstrap=bootstrap,
                seed=seed,
                name=name,
                progress=bars,
                control=control,
                control_draws=control_draws,
            )
        curves = measured if curves is None else curves + measured
    assert curves is not None
    for path in output or ():
        curves.write(path, pairs=not mean)
    for index_name in curves.indexes:
        if mean:
            show_frame(index_label(index_name), curves.mean().filter(index=index_name).drop("index"), ".3f")
        else:
            _show_curves(index_name, curves)
    _show_shapes(curves)
    _show_texts(curves)
    if neurons:
        show_frame("neurons by |correlation| across languages", curves.language_neutral(neurons), ".3f")
    print_written(*(output or ()))


def _read(parallel: list[str], format: str | None) -> ParallelSet:
    from isogloss.corpora.readers import read_parallel

    if len(parallel) == 1 and "=" not in parallel[0]:
        return read_parallel(parallel[0], format=format)
    return read_parallel(files_by_language(parallel, "--parallel"), format=format)


def _short_names(models: list[str]) -> list[str]:
    """The last part of each name, or the full names if that is ambiguous."""
    short = [Path(model).name for model in models]
    return short if len(set(short)) == len(short) else models


def _show_shapes(curves: Curves) -> None:
    """Show the verdict of first align, then predict on every curve, and what it rests on."""
    from isogloss.indexes.curve_verdict import verdict_text
    from isogloss.indexes.labels import index_label

    numbers = ("rise", "fall", "p", "control_bound")
    rows = [
        (row["model"], f"{row['source']}–{row['target']}", index_label(row["index"]), row["peak"],
         *(format_cell(row[name], ".3f") for name in numbers), verdict_text(row["verdict"], row["reason"]))
        for row in curves.shapes.iter_rows(named=True)
    ]  # fmt: skip
    if rows:
        head = ("model", "pair", "index", "peak", "rise", "fall", "p (noise)", "untrained", "verdict")
        show_table("first align, then predict?", head, rows)


def _show_texts(curves: Curves) -> None:
    """Show how the tokenizers split the sentences."""
    show_frame("text: unknown tokens and byte pieces (shares of tokens)", curves.texts, ".3g")


def _show_curves(index: str, curves: Curves) -> None:
    """Show layers as rows and pairs as columns, or the reverse if there are more pairs than layers."""
    from isogloss.indexes.labels import index_label

    table, title = curves.table(index), index_label(index)
    layers = table.columns[3:]
    several = table["model"].n_unique() > 1
    pairs = [f"{model} " * several + f"{source}–{target}" for model, source, target, *_ in table.iter_rows()]
    values = [[format_cell(cell, ".3f") for cell in row[3:]] for row in table.iter_rows()]
    if len(pairs) <= len(layers):
        show_table(title, ["layer", *pairs], ([layer, *row] for layer, *row in zip(layers, *values, strict=True)))
    else:
        show_table(title, ["pair", *layers], ([pair, *row] for pair, row in zip(pairs, values, strict=True)))
