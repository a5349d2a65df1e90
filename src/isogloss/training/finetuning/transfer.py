"""Zero-shot transfer: fine-tune on one language, score on many, for several seeds; nothing is done twice.

With a folder to keep things in, every run has one of its own there, named after its identity: the hash of all
that decides its outcome. A run that was interrupted goes on, a finished one is read back, and new test sets are
scored with the network that is already there.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

import polars as pl

from isogloss.core.errors import UsageError
from isogloss.core.files import atomic_write
from isogloss.core.hashing import digest
from isogloss.core.registry import check_name
from isogloss.core.seeds import derive_seed
from isogloss.corpora.corpus import AnyCorpus
from isogloss.models.adapters.interventions import UseAdapter
from isogloss.models.bilstm.baseline import BILSTM, bilstm
from isogloss.models.loading.load import load_model
from isogloss.models.loading.loaded_model import LoadedModel, clone
from isogloss.results.rows.files import write_rows
from isogloss.results.rows.results import Results
from isogloss.tasks import TASKS
from isogloss.tasks.bilstm import task_over
from isogloss.tasks.task import Task
from isogloss.training.adjustment.replay import AlignmentReplay
from isogloss.training.engine.checkpoints import Checkpoints
from isogloss.training.engine.distributed import init_distributed
from isogloss.training.engine.identity import corpus_identity, model_identity
from isogloss.training.engine.progress import EpochMetrics
from isogloss.training.engine.settings import TrainingSettings, settings_for
from isogloss.training.finetuning.adapter_swapping import swapped
from isogloss.training.finetuning.evaluation import Evaluation, evaluate
from isogloss.training.finetuning.finetune import ExtraLoss, FineTuned, check_corpus, finetune
from isogloss.training.finetuning.finetuned_files import load_finetuned, save_finetuned
from isogloss.training.finetuning.result_rows import prediction_rows, result_rows

VERSION = 2  # of what a run computes: raised when the same run would give other numbers


class ModelChange(Protocol):
    """A change done to a model before fine-tuning; the model it is handed is its own to change."""

    def __call__(self, model: LoadedModel, *, seed: int) -> LoadedModel: ...


@dataclass(frozen=True)
class Experiment:
    """All that the seeds of one call of `transfer` share."""

    model: LoadedModel
    task: Task
    train: AnyCorpus
    dev: AnyCorpus
    test: Mapping[str, AnyCorpus]
    before: Sequence[ModelChange]
    swap: Mapping[str, UseAdapter]
    settings: TrainingSettings
    continual: ExtraLoss | AlignmentReplay | None
    out: Path | None
    checkpoint_steps: int | None

    @property
    def changes(self) -> str:
        return " + ".join(map(described, [*self.before, *([self.continual] if self.continual else [])]))


def transfer(
    model: LoadedModel | str | os.PathLike[str],
    task: Task | str,
    train: AnyCorpus,
    dev: AnyCorpus,
    test: Mapping[str, AnyCorpus],
    *,
    before: Sequence[ModelChange] = (),
    swap: Mapping[str, UseAdapter] | None = None,
    seeds: Iterable[int] = (0,),
    continual: ExtraLoss | AlignmentReplay | None = None,
    out: str | os.PathLike[str] | None = None,
    checkpoint_steps: int | None = None,
    progress: Callable[[int, EpochMetrics], None] | None = None,
    **settings: Any,
) -> Results:
    """Fine-tune on `train`, choose the epoch on `dev`, and score every test set without having seen its language.

    The model "bilstm" is the baseline without pretraining; `bilstm(vectors)` is the same with word vectors.
    `before`: model changes, done anew for every seed. `swap`: for a test set, the language adapter that takes the place
    of the one that was there in training. `continual`: a second loss in every step, such as
    `alignment_replay`. `out`: a folder
    for networks, predictions and rows; the same call goes on where it was interrupted (checkpoints are made
    every ten minutes, after each epoch, and every `checkpoint_steps` steps). `settings` are those of `Settings`
    (epochs, batch, learning_rate …); what is not given is the task's published recipe.
    """
    init_distributed()  # before a model is loaded: it says which GPU is ours
    model = bilstm() if model == BILSTM else model
    chosen = task_over(model, TASKS[task] if isinstance(task, str) else task)
    plan = settings_for(chosen.recipe, **settings)
    for role, corpus in {"train": train, "dev": dev, **{f"test '{name}'": one for name, one in test.items()}}.items():
        check_corpus(chosen, corpus, role)
    for name in swap or {}:
        check_name(name, test, "test set to swap adapters for")
    loaded = model if isinstance(model, LoadedModel) else load_model(model)
    folder = None if out is None else Path(out)
    experiment = Experiment(
        loaded,
        chosen,
        train,
        dev,
        dict(test),
        tuple(before),
        dict(swap or {}),
        plan,
        continual,
        folder,
        checkpoint_steps,
    )
    runs = [_run(experiment, seed, progress) for seed in _distinct(seeds)]
    results = sum(runs[1:], runs[0])
    if folder and init_distributed().is_main:
        results.write(folder / "results.parquet")
    return results


def _run(experiment: Experiment, seed: int, progress: Callable[[int, EpochMetrics], None] | None) -> Results:
    """One seed: what is on disk already is read, the rest is done and written."""
    this = experiment
    model = changed(this.model, this.before, seed)
    extra = this.continual
    if isinstance(extra, AlignmentReplay):
        extra = extra.bound(this.model, model, seed)
    learnt = (asdict(this.settings), this.settings.bf16(model.device), seed, described(extra))
    corpora_used = (corpus_identity(this.train), corpus_identity(this.dev))
    run = digest(VERSION, model_identity(model), this.task.name, *corpora_used, *learnt)
    folder = this.out / f"{this.task.name}-{this.train.lang}-seed{seed}-{run}" if this.out else None
    scored_in = folder / f"scores-{_tests_identity(this)}" if folder else None
    if scored_in and (scored_in / "rows.parquet").exists():
        return Results(pl.read_parquet(scored_in / "rows.parquet"), pl.scan_parquet(scored_in / "predictions.parquet"))
    watch = (lambda report: progress(seed, report)) if progress else None
    tuned = _tuned(this, model, extra, run, seed, folder, watch)
    facts = {"run": run, "model": Path(this.model.name).name, "changes": this.changes, "seed": seed}
    results = scores(tuned, this.task, this.train.lang, this.dev, this.test, facts, this.swap)
    if scored_in and init_distributed().is_main:
        write_rows(results.predictions.collect(), scored_in / "predictions.parquet")
        write_rows(results.frame, scored_in / "rows.parquet")  # last: its presence says that all is there
    return results


def _tuned(
    experiment: Experiment,
    model: LoadedModel,
    extra: ExtraLoss | None,
    run: str,
    seed: int,
    folder: Path | None,
    progress: Callable[[EpochMetrics], None] | None,
) -> FineTuned:
    """The fine-tuned network of a run: from disk, or made now and saved."""
    this = experiment
    if folder and (folder / "model").exists():
        return load_finetuned(folder / "model", device=model.device, task=this.task)
    checkpoints = Checkpoints(folder / "checkpoints", run, steps=this.checkpoint_steps) if folder else None
    tuned = finetune(
        model,
        this.task,
        this.train,
        this.dev,
        this.settings,
        seed=seed,
        extra=extra,
        checkpoints=checkpoints,
        progress=progress,
    )
    workers = init_distributed()
    workers.barrier()  # until all have read what the first now removes
    if folder and checkpoints and workers.is_main:
        with atomic_write(folder / "log.tsv") as file:
            file.write(pl.DataFrame([asdict(report) for report in tuned.log]).write_csv(separator="\t"))
        save_finetuned(tuned, folder / "model")
        checkpoints.clear()
    return tuned


def scores(
    tuned: FineTuned,
    task: Task,
    source: str,
    dev: AnyCorpus,
    test: Mapping[str, AnyCorpus],
    facts: Mapping[str, Any],
    swap: Mapping[str, UseAdapter] | None = None,
) -> Results:
    """Rows and predictions of a fine-tuned network; `facts` fill the columns that say which run it is."""
    corpora = {**{("test", name): corpus for name, corpus in test.items()}, ("dev", source): dev}
    others = {("test", name): adapter for name, adapter in (swap or {}).items()}
    kept = {key: corpus for key, corpus in corpora.items() if key not in others}
    evaluations = evaluate(tuned.network, task, tuned.model, kept, tuned.labels)
    for key, adapter in others.items():
        other = swapped(tuned, adapter)
        evaluations |= evaluate(other.network, other.task, other.model, {key: corpora[key]}, other.labels)
    evaluations = {key: evaluations[key] for key in corpora}
    if one_answer(evaluations["dev", source]):
        which = f"{task.name} {source} seed {facts['seed']}, run {facts['run']}"
        why = "the network has learnt nothing, which a lower learning rate may change"
        warnings.warn(f"{which}: all items of the dev set get the same answer; {why}", stacklevel=2)
    shared = {**facts, "task": task.name, "source": source}
    return Results(result_rows(evaluations, shared), prediction_rows(evaluations, shared).lazy())


def one_answer(evaluation: Evaluation) -> bool:
    """Whether items that are to be told apart all got the same prediction: what training that went astray ends with.

    >>> one_answer(Evaluation(["yes", "yes"], ["yes", "no"], {}, {}))
    True
    >>> one_answer(Evaluation(["yes", "yes"], ["yes", "yes"], {}, {}))
    False
    """
    alike = [all(value == values[0] for value in values) for values in (evaluation.predictions, evaluation.gold)]
    return alike == [True, False]


def changed(model: LoadedModel, changes: Sequence[ModelChange], seed: int) -> LoadedModel:
    """The model after the changes, each with a seed of its own; the one handed in stays as it is."""
    if changes:
        model = clone(model)
    for number, change in enumerate(changes):
        model = change(model, seed=derive_seed(seed, "change", number))
    return model


def described(thing: object) -> str:
    """A function by its name, any other callable as it shows itself.

    >>> described(derive_seed), described(None)
    ('derive_seed', '')
    """
    return "" if thing is None else getattr(thing, "__name__", None) or repr(thing)


def _tests_identity(experiment: Experiment) -> str:
    names = {name: corpus_identity(corpus) for name, corpus in experiment.test.items()}
    told = [list(names.items()), Path(experiment.model.name).name, experiment.changes]
    swaps = {name: [repr(adapter), adapter.digest()] for name, adapter in experiment.swap.items()}
    return digest(*told, *([swaps] if swaps else []))


def _distinct(seeds: Iterable[int]) -> list[int]:
    listed = list(seeds)
    if not listed or len(set(listed)) < len(listed):
        raise UsageError(f"seeds: expected one or more numbers, each once, got {listed}")
    return listed
