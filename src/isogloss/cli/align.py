"""`isogloss align en=A fr=B --model MODEL --out FILE`: word alignment of parallel text, and its scores."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from isogloss.cli.arguments import (
    AllowPickle,
    Device,
    DeviceMap,
    Dtype,
    MaxMemory,
    OffloadFolder,
    ParallelFormat,
    Repair,
    TrustRemoteCode,
    files_by_language,
    memory_limits,
)
from isogloss.cli.screen import library_warnings, print_note, print_repairs, print_written, progress_bars, show_table
from isogloss.core.errors import UsageError

if TYPE_CHECKING:
    from isogloss.corpora.corpus import Corpus
    from isogloss.corpora.kinds.bitext import AlignedPair
    from isogloss.metrics.alignment import LinkCounts


def align(
    texts: Annotated[
        list[str],
        Argument(
            metavar="TEXT…",
            help="Tokenised parallel text: LANGUAGE=FILE twice (lines or treebanks), or one file (source ||| target, "
            "TSV, aligned JSON lines) or folder of aligned treebanks.",
        ),
    ],
    format: ParallelFormat = None,
    method: Annotated[
        str, Option(help="Method: embedding (vectors of --model), eflomal, or pharaoh (links from files).")
    ] = "embedding",
    model: Annotated[str | None, Option(help="Model whose vectors are compared: folder or Hugging Face name.")] = None,
    layer: Annotated[
        str | None,
        Option(help="Layer of the vectors: 0 … L, final, or best (by --gold); by default two thirds of the way up."),
    ] = None,
    unit: Annotated[
        str | None,
        Option(
            help="Unit of alignment: word; subword (words are linked if any of their sub-words are); piece (the "
            "sub-words of --model are linked, with any method, for `adjust --words pieces`)."
        ),
    ] = None,
    subword: Annotated[str | None, Option(help="Vector of a word: mean, first or last of its sub-words.")] = None,
    centre: Annotated[bool, Option("--centre", help="Subtract the sentence's mean vector from every vector.")] = False,
    symmetrise: Annotated[
        str, Option(help="Symmetrisation: intersection, union, grow-diag-final-and, or itermax (embedding only).")
    ] = "intersection",
    priors: Annotated[Path | None, Option(help="File of priors from eflomal-makepriors, for --method eflomal.")] = None,
    forward: Annotated[Path | None, Option(help="File of source-target links, for the method pharaoh.")] = None,
    reverse: Annotated[
        Path | None,
        Option(help="File of links of the reverse direction, also written as source-target, for the method pharaoh."),
    ] = None,
    base: Annotated[
        int | None,
        Option(help="Number of the first word in the files of --forward and --reverse: 0 or 1; detected by default."),
    ] = None,
    one_to_one: Annotated[bool, Option("--one-to-one", help="Leave out words with several links.")] = False,
    drop_identical: Annotated[bool, Option("--drop-identical", help="Drop links between identical words.")] = False,
    max_words: Annotated[int | None, Option(min=1, help="Leave out sentence pairs with more words than this.")] = None,
    gold: Annotated[
        Path | None, Option(help="Gold links of the same pairs for scoring: Pharaoh, JSON lines or a folder.")
    ] = None,
    gold_base: Annotated[
        int | None, Option(help="Number of the first word in a Pharaoh file of --gold: 0 or 1; detected by default.")
    ] = None,
    output: Annotated[
        Path | None,
        Option("--out", "-o", help="File for the links: .jsonl with the words, any other suffix as Pharaoh."),
    ] = None,
    repair: Repair = False,
    dtype: Dtype = "float32",
    device: Device = None,
    device_map: DeviceMap = None,
    max_memory: MaxMemory = None,
    offload_folder: OffloadFolder = None,
    allow_pickle: AllowPickle = False,
    trust_remote_code: TrustRemoteCode = False,
) -> None:
    """Align the words of parallel text with the vectors of a model, with eflomal, or from files of links."""
    from isogloss.analysis.alignment import BEST_LAYER, best_layer, score_layers
    from isogloss.analysis.alignment import align as find_links
    from isogloss.core.files import bare_suffix
    from isogloss.corpora.corpus import Corpus
    from isogloss.corpora.formats.pharaoh import FROM_ZERO
    from isogloss.models.loading.load import load_model
    from isogloss.models.loading.loaded_model import LoadedModel
    from isogloss.text.alignment.link_filters import filter_links
    from isogloss.text.alignment.scoring import score_alignment

    as_pharaoh = output is not None and bare_suffix(output) != ".jsonl"
    _check(layer, unit, gold, output, max_words if as_pharaoh else None)
    pairs = _read(texts, repair, format)
    print_repairs(pairs)
    truth = None if gold is None else _read_gold(gold, pairs, gold_base, repair)
    if truth is not None:
        print_repairs(truth)
    choices: dict[str, Any] = {"unit": unit, "subword": subword, "centre": centre or None}
    options = {"model": model, "layer": int(layer) if layer and layer.isdecimal() else layer, **choices}
    with library_warnings(), progress_bars("align") as bars:
        if model is not None and (method == "embedding" or unit == "piece"):
            options["model"] = load_model(
                model,
                dtype=dtype,
                device=device,
                device_map=device_map,
                max_memory=memory_limits(max_memory),
                offload_folder=offload_folder,
                allow_pickle=allow_pickle,
                trust_remote_code=trust_remote_code,
            )
        if layer == BEST_LAYER and truth is not None and isinstance(options["model"], LoadedModel):
            chosen = {name: value for name, value in choices.items() if value is not None}
            scores = score_layers(options["model"], truth, symmetrisation=symmetrise, **chosen)
            _show_scores("scores of each layer", "layer", {str(number): counts for number, counts in scores.items()})
            options["layer"] = best_layer(scores)
        aligned = find_links(
            pairs,
            method,
            symmetrise=symmetrise,
            priors=priors,
            forward=forward,
            reverse=reverse,
            base=base,
            one_to_one=one_to_one,
            drop_identical=drop_identical,
            max_words=max_words,
            progress=lambda done, total: bars("pairs", done, total),
            **options,
        )
    if truth is not None:
        counts = score_alignment(aligned, filter_links(truth, max_words=max_words))
        _show_scores("scores against the gold links", "method", {_label(method, options, symmetrise): counts})
    else:
        show_table("aligned", ("", ""), [(what, f"{number:,}") for what, number in aligned.counts.items()])
    if output is not None:
        links = tuple(pair.alignment for pair in aligned)
        (Corpus(links, aligned.lang, FROM_ZERO) if as_pharaoh else aligned).write(output)
        print_written(output)


def _check(layer: str | None, unit: str | None, gold: Path | None, output: Path | None, dropped: int | None) -> None:
    """Check the options before anything is read."""
    if gold is None and output is None:
        raise UsageError("expected --out FILE, --gold FILE or both, got neither: the links would be lost")
    if layer == "best" and gold is None:
        raise UsageError("--layer best is chosen with gold links; give --gold FILE")
    if unit == "piece" and gold is not None:
        raise UsageError("--unit piece links sub-words, which gold links between words cannot score; leave out --gold")
    if dropped is not None:
        raise UsageError("--max-words leaves out pairs, but a Pharaoh file needs a line for each; use --out FILE.jsonl")


def _read(texts: list[str], repair: bool, format: str | None) -> Corpus[AlignedPair]:
    from isogloss.analysis.alignment import without_links
    from isogloss.core.files import bare_suffix, read_head
    from isogloss.corpora.formats import aligned_jsonl
    from isogloss.corpora.readers import read_bitext, read_parallel

    def is_bitext(path: Path) -> bool:
        return aligned_jsonl.recognise(bare_suffix(path), read_head(path, 1))

    if len(texts) > 2:
        raise UsageError(f"TEXT: expected one file or two, got {len(texts)}")
    if len(texts) == 2:
        files: Any = files_by_language(texts, "TEXT") if "=" in texts[0] else texts
        return without_links(read_parallel(files, words=True, repair=repair, format=format))
    path = Path(texts[0])
    if path.is_dir() or format == "aligned-jsonl" or (not format and path.is_file() and is_bitext(path)):
        return without_links(read_bitext(path, repair=repair))
    return without_links(read_parallel(path, words=True, repair=repair, format=format))


def _read_gold(path: Path, pairs: Corpus[AlignedPair], base: int | None, repair: bool) -> Corpus[AlignedPair]:
    from isogloss.core.files import Repairs, bare_suffix, read_head
    from isogloss.corpora.bitext_files import join_links
    from isogloss.corpora.formats import aligned_jsonl
    from isogloss.corpora.formats.pharaoh import detect_base
    from isogloss.corpora.readers import read_bitext

    if path.is_dir() or aligned_jsonl.recognise(bare_suffix(path), read_head(path, 1)):
        return read_bitext(path, repair=repair)
    words, repairs = [(pair.source, pair.target) for pair in pairs], Repairs(repair)
    if base is None:
        base = detect_base(path, [(len(source), len(target)) for source, target in words], Repairs(repair))
        print_note(f"{path}: words are counted from {base} (detected; --gold-base sets it)")
    gold = pairs.with_items(join_links(words, path, base, repairs))
    return replace(gold, repairs=tuple(repairs.made))


def _label(method: str, options: dict[str, Any], symmetrise: str) -> str:
    from isogloss.analysis.embedding_alignment import default_layer

    if method != "embedding":
        return f"{method}, {symmetrise}"
    layer = default_layer(options["model"]) if options["layer"] is None else options["layer"]
    return f"layer {layer}, {symmetrise}"


def _show_scores(title: str, first: str, scores: dict[str, LinkCounts]) -> None:
    rows = [
        (name, f"{c.predicted:,}", *(f"{100 * share:.1f}" for share in (c.precision, c.recall, c.aer)))
        for name, c in scores.items()
    ]
    show_table(title, (first, "links", "precision", "recall", "AER"), rows)
