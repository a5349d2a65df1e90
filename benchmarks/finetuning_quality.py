"""Scores of fine-tuning: isogloss against a plain shuffled loop, all five tasks, several seeds, same data and settings.

The plain loop is what one writes in an afternoon: a random permutation per epoch, batches padded to their longest text,
autocast on a GPU, AdamW, warm-up and decay. It shares the networks, the encoding and the losses of the tasks, but none
of the engine: no recorded steps, no bf16 copy, no packing. Both keep the last epoch. Runs of a task share the machine,
so this is no measurement of time (see `finetuning`).
"""

from __future__ import annotations

import itertools
import multiprocessing
import statistics
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
import torch
from scipy import stats

import isogloss as ig
from benchmarks.timing import SHARED
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.tokenization.encoding import padding_id
from isogloss.tasks import TASKS
from isogloss.tasks.examples import collate
from isogloss.tasks.task import Labels, Task
from isogloss.training.engine.epochs import train
from isogloss.training.engine.settings import TrainingSettings
from isogloss.training.finetuning.evaluation import evaluate
from isogloss.training.finetuning.finetune import objective

DATA, ENCODER = SHARED / "data", SHARED / "models/mini-mlm-11"
SEEDS, SEEDS_QUICK = 5, 2
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Comparison:
    """A task with its training and test files, and the settings of both contenders."""

    task: str
    train: str
    test: str
    settings: TrainingSettings
    limit: int | None = None

    def corpora(self, quick: bool) -> tuple[ig.Corpus, ig.Corpus]:
        kind = TASKS[self.task].corpus
        read: Callable[..., ig.Corpus] = getattr(ig, f"read_{kind}")
        train, test = (read(DATA / path, lang="en") for path in (self.train, self.test))
        return (train[:64], test[:32]) if quick else (train[: self.limit], test)


EWT, PUD = "ud/UD_English-EWT/en_ewt-ud-train.conllu.xz", "ud/UD_English-PUD/en_pud-ud-test.conllu.xz"
SETTINGS, MAX_ITEMS = TrainingSettings(epochs=3, batch=32, learning_rate=1e-4), 6400
COMPARISONS = [
    Comparison("pos", EWT, PUD, SETTINGS),
    Comparison("parse", EWT, PUD, SETTINGS, MAX_ITEMS),
    Comparison("ner", "panx/train-en.tsv.xz", "panx/dev-en.tsv.xz", SETTINGS, MAX_ITEMS),
    Comparison("nli", "mnli_subset/train-en.tsv.xz", "xnli/dev-en.tsv.xz", SETTINGS, MAX_ITEMS),
    Comparison("qa", "tydiqa/train/tydiqa.goldp.en.train.json.xz", "xquad/xquad.en.json.xz", SETTINGS, MAX_ITEMS),
]


def run(quick: bool = False) -> None:
    if not ENCODER.exists():
        print(f"no pretrained encoder at {ENCODER}: nothing to compare")
        return
    seeds = range(SEEDS_QUICK if quick else SEEDS)
    print(f"{ENCODER.name}; mean ± standard deviation over {len(seeds)} seeds; test scores in percent")
    workers = 2 * len(seeds) if torch.cuda.is_available() else 1
    with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn")) as pool:
        for comparison in COMPARISONS:
            jobs = {name: [pool.submit(score, comparison, name, seed, quick) for seed in seeds] for name in CONTENDERS}
            scores = {name: [100 * job.result() for job in futures] for name, futures in jobs.items()}
            print(line(comparison, *scores.values()), flush=True)


def line(comparison: Comparison, ours: list[float], plain: list[float]) -> str:
    """Both scores, and the confidence interval of the difference (Welch)."""
    interval = stats.ttest_ind(ours, plain, equal_var=False).confidence_interval(CONFIDENCE)
    shown = [f"{statistics.mean(values):6.2f} ± {statistics.stdev(values):.2f}" for values in (ours, plain)]
    difference = statistics.mean(ours) - statistics.mean(plain)
    verdict = "within noise" if interval.low <= 0 <= interval.high else "NOT within noise"
    return (
        f"{comparison.task:6} isogloss {shown[0]}   plain loop {shown[1]}   difference {difference:+.2f} "
        f"[{interval.low:+.2f}, {interval.high:+.2f}] {verdict}"
    )


def score(comparison: Comparison, contender: str, seed: int, quick: bool) -> float:
    """The main score of one contender with one seed on the test set."""
    torch.set_num_threads(1 if torch.cuda.is_available() else 2)
    model = ig.load_model(ENCODER, device="cuda" if torch.cuda.is_available() else "cpu")
    model = replace(model, body=model.body.float())
    task, (train_corpus, test) = TASKS[comparison.task], comparison.corpora(quick)
    labels = task.labels(train_corpus)
    torch.manual_seed(seed)
    network = task.network(model, labels).float()
    CONTENDERS[contender](network, model, task, train_corpus, labels, comparison.settings, seed)
    return evaluate(network.eval(), task, model, {"test": test}, labels)["test"].scores[task.main_metric]


def engine(
    network: torch.nn.Module, model: LoadedModel, task: Task, corpus: ig.Corpus, labels: Labels,
    settings: TrainingSettings, seed: int,
) -> None:  # fmt: skip
    epoch = itertools.count()  # a score that rises: the last epoch is kept
    minimised = replace(objective(model, task, corpus, corpus[:8], labels, None), score=lambda _: float(next(epoch)))
    train(network, minimised, settings, seed=seed)


def plain_loop(
    network: torch.nn.Module, model: LoadedModel, task: Task, corpus: ig.Corpus, labels: Labels,
    settings: TrainingSettings, seed: int,
) -> None:  # fmt: skip
    examples, device = task.encode(model, corpus, labels), model.device
    rng = np.random.default_rng(seed)
    steps = settings.epochs * -(-len(examples) // settings.batch)
    warmup = settings.warmup * steps
    decayed = [p for p in network.parameters() if p.ndim > 1]
    others = [p for p in network.parameters() if p.ndim <= 1]
    groups = [{"params": decayed, "weight_decay": settings.weight_decay}, {"params": others, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=settings.learning_rate)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: step / warmup if step < warmup else (steps - step) / (steps - warmup)
    )
    network.train()
    for _ in range(settings.epochs):
        order = rng.permutation(len(examples))
        for start in range(0, len(order), settings.batch):
            batch = collate([examples[i] for i in order[start : start + settings.batch]], padding_id(model)).to(device)
            with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
                loss = task.loss(network, batch)
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(network.parameters(), settings.clip)
            optimizer.step()
            optimizer.zero_grad()
            schedule.step()


CONTENDERS = {"isogloss": engine, "plain loop": plain_loop}
