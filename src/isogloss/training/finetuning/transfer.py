"""Zero-shot transfer: fine-tune on one language, evaluate on many, for several seeds.

With `out`, networks and evaluations are entries of a store, named by a hash of everything that determines them.
Interrupted runs resume, finished runs are read, and new test sets are evaluated with the stored network.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from isogloss.core.errors import UsageError
from isogloss.core.hashing import digest
from isogloss.core.registry import check_name
from isogloss.corpora.corpus import AnyCorpus
from isogloss.models.bilstm.baseline import BILSTM, bilstm
from isogloss.models.interventions.adapters import UseAdapter
from isogloss.models.interventions.intervention import Intervention, apply_interventions, describe_intervention
from isogloss.models.loading.load import load_model
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.tokenization.readability import warn_unreadable
from isogloss.results.rows.results import Results
from isogloss.store.entries import Store
from isogloss.tasks import TASKS
from isogloss.tasks.bilstm import task_for_model
from isogloss.tasks.labelled import labelled_corpora
from isogloss.tasks.scoring import Scorer, with_scorer
from isogloss.tasks.task import Task
from isogloss.training.adjustment.replay import AlignmentReplay
from isogloss.training.engine.distributed import init_distributed
from isogloss.training.engine.identity import corpus_identity, model_identity
from isogloss.training.engine.progress import EpochMetrics
from isogloss.training.engine.settings import Precision, TrainingSettings, settings_for
from isogloss.training.finetuning.convergence import unfinished_training
from isogloss.training.finetuning.finetune import ExtraLoss, FineTuned, check_corpus, finetune
from isogloss.training.finetuning.stored_results import (
    finetuned_checkpoints,
    read_evaluation,
    read_finetuned,
    read_or_compute,
    write_evaluation,
    write_finetuned,
)
from isogloss.training.finetuning.target_evaluation import evaluate_targets

TRANSFER_VERSION = 3  # increased when the same run would give other numbers
SeedProgress = Callable[[int, EpochMetrics], None]  # seed, metrics


def transfer(
    model: LoadedModel | str | os.PathLike[str],
    task: Task | str,
    train: AnyCorpus,
    dev: AnyCorpus,
    test: Mapping[str, AnyCorpus],
    *,
    before: Sequence[Intervention] = (),
    swap: Mapping[str, UseAdapter] | None = None,
    seeds: Iterable[int] = (0,),
    continual: ExtraLoss | AlignmentReplay | None = None,
    epochs: int | None = None,
    batch: int | None = None,
    learning_rate: float | None = None,
    tokens: int | None = None,
    warmup: float | None = None,
    weight_decay: float | None = None,
    clip: float | None = None,
    accumulate: int | None = None,
    precision: Precision | None = None,
    patience: int | None = None,
    subword_dropout: float | None = None,
    character_noise: float | None = None,
    scorer: Scorer | None = None,
    out: str | os.PathLike[str] | None = None,
    checkpoint_steps: int | None = None,
    progress: SeedProgress | None = None,
) -> Results:
    """Fine-tune on `train`, select the epoch on `dev`, and evaluate on test sets of languages not trained on.

    Training settings that are None have the task's published values. Corpora without labels are errors before a model
    is loaded. A test set whose evaluation fails has no rows, and its error is in `.failed` of the results.

    Args:
        model: A model, its name or its folder. "bilstm" is the baseline without pretraining.
        task: A task or its name ("pos", "parse", "ner", "nli", "qa").
        train: Annotated corpus of the source language.
        dev: Development corpus of the source language.
        test: Test corpora by name of the target.
        before: Interventions on the model, applied for every seed: `reinit("1-2")`, `partial(adjust, bitext=…)` …
        swap: Language adapter by test set, which replaces the adapter of the training language.
        seeds: Random seeds; one fine-tuning each.
        continual: A second loss in every step, such as `alignment_replay(bitext)`.
        epochs: Number of passes over the training corpus.
        batch: Number of items per step.
        learning_rate: Peak learning rate.
        tokens: Number of tokens per step, in place of a number of items.
        warmup: Share of the steps in which the learning rate rises.
        weight_decay: Weight decay of AdamW; biases and norms are not decayed.
        clip: Largest norm of the gradient.
        accumulate: Number of parts of a step, to save memory; with dropout, the masks and so the result differ.
        precision: "fp32", "bf16" or "auto" (bf16 on a GPU).
        patience: Number of epochs without a better dev score after which training stops.
        subword_dropout: Probability of BPE-dropout in the training corpus.
        character_noise: Share of training words with a wrong character.
        scorer: Script that scores answers (task "qa"): "squad" or "mlqa"; by default that of the data set.
        out: Folder for networks, predictions and rows. The same call resumes after an interruption.
        checkpoint_steps: Steps between checkpoints, besides one every ten minutes and after each epoch.
        progress: Called with the seed and the metrics during training.
    """
    init_distributed()  # before a model is loaded: selects the GPU of this process
    model = bilstm() if model == BILSTM else model
    task = with_scorer(task_for_model(model, TASKS[task] if isinstance(task, str) else task), scorer)
    settings = settings_for(
        task.defaults,
        epochs=epochs,
        batch=batch,
        learning_rate=learning_rate,
        tokens=tokens,
        warmup=warmup,
        weight_decay=weight_decay,
        clip=clip,
        accumulate=accumulate,
        precision=precision,
        patience=patience,
        subword_dropout=subword_dropout,
        character_noise=character_noise,
    )
    train, dev, test = check_corpora(task, train, dev, test)
    for name in swap or {}:
        check_name(name, test, "test set to swap adapters for")
    loaded, store = model if isinstance(model, LoadedModel) else load_model(model), None if out is None else Store(out)
    experiment = Experiment(
        loaded,
        task,
        train,
        dev,
        dict(test),
        tuple(before),
        dict(swap or {}),
        settings,
        continual,
        store,
        checkpoint_steps,
    )
    runs = [experiment.run(seed, progress) for seed in _check_seeds(seeds)]
    results = sum(runs[1:], runs[0])
    if out is not None and init_distributed().is_main:
        results.write(Path(out) / "results.parquet")
    return results


def check_corpora(
    task: Task, train: AnyCorpus, dev: AnyCorpus, test: Mapping[str, AnyCorpus]
) -> tuple[AnyCorpus, AnyCorpus, dict[str, AnyCorpus]]:
    """The corpora of a transfer without unlabelled items; one error lists all corpora that cannot be used.

    Needs no model: called before one is loaded.
    """
    roles = {name: f"test '{name}'" for name in test}
    corpora = {"train": train, "dev": dev, **{roles[name]: corpus for name, corpus in test.items()}}
    for role, corpus in corpora.items():
        check_corpus(task, corpus, role)
    labelled = labelled_corpora(task, corpora)
    for corpus in (dev, *test.values()):
        task.check_gold(corpus)
    return labelled["train"], labelled["dev"], {name: labelled[role] for name, role in roles.items()}


@dataclass(frozen=True)
class Experiment:
    """Everything that the seeds of one call of `transfer` share."""

    model: LoadedModel
    task: Task
    train: AnyCorpus
    dev: AnyCorpus
    test: Mapping[str, AnyCorpus]
    before: Sequence[Intervention]
    swap: Mapping[str, UseAdapter]
    settings: TrainingSettings
    continual: ExtraLoss | AlignmentReplay | None
    store: Store | None
    checkpoint_steps: int | None

    @property
    def changes(self) -> str:
        return " + ".join(describe_intervention(part) for part in (*self.before, self.continual) if part is not None)

    def run(self, seed: int, progress: SeedProgress | None) -> Results:
        """The results of one seed, read from the store or computed."""
        model = apply_interventions(self.model, self.before, seed)
        warn_unreadable(model, {"train": self.train, "dev": self.dev, **self.test})
        extra_loss = self.continual
        if isinstance(extra_loss, AlignmentReplay):
            extra_loss = extra_loss.bind(self.model, model, seed)
        run = self._run_identity(model, extra_loss, seed)
        id = f"finetuned-{self.task.name}-{self.train.lang}-seed{seed}-{run}"

        def train() -> FineTuned:
            return finetune(
                model,
                self.task,
                self.train,
                self.dev,
                self.settings,
                seed=seed,
                extra_loss=extra_loss,
                checkpoints=finetuned_checkpoints(self.store, id, self.checkpoint_steps) if self.store else None,
                progress=(lambda metrics: progress(seed, metrics)) if progress else None,
            )

        def read(folder: Path) -> FineTuned:
            return read_finetuned(folder, model.device, self.task)

        def evaluate() -> Results:
            run_columns = {"run": run, "model": Path(self.model.name).name, "changes": self.changes, "seed": seed}
            tuned = read_or_compute(
                self.store, id, read=read, compute=train, write=write_finetuned, device=model.device
            )
            if unfinished := unfinished_training(tuned.log):
                warnings.warn(f"{self.task.name} {self.train.lang} seed {seed}: {unfinished}", stacklevel=2)
            results = evaluate_targets(tuned, self.task, self.train.lang, self.dev, self.test, run_columns, self.swap)
            return replace(results, failed={f"{name}, seed {seed}": why for name, why in results.failed.items()})

        evaluation = f"evaluation-{digest(run, self._tests_identity())}"
        return read_or_compute(
            self.store,
            evaluation,
            read=read_evaluation,
            compute=evaluate,
            write=write_evaluation,
            device=model.device,
            is_complete=lambda results: not results.failed,  # the same call tries again
        )

    def _run_identity(self, model: LoadedModel, extra_loss: ExtraLoss | None, seed: int) -> str:
        corpora = (corpus_identity(self.train), corpus_identity(self.dev))
        settings = (asdict(self.settings), self.settings.bf16(model.device), seed, describe_intervention(extra_loss))
        scorer = [self.task.scorer] if self.task.scorer else []
        return digest(TRANSFER_VERSION, model_identity(model), self.task.name, *corpora, *settings, *scorer)

    def _tests_identity(self) -> str:
        corpora = [(name, corpus_identity(corpus)) for name, corpus in self.test.items()]
        swaps = {name: [repr(adapter), adapter.digest()] for name, adapter in self.swap.items()}
        return digest(corpora, Path(self.model.name).name, self.changes, *([swaps] if swaps else []))


def _check_seeds(seeds: Iterable[int]) -> list[int]:
    listed = list(seeds)
    if not listed or len(set(listed)) < len(listed):
        raise UsageError(f"seeds: expected one or more numbers, each once, got {listed}")
    return listed
