"""`python studies/real/rotation.py STORE OUT.csv`: the rotation baseline for the networks of adjustment.yaml.

MODEL, DATA and PREPARED are taken from the environment, as by the study, which must have been run in the store. Each
fine-tuned network of the reference reads a target's sentences with its last layer rotated onto English, by a rotation
learnt from that very network on the bitext that adjustment reads; scores are those of the study's targets.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

import isogloss as ig
from isogloss.store.entries import Store
from isogloss.store.study_records import Run
from isogloss.studies.execution.corpora import read_corpora
from isogloss.studies.execution.run_study import planned
from isogloss.tasks import TASKS
from isogloss.training.finetuning.evaluation import evaluate
from isogloss.training.finetuning.finetuned_files import load_finetuned

LANGUAGES = ("es", "ru", "hi", "vi")
PAIRS = 3000  # of the bitext: more links than a rotation is learnt from
STUDY = Path(__file__).parent / "adjustment.yaml"


def rotated_scores(run: Run, recipe: dict[str, Any], store: Store) -> Iterator[dict[str, Any]]:
    """Scores of a run's network with every target rotated."""
    tuned = load_finetuned(store.need(run.finetuned).whole() / "model")
    task = TASKS[run.task]
    for lang in LANGUAGES:
        bitext = ig.read_bitext(Path(os.environ["PREPARED"]) / f"bitext/en-{lang}.jsonl.xz")
        corpus = read_corpora(recipe["targets"][lang], task.corpus, lang=lang)
        turn = ig.rotation(tuned.encoder, bitext[:PAIRS])
        with ig.rotated(tuned.encoder, turn):
            found = evaluate(tuned.network, task, tuned.model, {lang: corpus}, tuned.labels)[lang]
        told = {"model": run.model, "changes": "rotation", "task": run.task, "source": "en", "target": lang}
        for metric, value in found.scores.items():
            yield {**told, "seed": run.seed, "metric": metric, "value": value, "n": len(corpus)}


def main(folder: str, out: str) -> None:
    store = Store(folder)
    plan = planned(STUDY, store)
    done = [run for run in plan.runs if run.changes == "REF" and run.finetuned in store.ids()]
    rows = [row for run in done for row in rotated_scores(run, plan.stages[run.evaluation].recipe, store)]
    pl.DataFrame(rows).write_csv(out)


if __name__ == "__main__":
    main(*sys.argv[1:3])
