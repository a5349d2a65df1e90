"""What a study will cost, in seconds of one worker: from stages of its kind that are done, or else by a rule of thumb.

The rule: fine-tuning takes 6 operations per weight and token, reading 2; a processor does 2·10¹⁰ of them a second for
each thread and a GPU 10¹⁴; a sentence of the laboratory has 12 tokens. How many weights there are says `weights`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from isogloss.results.store import Damaged, Store
from isogloss.studies.backends import Stage
from isogloss.studies.parts import LAB, TRANSLITERATED, mixed_parts
from isogloss.studies.planned import Plan
from isogloss.studies.spec import BILSTM
from isogloss.studies.weights import weights_of

SAMPLE = 50  # finished stages that are looked at
SPEED = {"cpu": 2e10, "cuda": 1e14}
SENTENCE, EPOCHS, BILSTM_EPOCHS = 12, 5, 40
STEP = {"batch": 32, "length": 128}  # of a language model, unless its settings say otherwise
STEPS = 10_000  # of pretraining
BYTES_PER_TOKEN = {".xz": 8, ".gz": 8, ".bz2": 8}  # of an annotated file; 30 where it is not compressed


@dataclass(frozen=True)
class Cost:
    seconds: float
    basis: str


def estimate(plan: Plan, stages: Sequence[Stage], store: Store | None) -> Cost:
    """The cost of the stages that are left."""
    done = store.ids() if store else set()
    times = _times([plan.stages[id] for id in plan.stages if id in done], store) if store else {}
    measured = sum(_kind(stage) in times for stage in stages)
    seconds = sum(times.get(_kind(stage)) or _by_rule(stage, plan) for stage in stages)
    if not stages:
        return Cost(0.0, "nothing is left to do")
    if measured == len(stages):
        return Cost(seconds, "measured on runs of this study that are done")
    return Cost(seconds, "a rule of thumb, until some runs are done" if not measured else "partly measured")


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
    """The median time of each kind of stage."""
    found: dict[tuple[str, str, str], list[float]] = {}
    for stage in done:
        seen = found.setdefault(_kind(stage), [])
        if len(seen) < SAMPLE:
            try:
                seen.append(store.need(stage.id).manifest["seconds"])
            except Damaged:
                continue
    return {kind: median(times) for kind, times in found.items() if times}


def _by_rule(stage: Stage, plan: Plan) -> float:
    recipe, threads = stage.recipe, plan.study.threads
    speed = SPEED["cuda"] if plan.device == "cuda" else SPEED["cpu"] * threads
    weights = weights_of(recipe, plan.stages)
    if stage.kind == "finetuned":
        usual = BILSTM_EPOCHS if recipe["model"]["base"] == BILSTM else EPOCHS
        epochs: int = recipe["settings"].get("epochs", usual)
        return 6 * weights * _tokens(recipe["train"]) * epochs * _replayed(recipe) / speed
    if stage.kind == "evaluation":
        return 2 * weights * sum(map(_tokens, recipe["targets"].values())) / speed
    if stage.kind == "similarity":
        return 2 * weights * _tokens(recipe["measure"]["parallel"].values()) / speed
    if stage.kind == "distances":
        return 2 * weights * _tokens(recipe["measure"]["bitext"]) / speed
    return 6 * weights * sum(_read(change["arguments"]) for change in recipe["changes"]) / speed


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


def _tokens_of(reference: str) -> float:
    reference = reference.removeprefix(TRANSLITERATED)
    if parts := mixed_parts(reference):
        return _tokens(parts) / 2
    if match := LAB.fullmatch(reference):
        return int(match["number"]) * len(match["langs"].split(",")) * SENTENCE
    path = Path(reference)
    size = path.stat().st_size if path.is_file() else 10_000_000
    return size / BYTES_PER_TOKEN.get(path.suffix, 30)
