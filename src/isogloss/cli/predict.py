"""`isogloss predict MODEL FILE --out FILE`: annotate a corpus with a fine-tuned model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from isogloss.cli.arguments import CorpusFormat, Device, Repair
from isogloss.cli.screen import library_warnings, print_note, print_written, show_table
from isogloss.cli.settings_options import with_settings
from isogloss.cli.training import read_corpus_for
from isogloss.core.errors import UsageError
from isogloss.core.settings import SettingValues
from isogloss.tasks.scoring import ScoringSettings, with_scorer


@with_settings("scoring", ScoringSettings)
def predict(
    *,
    model: Annotated[Path, Argument(help="Folder of a fine-tuned model, as saved by `isogloss transfer --out`.")],
    file: Annotated[Path, Argument(help="Corpus of the kind that the task of the model needs.")],
    output: Annotated[
        Path | None, Option("--out", "-o", help="File for the corpus with predictions, in the format of the input.")
    ] = None,
    score: Annotated[bool, Option("--score", help="Score predictions against the annotation of the corpus.")] = False,
    scoring: SettingValues,
    lang: Annotated[str | None, Option(help="Language code; by default taken from the file name.")] = None,
    format: CorpusFormat = None,
    repair: Repair = False,
    device: Device = None,
) -> None:
    """Predict with a fine-tuned model: tags, trees, entities, labels or answers."""
    from isogloss.tasks.labelled import is_labelled, label_facts
    from isogloss.training.finetuning.evaluation import annotate_corpus, predict, score_predictions
    from isogloss.training.finetuning.finetuned_files import load_finetuned

    if scoring and not score:
        raise UsageError("--scorer: expected --score too, got a scorer without scores")
    if output is None and not score:
        raise UsageError("expected --out FILE for predictions, --score for scores, or both, got neither")
    tuned = load_finetuned(model, device=device)
    corpus = read_corpus_for(tuned.task, file, lang, repair, format)
    task = with_scorer(tuned.task, **scoring)
    labelled = label_facts(task, corpus) if score else None
    if labelled and labelled.error:
        raise labelled.error
    with library_warnings():
        if score:
            task.check_gold(corpus)
        examples = tuned.task.encode(tuned.model, corpus, tuned.labels)
        predictions = predict(tuned.network, tuned.task, tuned.model, examples, tuned.labels)
    if labelled:
        if labelled.warning:
            print_note(labelled.warning)
        scored = [pair for pair in zip(corpus, predictions, strict=True) if is_labelled(task, pair[0])]
        gold = [task.gold(item) for item, _ in scored]
        evaluation = score_predictions(task, gold, [prediction for _, prediction in scored])
        scorer = f" (scorer {evaluation.scorer})" if evaluation.scorer else ""
        rows = ((metric, f"{value:.4f}") for metric, value in evaluation.scores.items())
        show_table(f"{task.name}, {file}{scorer}", ("metric", "score"), rows)
    if output is not None:
        annotate_corpus(tuned.task, corpus, predictions).write(output)
        print_written(output)
