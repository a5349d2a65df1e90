"""What a study will cost, in seconds of one worker: from stages of its kind that are done, or else by a rule of thumb.

The rule: fine-tuning takes 6 operations per weight and token, reading 2; a processor does 2·10¹⁰ of them a second for
each thread and a GPU 10¹⁴; a sentence has 20 tokens; a model whose weights are not here has 180 million.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from isogloss.results.store import Damaged, Store
from isogloss.studies.backends import Stage
from isogloss.studies.parts import LAB
from isogloss.studies.plan import Plan

SAMPLE = 50  # finished stages that are looked at
SPEED = {"cpu": 2e10, "cuda": 1e14}
WEIGHTS, SENTENCE, EPOCHS = 180e6, 20, 5
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


def network_bytes(stage: Stage) -> float:
    """The size of what a stage keeps of a network, in fp32."""
    if stage.kind not in ("model", "finetuned"):
        return 0.0
    return 4 * _weights(stage.recipe.get("model", stage.recipe).get("base"))


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
    weights = _weights(recipe.get("model", recipe).get("base"))
    if stage.kind == "finetuned":
        epochs: int = recipe["settings"].get("epochs", EPOCHS)
        return 6 * weights * _tokens(recipe["train"]) * epochs / speed
    if stage.kind == "evaluation":
        return 2 * weights * sum(map(_tokens, recipe["targets"].values())) / speed
    if stage.kind == "similarity":
        return 2 * weights * _tokens(recipe["measure"]["parallel"].values()) / speed
    texts = [one for change in recipe["changes"] for one in _texts(change["arguments"])]
    return 6 * weights * _tokens(texts) * EPOCHS / speed


def _texts(arguments: Mapping[str, Any]) -> list[str]:
    found = [*arguments.get("text", ()), *(one for texts in arguments.get("texts", {}).values() for one in texts)]
    return [str(one) for one in found]


def _tokens(references: Iterable[str]) -> float:
    return sum(map(_tokens_of, references))


def _tokens_of(reference: str) -> float:
    if match := LAB.fullmatch(reference):
        return int(match["number"]) * len(match["langs"].split(",")) * SENTENCE
    path = Path(reference)
    size = path.stat().st_size if path.is_file() else 10_000_000
    return size / BYTES_PER_TOKEN.get(path.suffix, 30)


def _weights(base: str | None) -> float:
    files = list(Path(base).glob("*.safetensors")) if base and Path(base).is_dir() else []
    return sum(file.stat().st_size for file in files) / 4 or WEIGHTS
