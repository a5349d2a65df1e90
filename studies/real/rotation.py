"""`python studies/real/rotation.py STORE OUT.csv`: the rotation baseline for the networks of adjustment.yaml.

MODEL, DATA and PREPARED are read from the environment, as by the study, whose runs must be in the store. Each
fine-tuned network of the reference condition encodes a target's sentences with its last layer rotated onto English. The
rotation is fitted to that network on the bitext of adjustment; scores are on the targets of the study.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import polars as pl

import isogloss as ig
from isogloss.store.entries import Store
from isogloss.store.study_records import Run
from isogloss.studies.execution.corpora import read_corpora
from isogloss.studies.execution.run_study import planned
from isogloss.studies.planning.stages import EvaluationStage
from isogloss.tasks import TASKS
from isogloss.training.finetuning.evaluation import evaluate
from isogloss.training.finetuning.finetuned_files import load_finetuned

LANGUAGES = ("es", "ru", "hi", "vi")
MAX_SENTENCE_PAIRS = 3000  # these have more links than a rotation uses
STUDY = Path(__file__).parent / "adjustment.yaml"


def rotated_scores(run: Run, stage: EvaluationStage, store: Store) -> Iterator[dict[str, str | int | float]]:
    """Scores of a run's network with every target rotated."""
    tuned = load_finetuned(store.need(run.finetuned).checked_folder() / "model")
    task = TASKS[run.task]
    for lang in LANGUAGES:
        bitext = ig.read_bitext(Path(os.environ["PREPARED"]) / f"bitext/en-{lang}.jsonl.xz")
        corpus = read_corpora(stage.targets[lang], task.corpus, lang=lang)
        rotation = ig.rotation(tuned.encoder, bitext[:MAX_SENTENCE_PAIRS])
        with ig.rotated(tuned.encoder, rotation):
            evaluation = evaluate(tuned.network, task, tuned.model, {lang: corpus}, tuned.labels)[lang]
        columns = {"model": run.model, "changes": "rotation", "task": run.task, "source": "en", "target": lang}
        for metric, value in evaluation.scores.items():
            yield {**columns, "seed": run.seed, "metric": metric, "value": value, "n": len(corpus)}


def main(folder: str, out: str) -> None:
    store = Store(folder)
    plan = planned(STUDY, store)
    rows: list[dict[str, str | int | float]] = []
    for run in plan.runs:
        stage = plan.stages[run.evaluation] if run.evaluation else None
        if run.changes == "REF" and run.finetuned in store.ids() and isinstance(stage, EvaluationStage):
            rows += rotated_scores(run, stage, store)
    pl.DataFrame(rows).write_csv(out)


if __name__ == "__main__":
    main(*sys.argv[1:3])
