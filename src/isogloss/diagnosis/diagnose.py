"""`ig.diagnose`: how well a model serves a language that it did not see in pretraining, and what improves it.

The comparison of Muller et al. (2021), the verdict (see `difficulty`), tokenizer statistics, a ranking of source
languages, remedies within a time budget; then the best model, a recipe and a report. All training is done by studies in
one store, so that an interrupted diagnosis resumes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from isogloss.core.errors import IsoglossError, UsageError
from isogloss.core.hardware import limited_threads
from isogloss.core.registry import check_name
from isogloss.diagnosis.cautions import training_cautions
from isogloss.diagnosis.difficulty import (
    BASELINES,
    BILSTM,
    FINETUNED,
    MODEL_SYSTEMS,
    below_no_baseline,
    classify,
    compare_systems,
    to_differences,
)
from isogloss.diagnosis.inputs import (
    CorpusInput,
    Sources,
    check_labels,
    collect_inputs,
    default_sizes,
    labelled_sources,
    laboratory_corpora,
    references,
    with_code_switching,
)
from isogloss.diagnosis.inspection import ModelInspection, Parallel, inspect_model
from isogloss.diagnosis.report import write_report
from isogloss.diagnosis.search import SearchState, remedy_frame, search_remedies, select_remedies, start_search
from isogloss.diagnosis.selection_data import hold_out_dev, selection_data
from isogloss.diagnosis.source_ranking import script_and_name
from isogloss.diagnosis.study_runner import StudyOutcome, StudyRunner, concatenate_results
from isogloss.diagnosis.systems import comparison_systems
from isogloss.diagnosis.treatments import DiagnosisInputs, TrainingSizes, fit_batch_sizes
from isogloss.diagnosis.tuning import SystemTrainer, tuning_frame
from isogloss.diagnosis.verdict import Verdict, system_scores, unreadable_systems
from isogloss.diagnosis.zero_shot import candidate_treatments, estimate_score, transfer_study
from isogloss.languages.checks import check_language
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.store.entries import Store
from isogloss.studies.execution.corpora import read_corpora
from isogloss.studies.execution.run_study import Watch
from isogloss.studies.schema.write_study import select_model, write_recipe
from isogloss.tasks import TASKS


def diagnose(
    model: LoadedModel | str | os.PathLike[str],
    *,
    lang: str,
    train: CorpusInput = None,
    dev: CorpusInput = None,
    test: CorpusInput = None,
    text: CorpusInput = None,
    task: str = "pos",
    source: Mapping[str, tuple[CorpusInput, CorpusInput]] | None = None,
    lexicon: CorpusInput = None,
    parallel: Parallel = None,
    comparable: Mapping[str, CorpusInput] | None = None,
    seeds: int | Sequence[int] = 3,
    budget: float | None = None,
    remedies: Sequence[str] | None = None,
    sizes: TrainingSizes | None = None,
    tune: bool = True,
    out: str | os.PathLike[str] | None = None,
    store: str | os.PathLike[str] | None = None,
    threads: int = 1,
    device: str | None = None,
    backend: str = "local",
    workers: int | None = None,
    per_gpu: int = 1,
    watch: Watch | None = None,
    on_progress: Callable[[str], None] | None = None,
) -> Verdict:
    """Classify a language as Easy, Intermediate or Hard for a model, try remedies, and save the best model.

    A corpus is a path, `hub:…`, `lab:…`, a list of these, or a corpus in memory. For a language of the laboratory,
    missing corpora come from the laboratory. With `train` and `test` four systems are compared and remedies are tried.
    Without `train` the task is transferred from the best language of `source`.

    Args:
        model: A loaded model, a folder or a Hugging Face name.
        lang: Code of the language.
        train: Labelled data of the language.
        dev: Labelled data on which settings, epochs, systems and remedies are chosen. With fewer than 200 sentences,
            settings, systems and remedies are chosen by cross-validation on `train`; with none, a tenth of `train` is
            held out to choose the epoch.
        test: Labelled data for the scores.
        text: Raw text of the language, for adaptation.
        task: Name of the task.
        source: Labelled data of other languages, `{"en": (train, dev)}`.
        lexicon: Bilingual lexicon from the first source language to this one, for code-switching.
        parallel: Parallel text with this language, for similarity inside the model and the ranking of sources.
        comparable: Text of several languages on similar topics, for the ranking of sources.
        seeds: Number of seeds, or the seeds.
        budget: Minutes for remedies (default: no limit).
        remedies: Names of the remedies to try, in this order; `[]`: none; default: all that apply, by urgency.
        sizes: Training options of all systems; settings of fine-tuning that it has are not searched.
        tune: Whether learning rate and epochs are searched for every system that is compared.
        out: Folder for the model, the recipe and the report (default: `diagnosis-LANG`).
        store: Folder of the store (default: `out/store`); all networks but the best are removed from it.
        threads: CPU threads per process.
        device: Device, such as "cpu" or "cuda".
        backend: Backend of the studies: "local", "ray" or "slurm".
        workers: Number of worker processes (default: chosen by the backend).
        per_gpu: Jobs that share one GPU.
        watch: Called with every job and its outcome.
        on_progress: Called with a sentence at the start of every part.
    """
    check_name(task, TASKS, "task")
    folder, code = Path(out or f"diagnosis-{lang}").absolute(), check_language(lang)
    corpora = laboratory_corpora(code, {"train": train, "dev": dev, "test": test, "text": text}, labelled=not source)
    inputs = collect_inputs(model, code, task, folder, corpora)
    sources = labelled_sources(source or {}, folder)
    if not inputs.train and not sources:
        raise UsageError("no labelled data: expected train and test, or source")
    check_labels(inputs, sources)
    inputs = with_code_switching(inputs, sources, lexicon, folder)
    report_progress = on_progress or (lambda sentence: None)
    report_progress("inspecting the tokenizer and related languages")
    texts = {name: references(f"{name}-text", corpus, folder) for name, corpus in (comparable or {}).items()}
    with limited_threads(threads):
        inspection = inspect_model(inputs, tuple(sources), parallel, texts, device)
    limits = {"workers": workers, "per_gpu": None if per_gpu == 1 else per_gpu}
    options = {name: limit for name, limit in limits.items() if limit is not None}
    runner = StudyRunner(folder, Store(store or folder / "store"), device, backend, options, watch)
    inputs = replace(
        inputs,
        sizes=_fitted_sizes(sizes or default_sizes(code), inputs),
        seeds=tuple(range(seeds) if isinstance(seeds, int) else seeds),
        threads=threads,
    )
    selection = None
    if inputs.train:
        dev_is_held_out = not inputs.dev
        inputs = hold_out_dev(inputs, folder) if dev_is_held_out else inputs
        selection = selection_data(inputs, folder, dev_is_held_out=dev_is_held_out) if tune else None
    trainer = SystemTrainer(runner, inputs, selection, report_progress)
    diagnosis = _Diagnosis(inputs, inspection, sources, trainer)
    verdict = diagnosis.supervised(remedies, budget) if inputs.train else diagnosis.zero_shot()
    verdict.write()
    write_report(verdict)
    return verdict


def _fitted_sizes(sizes: TrainingSizes, inputs: DiagnosisInputs) -> TrainingSizes:
    """Batch sizes for the number of labelled sentences."""
    task = TASKS[inputs.task]
    if not inputs.train or task.bilstm is None:
        return sizes
    sentences = len(read_corpora(inputs.train, task.corpus, lang=inputs.lang))
    return fit_batch_sizes(sizes, sentences, task.defaults.batch, task.bilstm.defaults.batch)


@dataclass(frozen=True)
class _Diagnosis:
    """One diagnosis: its inputs and how its studies are run."""

    inputs: DiagnosisInputs
    inspection: ModelInspection
    sources: Sources
    trainer: SystemTrainer

    @property
    def metric(self) -> str:
        return self.trainer.metric

    def supervised(self, remedies: Sequence[str] | None, budget: float | None) -> Verdict:
        """The comparison of systems, then remedies."""
        selected = select_remedies(remedies, self.inputs, self.inspection.findings)
        systems = "four systems" if self.inputs.text else "two systems: no raw text for adaptation"
        self.trainer.report_progress(f"comparing {systems}")
        outcome = _without_failures(self.trainer.train("comparison", comparison_systems(self.inputs)))
        start = start_search(outcome, self.metric)
        self.trainer.runner.remove_networks([outcome], outcome.best_run(start.best.system, self.metric))
        seconds = None if budget is None else 60 * budget
        state = search_remedies(start, selected, self.trainer, seconds)
        models = outcome.plan.study.models
        baselines = [name for name in BASELINES if name in models]
        pairs = [(system, baseline) for system in MODEL_SYSTEMS if system in models for baseline in baselines]
        frame = compare_systems(outcome.results, pairs, self.metric)
        differences = to_differences(frame)
        unreadable = unreadable_systems(state.results, self.inputs.lang)
        classification = classify(differences, unreadable)
        cautions = training_cautions([outcome], self.trainer.runner.store)
        repaired_by = _best_readable(state, unreadable, self.metric)
        repaired_pairs = [(repaired_by, baseline) for baseline in baselines] if repaired_by else []
        after_remedies = to_differences(compare_systems(state.results, repaired_pairs, self.metric))
        return self._verdict(
            state.best.outcome,
            state.best.system,
            state.outcomes,
            level=classification.level,
            sure=classification.sure and not cautions,
            by_bilstm=classify([row for row in differences if row.baseline == BILSTM], unreadable).level,
            repaired=below_no_baseline(after_remedies) if repaired_by else None,
            repaired_by=repaired_by,
            withheld=unreadable.get(FINETUNED, ""),
            differences=frame,
            remedies=remedy_frame(state.rows, state.results, self.metric),
        )

    def zero_shot(self) -> Verdict:
        """Transfer from the best source."""
        source = next(language for language in self.inspection.ranking.languages if language in self.sources)
        self.trainer.report_progress(f"no labelled data: zero-shot transfer from {source}")
        is_first = source == next(iter(self.sources))
        treatments = candidate_treatments(self.inputs, script_and_name(source)[0], first=is_first)
        studies = [transfer_study(treatment, self.inputs, source, self.sources) for treatment in treatments]
        outcomes = [_without_failures(self.trainer.runner.run(study)) for study in studies]
        results = concatenate_results(outcomes)
        readability = self.inspection.statistics.readability
        unreadable = readability.problem if readability else ""
        return self._verdict(
            outcomes[-1],
            treatments[-1].name,
            outcomes,
            level="Undecided",
            sure=False,
            by_bilstm="Undecided",
            repaired=None,
            differences=compare_systems(results, [], self.metric),
            remedies=remedy_frame((), results, self.metric),
            estimate=estimate_score(
                results,
                self.metric,
                source,
                self.inputs.lang,
                list(self.sources),
                self.inspection.similarities,
                withheld=unreadable,
            ),
            withheld=unreadable,
        )

    def _verdict(self, outcome: StudyOutcome, system: str, outcomes: Sequence[StudyOutcome], **fields: Any) -> Verdict:
        """Save the best system and its recipe, and build the verdict; `outcomes` are those of all systems."""
        runner, inputs, results = self.trainer.runner, self.inputs, concatenate_results(outcomes)
        folder, selection = runner.folder, self.trainer.selection
        runner.save_network(outcome, outcome.best_run(system, self.metric), folder / "model")
        title = f"{inputs.task} in {inputs.lang}: {system}"
        study = {
            **select_model(outcome.study, system),
            "name": f"{inputs.lang}-{inputs.task}-best",
            "description": title,
        }
        comment = "The best system of a diagnosis; recompute it with: isogloss run recipe.yaml"
        write_recipe(study, folder / "recipe.yaml", [comment])
        return Verdict(
            model=inputs.model,
            lang=inputs.lang,
            task=inputs.task,
            metric=self.metric,
            best=system,
            systems=system_scores(outcomes, self.metric, inputs.lang),
            tuning=tuning_frame(outcomes),
            selection=selection.description if selection else "",
            cautions=training_cautions(outcomes, runner.store),
            tokenizer=self.inspection.statistics,
            sources=self.inspection.ranking,
            folder=folder,
            results=results,
            **fields,
        )


def _best_readable(state: SearchState, unreadable: Collection[str], metric: str) -> str:
    """The best system of the multilingual model that can read the text; "" if none can."""
    if state.best_multilingual.system not in unreadable:
        return state.best_multilingual.system
    scores = {
        system: outcome.selection_score(system, metric)
        for outcome in state.outcomes
        for system in outcome.plan.study.models
        if system not in BASELINES and system not in unreadable
    }
    return max(scores, key=lambda system: scores[system], default="")


def _without_failures(outcome: StudyOutcome) -> StudyOutcome:
    """The outcome of a study that everything after it depends on: a failed run is an error."""
    for label, reason in outcome.results.failed.items():
        raise IsoglossError(f"{label}: {reason.strip().splitlines()[-1]}")
    return outcome
