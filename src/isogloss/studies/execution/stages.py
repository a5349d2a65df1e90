"""How the stages of a study are made: changed models, fine-tuned networks, scores, similarity curves, distances."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import polars as pl
import torch

from isogloss.analysis.similarity import similarity
from isogloss.analysis.word_distances import word_distances
from isogloss.core.errors import UsageError
from isogloss.core.hashing import digest
from isogloss.core.seeds import derive_seed
from isogloss.corpora.corpus import AnyCorpus, Corpus
from isogloss.corpora.kinds.bitext import AlignedPair
from isogloss.models.bilstm.baseline import BILSTM, bilstm
from isogloss.models.loading.load import load_model
from isogloss.models.loading.loaded_model import LoadedModel, clone
from isogloss.models.loading.save import save_model
from isogloss.results.rows.distance_histograms import NO_DISTANCES
from isogloss.studies.execution.backends import Stage
from isogloss.studies.execution.corpora import language_of_name, read_bitexts, read_corpora, read_parallel
from isogloss.studies.execution.encoding_cache import remembering
from isogloss.studies.execution.jobs import Site
from isogloss.studies.schema.interventions import CHANGES, RUN
from isogloss.studies.schema.text_changes import TEXT_CHANGES
from isogloss.tasks import TASKS
from isogloss.tasks.bilstm import task_for_model
from isogloss.tasks.task import Task
from isogloss.training.adjustment.replay import BoundReplay, alignment_replay
from isogloss.training.engine.checkpoints import Checkpoints
from isogloss.training.engine.progress import DivergenceError, EpochMetrics
from isogloss.training.engine.settings import settings_for
from isogloss.training.finetuning.finetune import FineTuned, can_stack, finetune, finetune_stacked
from isogloss.training.finetuning.finetuned_files import load_finetuned, save_finetuned
from isogloss.training.finetuning.transfer import evaluate_targets

APART = 60.0  # seconds of training that are worth a checkpoint


class Reading:
    """The corpora of a stage, after the text changes that are meant for them, and the task that reads them."""

    def __init__(self, recipe: dict[str, Any], site: Site):
        self.recipe, self.site = recipe, site
        self._names: dict[int, str] = {}  # corpora by Python id → identity

    def task(self, model: LoadedModel) -> Task:
        return remembering(task_for_model(model, TASKS[self.recipe["task"]]), self._names, self.site)

    def corpus(self, references: Sequence[str], name: str, role: str) -> AnyCorpus:
        kind = TASKS[self.recipe["task"]].corpus
        changes = [told for told in self.recipe["text"] if role in told["arguments"]["on"]]
        versions = [TEXT_CHANGES[told["name"]].version for told in changes]
        prints = [self.recipe["prints"][one] for one in references]
        key = digest(prints, language_of_name(name), kind, changes, versions)

        def read() -> AnyCorpus:
            corpus = read_corpora(references, kind, lang=language_of_name(name))
            for told in changes:
                change = TEXT_CHANGES[told["name"]]
                corpus = change.apply(corpus, change.arguments.model_validate(told["arguments"]))
            return corpus

        corpus = self.site.memory.get("corpus", key, read)
        self._names[id(corpus)] = key
        return corpus


def make_model(stage: Stage, folder: Path | None, site: Site) -> None:
    """A model after changes whose outcome is worth keeping."""
    assert folder
    with _threads(site):
        save_model(_model(stage.recipe, site, site.store.work(stage.id)), folder / "model")


def make_finetuned(stage: Stage, folder: Path | None, site: Site) -> None:
    """A network that does the task; without a folder it is handed on in memory alone."""
    with _threads(site):
        if stage.id not in site.made and len(site.trainings) > 1:
            _train_together(site)
        if stage.id not in site.made:
            _train(stage, site)
    tuned = site.made[stage.id]
    if folder:
        save_finetuned(tuned, folder / "model")
        log = pl.DataFrame([asdict(report) for report in tuned.log])
        (folder / "log.tsv").write_text(log.write_csv(separator="\t"), encoding="utf-8")


def _train(stage: Stage, site: Site) -> None:
    recipe, work = stage.recipe, site.store.work(stage.id)
    model = _model(recipe["model"], site, work)
    train, dev, task = _lesson(recipe, model, site)
    site.made[stage.id] = finetune(
        model,
        task,
        train,
        dev,
        settings_for(task.defaults, **recipe["settings"]),
        seed=recipe["seed"],
        extra_loss=_replay(recipe.get("continual"), model, recipe["seed"], site, work),
        checkpoints=Checkpoints(work / "checkpoints", stage.id, min_seconds=APART),
        progress=lambda report: _tell(report, site),
    )


def _train_together(site: Site) -> None:
    """All fine-tunings of the job as one; each by itself, later, where that cannot be or one of them goes astray."""
    stages, site.trainings = site.trainings, []  # tried once
    recipes = [stage.recipe for stage in stages]
    models = [_model(stage.recipe["model"], site, site.store.work(stage.id)) for stage in stages]
    train, dev, task = _lesson(recipes[0], models[0], site)
    settings, seeds = settings_for(task.defaults, **recipes[0]["settings"]), [recipe["seed"] for recipe in recipes]
    if not can_stack(models, task, train, settings, seeds):
        why = "it takes models of BERT's kind, of one shape and tokenizer, and steps that are not in parts"
        warnings.warn(f"{len(stages)} runs cannot be trained together and are trained one by one: {why}", stacklevel=2)
        return
    name = digest([stage.id for stage in stages])
    checkpoints = Checkpoints(site.store.work(stages[0].id) / f"checkpoints-{name}", name, min_seconds=APART)
    try:
        tuned = finetune_stacked(
            models,
            task,
            train,
            dev,
            settings,
            seeds=seeds,
            checkpoints=checkpoints,
            progress=lambda report: _tell(report, site),
        )
    except DivergenceError as error:
        warnings.warn(
            f"{error}; the {len(stages)} runs that were trained together are trained one by one", stacklevel=2
        )
        return
    site.made.update(zip((stage.id for stage in stages), tuned, strict=True))


def _lesson(recipe: dict[str, Any], model: LoadedModel, site: Site) -> tuple[AnyCorpus, AnyCorpus, Task]:
    """What is learnt from, what is chosen on, and the task."""
    reading = Reading(recipe, site)
    train, dev = (reading.corpus(recipe[role], recipe["source"], role) for role in ("train", "dev"))
    return train, dev, reading.task(model)


def make_evaluation(stage: Stage, folder: Path | None, site: Site) -> None:
    """Rows of scores, and the prediction for every item."""
    assert folder
    recipe = stage.recipe
    with _threads(site):
        tuned = _tuned(stage.needs[0], site)
        reading, source = Reading(recipe, site), recipe["source"]
        dev = reading.corpus(recipe["dev"], source, "dev")
        targets = {name: reading.corpus(one, name, "test") for name, one in recipe["targets"].items()}
        facts = {"run": stage.id, "model": "", "changes": "", "seed": recipe["seed"]}
        results = evaluate_targets(tuned, reading.task(tuned.model), source, dev, targets, facts)
    results.frame.write_parquet(folder / "rows.parquet")
    results.predictions.collect().write_parquet(folder / "predictions.parquet")


def make_similarity(stage: Stage, folder: Path | None, site: Site) -> None:
    """Similarity layer by layer, of a fine-tuned network's body or of a model before fine-tuning."""
    assert folder
    options = dict(stage.recipe["measure"])
    files, sentences = options.pop("parallel"), options.pop("sentences")
    with _threads(site):
        model = _measured(stage, site)
        parallel = site.memory.get("corpus", tuple(files.items()), lambda: read_parallel(files))[:sentences]
        options["source"] = language_of_name(options["source"]) or options["source"]
        curves = similarity(model, parallel, name="", **options)
    curves.frame.write_parquet(folder / "curves.parquet")
    curves.shapes.write_parquet(folder / "shapes.parquet")
    if len(curves.neurons):
        curves.language_neutral().write_parquet(folder / "neutral.parquet")


def make_distances(stage: Stage, folder: Path | None, site: Site) -> None:
    """Distances of related and unrelated words, of each bitext by itself."""
    assert folder
    options = dict(stage.recipe["measure"])
    bitexts = _bitexts(options.pop("bitext"), options.pop("sentences"), site)
    with _threads(site):
        model = _measured(stage, site)
        found = sum((word_distances({"": model}, bitext, **options) for bitext in bitexts), NO_DISTANCES)
    found.frame.write_parquet(folder / "histograms.parquet")
    found.summary.write_parquet(folder / "summary.parquet")
    found.shares.write_parquet(folder / "shares.parquet")


def _measured(stage: Stage, site: Site) -> LoadedModel:
    """What a stage measures: the body of the network that it needs, or else a model before fine-tuning."""
    tuned = next((id for id in stage.needs if id.startswith("finetuned")), None)
    model = _tuned(tuned, site).encoder if tuned else _model(stage.recipe["model"], site, site.store.work(stage.id))
    if not model.family.blocks:
        raise UsageError(f"{stage.kind}: '{model.name}' has no layers to measure")
    return model


def _replay(told: dict[str, Any] | None, model: LoadedModel, seed: int, site: Site, work: Path) -> BoundReplay | None:
    """The second loss of a fine-tuning with continual learning."""
    if told is None:
        return None
    options = {
        name: value for name, value in told.items() if name not in ("bitext", "sentences", "original", "settings")
    }
    original = _model(told["original"], site, work / "original") if told["original"] else model
    plan = alignment_replay(_bitexts(told["bitext"], told["sentences"], site), **options, **told["settings"])
    return plan.bind(original, model, seed)


def _bitexts(references: Sequence[str], sentences: int | None, site: Site) -> list[Corpus[AlignedPair]]:
    bitexts = site.memory.get("corpus", ("bitext", *references), lambda: read_bitexts(references))
    return [one[:sentences] for one in bitexts]


def _model(recipe: dict[str, Any], site: Site, work: Path) -> LoadedModel:
    """A model read from where it lies and changed as the recipe says; the one in memory stays as it is."""
    model: Any = None
    if recipe["base"] or recipe["stored"]:
        key = recipe["stored"] or recipe["base"]
        model = site.memory.get("model", key, lambda: _loaded(recipe, site))
        if recipe["changes"]:
            model = clone(model)
    for told in recipe["changes"]:
        kind = CHANGES[told["name"]]
        arguments: Any = kind.arguments.model_validate(told["arguments"])
        own = kind.stored and arguments.seed != RUN
        seed = arguments.seed if own else derive_seed(recipe["seed"], "change", told["number"])
        model = kind.apply(model, arguments, seed, work / told["name"])
    changed: LoadedModel = model
    return changed


def _loaded(recipe: dict[str, Any], site: Site) -> LoadedModel:
    if recipe["stored"]:
        return load_model(site.entry(recipe["stored"]).whole() / "model", device=site.device)
    base = recipe["base"]
    return bilstm(device=site.device) if base == BILSTM else load_model(base, device=site.device)


def _tuned(id: str, site: Site) -> FineTuned:
    """A fine-tuned network: of this very job, or from the store."""
    return site.made.get(id) or load_finetuned(site.entry(id).whole() / "model", device=site.device)


def _tell(report: EpochMetrics, site: Site) -> None:
    facts = {"epoch": report.epoch, "step": report.step, "steps": report.steps, "loss": report.loss}
    site.tell(**facts, best=report.best, tokens_per_second=report.tokens_per_second)


@contextlib.contextmanager
def _threads(site: Site) -> Iterator[None]:
    """The number of threads that the study says, for sums depend on it in their last bits."""
    before = torch.get_num_threads()
    torch.set_num_threads(site.threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)
