"""`isogloss extend MODEL --text FILE --size N --out FOLDER`: add sub-words of a language to the vocabulary."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

from typer import Argument, Option

from isogloss.cli.arguments import Device, Repair
from isogloss.cli.screen import library_warnings, print_repairs, print_written, show_table
from isogloss.core.errors import UsageError

if TYPE_CHECKING:
    from isogloss.models.vocabulary.extension import Initial


def extend(
    model: Annotated[str, Argument(help="Model folder or Hugging Face name.")],
    text: Annotated[list[Path], Option(help="Raw text of the language; a file or folder, repeatable.")],
    size: Annotated[int, Option(min=1, help="Largest number of sub-words to add.")],
    folder: Annotated[Path, Option("--out", "-o", help="Folder for the extended model.")],
    initial: Annotated[
        str, Option(help="Initial vectors: mean (of the old sub-words), random, or lexicon (of translations).")
    ] = "mean",
    lexicon: Annotated[
        Path | None, Option(help="Dictionary for --initial lexicon, with lines of known word<TAB>word of the language.")
    ] = None,
    seed: Annotated[int, Option(help="Random seed for the initial vectors.")] = 0,
    repair: Repair = False,
    device: Device = None,
) -> None:
    """Add sub-words of a language to the vocabulary of a model; run `isogloss adapt` on the result."""
    from isogloss.corpora.readers import read_lexicon
    from isogloss.models.loading.language_model_head import with_lm_head
    from isogloss.models.loading.save import save_model
    from isogloss.models.vocabulary.extension import extend_vocabulary, extension_statistics
    from isogloss.training.language_modeling.heldout import TextFiles

    if (folder / "config.json").exists():
        raise UsageError(f"--out: expected a folder without a model, got {folder}, which contains one")
    words = None if lexicon is None else read_lexicon(lexicon, lang="und>und", repair=repair)
    if words is not None:
        print_repairs(words)
    with library_warnings():
        loaded = with_lm_head(model, device)
        lines = list(TextFiles(tuple(text), repair))
        changed = extend_vocabulary(loaded, lines, size, initial=cast("Initial", initial), lexicon=words, seed=seed)
        summary = extension_statistics(loaded, changed, lines)
        save_model(changed, folder)
    rows = [
        ("sub-words per word", f"{summary.subwords_before:.3f}", f"{summary.subwords_after:.3f}"),
        ("unknown tokens", f"{summary.unknown_before:.2%}", f"{summary.unknown_after:.2%}"),
        ("vocabulary", f"{len(loaded.tokenizer):,}", f"{len(changed.tokenizer):,}"),
    ]
    show_table(f"{len(summary.pieces):,} sub-words added", ("", "before", "after"), rows)
    print_written(folder)
