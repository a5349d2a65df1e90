"""`isogloss extend MODEL --text FILE --size N --out FOLDER`: sub-words for a language that lacks them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from isogloss.cli import language_model as shared
from isogloss.cli.arguments import Device
from isogloss.cli.screen import library_warnings, out, show_table
from isogloss.core.errors import UsageError

if TYPE_CHECKING:
    from isogloss.models.vocabulary.extension import Initial


def extend(
    model: Annotated[str, typer.Argument(help="Model folder or Hugging Face name.")],
    text: Annotated[list[Path], typer.Option(help="Raw text of the language: files or folders.")],
    size: Annotated[int, typer.Option(min=1, help="How many sub-words to add at most.")],
    folder: Annotated[Path, typer.Option("--out", "-o", help="Folder of the extended model.")],
    initial: Annotated[
        str, typer.Option(help="First vectors: mean (of the old pieces), random or lexicon (of translations).")
    ] = "mean",
    lexicon: Annotated[
        Path | None, typer.Option(help="Known word<TAB>word of the language, for --initial lexicon.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of vectors that are drawn.")] = 0,
    repair: shared.Repair = False,
    device: Device = None,
) -> None:
    """Add sub-words of a language to a model's vocabulary; `isogloss adapt` should follow."""
    from isogloss.corpora.readers import read_lexicon
    from isogloss.models.loading.language_model_head import with_language_head
    from isogloss.models.loading.save import save_model
    from isogloss.models.vocabulary.extension import extension
    from isogloss.training.language_modeling.heldout import TextFiles

    if (folder / "config.json").exists():
        raise UsageError(f"{folder} holds a model already; give this one a folder of its own")
    words = None if lexicon is None else read_lexicon(lexicon, lang="und>und", repair=repair)
    with library_warnings():
        loaded = with_language_head(model, device)
        changed, summary = extension(
            loaded, TextFiles(tuple(text), repair), size, initial=cast("Initial", initial), lexicon=words, seed=seed
        )
        save_model(changed, folder)
    rows = [
        ("sub-words per word", f"{summary.subwords_before:.3f}", f"{summary.subwords_after:.3f}"),
        ("unknown tokens", f"{summary.unknown_before:.2%}", f"{summary.unknown_after:.2%}"),
        ("vocabulary", f"{len(loaded.tokenizer):,}", f"{len(changed.tokenizer):,}"),
    ]
    show_table(f"{len(summary.pieces):,} new sub-words", ("", "before", "after"), rows)
    out.print(f"written: {folder}", soft_wrap=True)
