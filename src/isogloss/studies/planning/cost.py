"""What a study will cost, in seconds of one worker: from stages of its kind that are done, or else by a rule of thumb.

The rule: training takes 6 operations per weight and token, reading 2; a processor does 2·10¹⁰ of them a second for each
thread, a GPU 3.5·10¹⁴ in bf16, and a step of fine-tuning takes it 5 ms more (fitted to two measurements on an H200, see
`docs/performance.md`); it reads, with all that the host does of it, at 4·10¹³. Of networks trained as one a step takes
4 ms more, and for each of them 0.9 ms and the bytes that clipping and AdamW move. How many weights there are says
`weights`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from statistics import fmean
from typing import Any

from isogloss.core.files import COMPRESSED
from isogloss.store.entries import Damaged, Store
from isogloss.studies.execution.backends import Job, Stage
from isogloss.studies.planning.parameter_counts import weights_of
from isogloss.studies.planning.plan import Plan
from isogloss.studies.planning.schedule import Schedule, simulate
from isogloss.studies.planning.stack_grouping import joined, trainings
from isogloss.studies.schema.references import LAB, TRANSLITERATED, mixed_parts
from isogloss.studies.schema.study import BILSTM
from isogloss.tasks import TASKS

SAMPLE = 50  # finished stages that are looked at
TRAINING = {"cpu": 2e10, "cuda": 3.5e14}  # operations a second
READING = {"cpu": 2e10, "cuda": 4e13}
STEP_SECONDS = {"cpu": 0.0, "cuda": 0.005}  # of a step of fine-tuning, beside its operations
STACK_SECONDS, NETWORK_SECONDS = 0.004, 0.0009  # of a step of several networks on a GPU, and of each of them
OPTIMIZER_SECONDS = 58 / 4.2e12  # of each weight in such a step: bytes over those that a GPU moves in a second
SENTENCE = 12  # tokens, in the laboratory
EPOCHS, BILSTM_EPOCHS = 5, 40  # where nothing is said
OVERHEAD = 0.004  # seconds that the store and the queue add to a run (python -m benchmarks studies)
STARTUP = 10.0  # seconds until a worker has its libraries (6.3) and a GPU its kernels (3.3)
STEP = {"batch": 32, "length": 128}  # of a language model, unless its settings say otherwise
STEPS = 10_000  # of pretraining
UNKNOWN_CORPUS = 300_000  # tokens, of one that is not here: those of English-EWT


@dataclass(frozen=True)
class _Form:
    """What is known of a file by its form: bytes of a token, what compression leaves of them, tokens of a sentence."""

    token: int
    compressed: float
    sentence: int


TREEBANK, OTHERS = _Form(50, 0.11, 23), _Form(6, 0.24, 13)  # as English-EWT and PUD, and PAN-X have it


@dataclass(frozen=True)
class Cost:
    seconds: float
    basis: str


def estimate(plan: Plan, stages: Sequence[Stage], store: Store | None) -> Cost:
    """The cost of the stages that are left."""
    done = store.ids() if store else set()
    times = _times([plan.stages[id] for id in plan.stages if id in done], store) if store else {}
    measured = sum(_kind(stage) in times for stage in stages)
    seconds = sum(_seconds(stage, plan, times) for stage in stages)
    if not stages:
        return Cost(0.0, "nothing is left to do")
    if measured == len(stages):
        return Cost(seconds, "measured on runs of this study that are done")
    return Cost(seconds, "a rule of thumb, until some runs are done" if not measured else "partly measured")


def schedules(plan: Plan, store: Store | None, workers: Sequence[int], together: int = 1) -> list[Schedule]:
    """How what is left would go on so many workers, each with a GPU if the plan is for GPUs."""
    jobs = weighed_jobs(plan, store, together)
    seconds = {job.name: job.seconds for job in jobs}
    return [simulate(jobs, seconds, number, overhead=OVERHEAD, startup=STARTUP) for number in workers]


def weighed_jobs(plan: Plan, store: Store | None, together: int = 1) -> list[Job]:
    """What is left to do, up to `together` trainings in a job, each job with the seconds that it may take."""
    done = store.ids() if store else set()
    times = _times([plan.stages[id] for id in plan.stages if id in done], store) if store else {}
    jobs = joined(plan.jobs(done), together, plan.stages)
    return [replace(job, seconds=_job_seconds(job, plan, times)) for job in jobs]


def network_bytes(stage: Stage, plan: Plan) -> float:
    """The size of what a stage keeps of a network, in fp32."""
    if stage.kind not in ("model", "finetuned"):
        return 0.0
    return 4 * weights_of(stage.recipe, plan.stages)


def _kind(stage: Stage) -> tuple[str, str, str]:
    """What stages that take the same time have in common."""
    model = stage.recipe.get("model", stage.recipe)
    return stage.kind, str(stage.recipe.get("task")), str(model.get("base") or model.get("stored"))


def _times(done: Sequence[Stage], store: Store) -> dict[tuple[str, str, str], float]:
    """The mean time of each kind of stage: of networks that were trained together the first has the time of all."""
    found: dict[tuple[str, str, str], list[float]] = {}
    for stage in done:
        seen = found.setdefault(_kind(stage), [])
        if len(seen) < SAMPLE:
            try:
                seen.append(store.need(stage.id).manifest["seconds"])
            except Damaged:
                continue
    return {kind: fmean(times) for kind, times in found.items() if times}


def _job_seconds(job: Job, plan: Plan, times: Mapping[tuple[str, str, str], float]) -> float:
    tuned = trainings(job)
    if len(tuned) < 2 or plan.device == "cpu" or _kind(tuned[0]) in times:
        return sum(_seconds(stage, plan, times) for stage in job.stages)
    others = (stage for stage in job.stages if stage not in tuned)
    return _as_one_by_rule(tuned, plan) + sum(_seconds(stage, plan, times) for stage in others)


def _seconds(stage: Stage, plan: Plan, times: Mapping[tuple[str, str, str], float]) -> float:
    return times.get(_kind(stage)) or _by_rule(stage, plan)


def _by_rule(stage: Stage, plan: Plan) -> float:
    recipe, threads = stage.recipe, plan.study.threads if plan.device == "cpu" else 1
    training, reading = TRAINING[plan.device] * threads, READING[plan.device] * threads
    weights = weights_of(recipe, plan.stages)
    if stage.kind == "finetuned":
        steps, operations = _taught(recipe, weights)
        return steps * STEP_SECONDS[plan.device] + operations / training
    if stage.kind == "evaluation":
        return 2 * weights * sum(map(_tokens, recipe["targets"].values())) / reading
    if stage.kind == "similarity":
        return 2 * weights * _tokens(recipe["measure"]["parallel"].values()) / reading
    if stage.kind == "distances":
        return 2 * weights * _tokens(recipe["measure"]["bitext"]) / reading
    return 6 * weights * sum(_read(change["arguments"]) for change in recipe["changes"]) / training


def _as_one_by_rule(tuned: Sequence[Stage], plan: Plan) -> float:
    """Of fine-tunings of one kind as one network, on a GPU."""
    weights = weights_of(tuned[0].recipe, plan.stages)
    steps, operations = _taught(tuned[0].recipe, weights)
    each = steps * (NETWORK_SECONDS + weights * OPTIMIZER_SECONDS) + operations / TRAINING["cuda"]
    return steps * STACK_SECONDS + len(tuned) * each


def _taught(recipe: Mapping[str, Any], weights: float) -> tuple[float, float]:
    """Steps and operations of a fine-tuning."""
    taught = {**TASKS.facts(recipe["task"])["recipe"], **recipe["settings"]}
    if recipe["model"]["base"] == BILSTM:
        taught["epochs"] = recipe["settings"].get("epochs", BILSTM_EPOCHS)
    steps = sum(map(_sentences_of, recipe["train"])) / taught["batch"]
    operations = 6 * weights * _tokens(recipe["train"]) * _replayed(recipe)
    return float(taught["epochs"] * steps), float(taught["epochs"] * operations)


def _replayed(recipe: Mapping[str, Any]) -> float:
    """How much longer a step takes with continual learning: two sentences of each pair beside those of the task."""
    told = recipe.get("continual")
    return 1 + 2 * told["pairs"] / recipe["settings"].get("batch", STEP["batch"]) if told else 1.0


def _read(arguments: Mapping[str, Any]) -> float:
    """The tokens that a change reads: as many as it is told to, or those of its texts."""
    if arguments.get("tokens"):
        return float(arguments["tokens"])
    if steps := arguments.get("steps") or (STEPS if "texts" in arguments else None):
        step = {name: arguments["settings"].get(name, usual) for name, usual in STEP.items()}
        return float(steps * step["batch"] * step["length"])
    if "bitext" in arguments:
        return _tokens(arguments["bitext"]) * float(arguments["settings"].get("epochs", 1))
    return _tokens(arguments.get("text", ())) * (arguments.get("epochs") or EPOCHS)


def _tokens(references: Iterable[str]) -> float:
    return sum(map(_tokens_of, references))


def _sentences_of(reference: str) -> float:
    reference = reference.removeprefix(TRANSLITERATED)
    return _tokens_of(reference) / (SENTENCE if LAB.fullmatch(reference) else _form(reference).sentence)


def _form(reference: str) -> _Form:
    return TREEBANK if ".conllu" in Path(reference).suffixes else OTHERS


@lru_cache(maxsize=4096)  # the same corpora serve many stages
def _tokens_of(reference: str) -> float:
    reference = reference.removeprefix(TRANSLITERATED)
    if parts := mixed_parts(reference):
        return _tokens(parts) / 2
    if match := LAB.fullmatch(reference):
        return int(match["number"]) * len(match["langs"].split(",")) * SENTENCE
    path, form = Path(reference), _form(reference)
    if not path.is_file():
        return UNKNOWN_CORPUS
    return path.stat().st_size / (form.token * (form.compressed if path.suffix in COMPRESSED else 1))
