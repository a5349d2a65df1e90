"""`isogloss predict MODEL FILE --out FILE`: annotate a corpus with a fine-tuned model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from isogloss.cli.arguments import Device, Repair
from isogloss.cli.screen import library_warnings, print_written, show_table
from isogloss.cli.training import read_corpus_for
from isogloss.core.errors import UsageError


def predict(
    model: Annotated[Path, Argument(help="Folder of a fine-tuned model, as saved by `isogloss transfer --out`.")],
    file: Annotated[Path, Argument(help="Corpus of the kind that the task of the model needs.")],
    output: Annotated[
        Path | None, Option("--out", "-o", help="File for the corpus with predictions, in the format of the input.")
    ] = None,
    score: Annotated[bool, Option("--score", help="Score predictions against the annotation of the corpus.")] = False,
    lang: Annotated[str | None, Option(help="Language code; by default taken from the file name.")] = None,
    repair: Repair = False,
    device: Device = None,
) -> None:
    """Predict with a fine-tuned model: tags, trees, entities, labels or answers."""
    from isogloss.training.finetuning.evaluation import annotate_corpus, predict, score_predictions
    from isogloss.training.finetuning.finetuned_files import load_finetuned

    if output is None and not score:
        raise UsageError("expected --out FILE for predictions, --score for scores, or both, got neither")
    tuned = load_finetuned(model, device=device)
    corpus = read_corpus_for(tuned.task, file, lang, repair)
    gold = [tuned.task.gold(item) for item in corpus] if score else []
    with library_warnings():
        examples = tuned.task.encode(tuned.model, corpus, tuned.labels)
        predictions = predict(tuned.network, tuned.task, tuned.model, examples, tuned.labels)
    if score:
        scores = score_predictions(tuned.task, gold, predictions).scores
        show_table(f"{tuned.task.name}, {file}", ("metric", "score"), ((k, f"{v:.4f}") for k, v in scores.items()))
    if output is not None:
        annotate_corpus(tuned.task, corpus, predictions).write(output)
        print_written(output)
