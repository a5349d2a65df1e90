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
from isogloss.tasks.bilstm import task_for_model
from isogloss.tasks.task import Task
from isogloss.training.adjustment.replay import AlignmentReplay
from isogloss.training.engine.checkpoints import Checkpoints
from isogloss.training.engine.distributed import init_distributed
from isogloss.training.engine.identity import corpus_identity, model_identity
from isogloss.training.engine.progress import EpochMetrics
from isogloss.training.engine.settings import TrainingSettings, settings_for
from isogloss.training.finetuning.adapter_swapping import swap_adapter
from isogloss.training.finetuning.evaluation import Evaluation, evaluate
from isogloss.training.finetuning.finetune import ExtraLoss, FineTuned, check_corpus, finetune
from isogloss.training.finetuning.finetuned_files import load_finetuned, save_finetuned
from isogloss.training.finetuning.result_rows import prediction_rows, result_rows

TRANSFER_VERSION = 2  # of what a run computes: raised when the same run would give other numbers


class Intervention(Protocol):
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
    before: Sequence[Intervention]
    swap: Mapping[str, UseAdapter]
    settings: TrainingSettings
    continual: ExtraLoss | AlignmentReplay | None
    out: Path | None
    checkpoint_steps: int | None

    @property
    def changes(self) -> str:
        return " + ".join(map(describe_intervention, [*self.before, *([self.continual] if self.continual else [])]))


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
    task_spec = task_for_model(model, TASKS[task] if isinstance(task, str) else task)
    plan = settings_for(task_spec.defaults, **settings)
    for role, corpus in {
        "train": train,
        "dev": dev,
        **{f"test '{name}'": target for name, target in test.items()},
    }.items():
        check_corpus(task_spec, corpus, role)
    for name in swap or {}:
        check_name(name, test, "test set to swap adapters for")
    loaded = model if isinstance(model, LoadedModel) else load_model(model)
    folder = None if out is None else Path(out)
    experiment = Experiment(
        loaded,
        task_spec,
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
    runs = [_run(experiment, seed, progress) for seed in _check_seeds(seeds)]
    results = sum(runs[1:], runs[0])
    if folder and init_distributed().is_main:
        results.write(folder / "results.parquet")
    return results


def _run(experiment: Experiment, seed: int, progress: Callable[[int, EpochMetrics], None] | None) -> Results:
    """One seed: what is on disk already is read, the rest is done and written."""
    model = apply_interventions(experiment.model, experiment.before, seed)
    extra_loss = experiment.continual
    if isinstance(extra_loss, AlignmentReplay):
        extra_loss = extra_loss.bind(experiment.model, model, seed)
    learnt = (
        asdict(experiment.settings),
        experiment.settings.bf16(model.device),
        seed,
        describe_intervention(extra_loss),
    )
    corpora_used = (corpus_identity(experiment.train), corpus_identity(experiment.dev))
    run = digest(TRANSFER_VERSION, model_identity(model), experiment.task.name, *corpora_used, *learnt)
    folder = (
        experiment.out / f"{experiment.task.name}-{experiment.train.lang}-seed{seed}-{run}" if experiment.out else None
    )
    scored_in = folder / f"scores-{_tests_identity(experiment)}" if folder else None
    if scored_in and (scored_in / "rows.parquet").exists():
        return Results(pl.read_parquet(scored_in / "rows.parquet"), pl.scan_parquet(scored_in / "predictions.parquet"))
    watch = (lambda report: progress(seed, report)) if progress else None
    tuned = _finetuned_network(experiment, model, extra_loss, run, seed, folder, watch)
    facts = {"run": run, "model": Path(experiment.model.name).name, "changes": experiment.changes, "seed": seed}
    results = evaluate_targets(
        tuned, experiment.task, experiment.train.lang, experiment.dev, experiment.test, facts, experiment.swap
    )
    if scored_in and init_distributed().is_main:
        write_rows(results.predictions.collect(), scored_in / "predictions.parquet")
        write_rows(results.frame, scored_in / "rows.parquet")  # last: its presence says that all is there
    return results


def _finetuned_network(
    experiment: Experiment,
    model: LoadedModel,
    extra_loss: ExtraLoss | None,
    run: str,
    seed: int,
    folder: Path | None,
    progress: Callable[[EpochMetrics], None] | None,
) -> FineTuned:
    """The fine-tuned network of a run: from disk, or made now and saved."""
    if folder and (folder / "model").exists():
        return load_finetuned(folder / "model", device=model.device, task=experiment.task)
    checkpoints = Checkpoints(folder / "checkpoints", run, steps=experiment.checkpoint_steps) if folder else None
    tuned = finetune(
        model,
        experiment.task,
        experiment.train,
        experiment.dev,
        experiment.settings,
        seed=seed,
        extra_loss=extra_loss,
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


def evaluate_targets(
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
    swaps = {("test", name): adapter for name, adapter in (swap or {}).items()}
    unswapped = {key: corpus for key, corpus in corpora.items() if key not in swaps}
    evaluations = evaluate(tuned.network, task, tuned.model, unswapped, tuned.labels)
    for key, adapter in swaps.items():
        swapped = swap_adapter(tuned, adapter)
        evaluations |= evaluate(swapped.network, swapped.task, swapped.model, {key: corpora[key]}, swapped.labels)
    evaluations = {key: evaluations[key] for key in corpora}
    if is_degenerate(evaluations["dev", source]):
        which = f"{task.name} {source} seed {facts['seed']}, run {facts['run']}"
        why = "the network has learnt nothing, which a lower learning rate may change"
        warnings.warn(f"{which}: all items of the dev set get the same answer; {why}", stacklevel=2)
    shared = {**facts, "task": task.name, "source": source}
    return Results(result_rows(evaluations, shared), prediction_rows(evaluations, shared).lazy())


def is_degenerate(evaluation: Evaluation) -> bool:
    """Whether items that are to be told apart all got the same prediction: what training that went astray ends with.

    >>> is_degenerate(Evaluation(["yes", "yes"], ["yes", "no"], {}, {}))
    True
    >>> is_degenerate(Evaluation(["yes", "yes"], ["yes", "yes"], {}, {}))
    False
    """
    constant = [all(value == values[0] for value in values) for values in (evaluation.predictions, evaluation.gold)]
    return constant == [True, False]


def apply_interventions(model: LoadedModel, changes: Sequence[Intervention], seed: int) -> LoadedModel:
    """The model after the changes, each with a seed of its own; the one handed in stays as it is."""
    if changes:
        model = clone(model)
    for number, change in enumerate(changes):
        model = change(model, seed=derive_seed(seed, "change", number))
    return model


def describe_intervention(thing: object) -> str:
    """A function by its name, any other callable as it shows itself.

    >>> describe_intervention(derive_seed), describe_intervention(None)
    ('derive_seed', '')
    """
    return "" if thing is None else getattr(thing, "__name__", None) or repr(thing)


def _tests_identity(experiment: Experiment) -> str:
    names = {name: corpus_identity(corpus) for name, corpus in experiment.test.items()}
    parts = [list(names.items()), Path(experiment.model.name).name, experiment.changes]
    swaps = {name: [repr(adapter), adapter.digest()] for name, adapter in experiment.swap.items()}
    return digest(*parts, *([swaps] if swaps else []))


def _check_seeds(seeds: Iterable[int]) -> list[int]:
    listed = list(seeds)
    if not listed or len(set(listed)) < len(listed):
        raise UsageError(f"seeds: expected one or more numbers, each once, got {listed}")
    return listed
