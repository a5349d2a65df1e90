"""Stages that evaluate and measure networks: scores, similarity curves, word distances."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from isogloss.analysis.similarity import similarity
from isogloss.analysis.untrained_control import CONTROL_FOLDER
from isogloss.analysis.word_distances import word_distances
from isogloss.corpora.corpus import AnyCorpus
from isogloss.models.tokenization.readability import warn_unreadable
from isogloss.results.rows.distance_histograms import NO_DISTANCES
from isogloss.studies.execution.corpora import language_of_name, read_parallel
from isogloss.studies.execution.corpus_loader import CorpusLoader, load_bitexts
from isogloss.studies.execution.models import finetuned_network, measured_model
from isogloss.studies.execution.worker_context import WorkerContext
from isogloss.studies.planning.stages import DistancesStage, EvaluationStage, SimilarityStage
from isogloss.training.finetuning.stored_results import write_evaluation, write_log
from isogloss.training.finetuning.target_evaluation import describe_error, evaluate_targets


def compute_evaluation(stage: EvaluationStage, folder: Path | None, context: WorkerContext) -> None:
    """Store rows of scores, and the prediction for every item.

    A target that cannot be read or evaluated is stored as failed, and the others are scored.
    """
    assert folder and stage.network_id
    network, loader = finetuned_network(stage.network_id, context), CorpusLoader(stage.corpora, context)
    source = stage.corpora.source
    dev = loader.load(stage.corpora.dev, source, "dev")
    targets: dict[str, AnyCorpus] = {}
    not_loaded: dict[str, str] = {}
    for name, references in stage.targets.items():
        try:
            targets[name] = loader.load(references, name, "test")
        except Exception as error:
            if len(not_loaded) + 1 == len(stage.targets):
                raise
            not_loaded[name] = describe_error(error)
    warn_unreadable(network.model, targets)
    facts: dict[str, str | int] = {"run": stage.id, "model": "", "changes": "", "seed": stage.seed}
    results = evaluate_targets(network, loader.task(network.model), source, dev, targets, facts)
    write_evaluation(replace(results, failed={**not_loaded, **results.failed}), folder)
    write_log(network.log, folder)


def compute_similarity(stage: SimilarityStage, folder: Path | None, context: WorkerContext) -> None:
    """Store the similarity of parallel sentences, layer by layer."""
    assert folder
    measure = stage.measure
    parallel = context.cache.get("corpus", tuple(measure.parallel.items()), lambda: read_parallel(measure.parallel))
    curves = similarity(
        measured_model(stage, context),
        parallel[: measure.sentences],
        source=language_of_name(stage.source) or stage.source,
        name="",
        control_cache=context.store.folder / CONTROL_FOLDER,
        **measure.model_dump(
            include={"indexes", "pool", "specials", "keep_repeats", "bootstrap", "control", "control_draws"}
        ),
    )
    curves.frame.write_parquet(folder / "curves.parquet")
    curves.shapes.write_parquet(folder / "shapes.parquet")
    curves.texts.write_parquet(folder / "texts.parquet")
    if len(curves.neurons):
        curves.language_neutral().write_parquet(folder / "neutral.parquet")


def compute_distances(stage: DistancesStage, folder: Path | None, context: WorkerContext) -> None:
    """Store the distances of related and unrelated words, for each bitext separately."""
    assert folder
    measure, model, distances = stage.measure, measured_model(stage, context), NO_DISTANCES
    options = measure.model_dump(exclude={"when", "changes", "seeds", "bitext", "sentences"})
    for bitext in load_bitexts(measure.bitext, measure.sentences, context):
        distances += word_distances({"": model}, bitext, **options)
    distances.frame.write_parquet(folder / "histograms.parquet")
    distances.summary.write_parquet(folder / "summary.parquet")
    distances.shares.write_parquet(folder / "shares.parquet")
