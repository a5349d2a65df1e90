"""A slice of Table 1 of "First Align, then Predict" at its full size, and what the whole of it takes.

`table-1.yaml` beside this file is the whole: three tasks × REF and six pairs of layers × five seeds, from English to 17
targets, by the published recipes. Done is one seed of it, 21 runs, with a third of the epochs (`TASK=pos` in the
environment: of that task alone; `PART=1`: all epochs). On a GPU the seven runs of a task are trained as one network
(`STACK=1`: each by itself), and the tasks share the GPU, by MPS where that is there (`PER_GPU=1`: one after the
other). The whole is five times the slice, and its fine-tuning three times that. Reading, the start of kernels and their
recording, which the whole does not repeat, are multiplied too: it takes rather less. Without the real treebanks, or at
the small size, the corpora are the laboratory's, and on a CPU the runs are three of each task.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import torch

from benchmarks import finetuning, mps
from benchmarks.timing import SHARED
from isogloss.models.loading.library_messages import quiet_library
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.store.entries import Store
from isogloss.studies.execution.run_study import planned, run_study
from isogloss.studies.planning.explain import explain
from isogloss.studies.planning.plan import Plan
from isogloss.studies.planning.stages import StageOfTask
from isogloss.studies.schema.study_file import read_study
from isogloss.tasks import TASKS

STUDY = Path(__file__).parent / "table-1.yaml"
SLICE = {"seeds": 1, "networks": "keep"}  # they say how long their training took
FEWER = {"changes": {"REF": [], "1-2": [{"reinit": "1-2"}], "3-4": [{"reinit": "3-4"}]}}
PER_GPU, DEFAULT_STACK = 3, 7
LANGUAGES = ("qla", "qlb", "qlc", "qld")
GPUS = (1, 8, 64)
STAGES = ("finetuned", "evaluation")


def run(quick: bool = False) -> None:
    gpu = torch.cuda.is_available()
    device = "cuda" if gpu else "cpu"
    bank, _ = finetuning.corpora(64 if quick else None)
    with tempfile.TemporaryDirectory() as folder:
        model = save_model(finetuning.untrained(bank, finetuning.BASE if gpu else finetuning.SMALL), Path(folder))
        values: dict[str, Any] = {"MODEL": str(model), "UD": str(SHARED / "data/ud"), "PANX": str(SHARED / "data/panx")}
        sliced = SLICE | ({} if gpu and not quick else FEWER)
        if quick or not SHARED.exists():
            values |= made_up(40 if quick else 12_544, 1 if quick else None)
        if task := os.environ.get("TASK"):
            values["tasks"] = [task]
        store = Store(Path(folder) / "store")
        share = int(os.environ.get("PER_GPU", PER_GPU)) if gpu else 1
        stack = int(os.environ.get("STACK", DEFAULT_STACK)) if gpu else 1
        start = time.perf_counter()
        part = 1 if quick else int(os.environ.get("PART", 3))
        epochs = {name: {"epochs": TASKS[name].defaults.epochs // part} for name in ("pos", "parse", "ner")}
        shorter = {} if part == 1 else {"settings": epochs}
        study, place = read_study(STUDY, {**values, **sliced, **shorter}), "cuda:0" if gpu else "cpu"
        by_mps = share > 1 and mps.available()
        with mps.service(Path(folder) / "mps") if by_mps else contextlib.nullcontext():
            results = run_study(study, store=store.folder, device=place, workers=share, per_gpu=share, stack=stack)
        assert not results.failed, results.failed
        seconds, runs = time.perf_counter() - start, results.frame["run"].n_unique()
        plan = planned(STUDY, store, set={**values, **sliced, **shorter}, device=device)
        whole = planned(STUDY, store, set=values, device=device)
        tasks = sorted({run.task for run in plan.runs})
        tuning, scoring = ({one: sum(_times(store, plan, one, kind)) for one in tasks} for kind in STAGES)
        busy = part * sum(tuning.values()) + sum(scoring.values())
        print(f"the slice, {runs} runs, 1/{part} of the epochs, {stack} as one and {share} such jobs at a time"
              f"{', MPS' if by_mps else ''}: "
              f"{seconds:.1f} s with the start of workers")  # fmt: skip
        print(f"all {len(whole.runs)} runs, all epochs: {len(whole.runs) / runs * busy / share / 60:.1f} min")
        for one in tasks:
            print(f"{one:6} {tuning[one]:8.2f} s of fine-tuning, {scoring[one]:6.2f} s for all targets, in all")
        if share > 1 or stack > 1 or part > 1:  # such times say nothing about a run by itself
            return
        for what, how in explain(whole, store, GPUS):
            if what in ("runs", "cost") or what.startswith("on "):
                print(f"{what:12} {how}".replace("GPU", "GPU" if gpu else "worker"))


def save_model(model: LoadedModel, folder: Path) -> Path:
    """A model with random weights as a folder that studies can name."""
    network: Any = model.network
    with quiet_library():
        network.save_pretrained(folder / "model")
    model.tokenizer.save_pretrained(folder / "model")
    return folder / "model"


def made_up(sentences: int, epochs: int | None) -> dict[str, Any]:
    """Corpora of the laboratory in place of the real ones."""
    values: dict[str, Any] = {
        "sources": {"qla": {"train": f"lab:qla/train/{sentences}", "dev": f"lab:qla/dev/{sentences // 4}"}},
        "targets": {lang: f"lab:{lang}/test/{min(sentences, 1000)}" for lang in LANGUAGES},
    }
    return values | ({"settings": {"epochs": epochs}} if epochs else {})


def _times(store: Store, plan: Plan, task: str, kind: str) -> list[float]:
    """The seconds of stages of the slice."""
    stages = [stage for stage in plan.stages.values() if isinstance(stage, StageOfTask) and stage.id in store.ids()]
    chosen = [stage for stage in stages if (stage.kind, stage.corpora.task) == (kind, task)]
    return [store.need(stage.id).manifest["seconds"] for stage in chosen]
