"""Plans a study: the stages that every run needs, and that runs and studies share.

A stage's identity is a hash of its kind, its version and everything that decides its outcome: contents, not names.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

from pydantic import JsonValue

from isogloss.core.hashing import digest
from isogloss.store.study_records import Run
from isogloss.studies.planning.fingerprints import Fingerprints
from isogloss.studies.planning.plan import Plan
from isogloss.studies.planning.stages import (
    SCORING_VERSIONS,
    ContinualSpec,
    DistancesStage,
    EvaluationStage,
    FineTuningStage,
    ModelSpec,
    ModelStage,
    SimilarityStage,
    Stage,
    TaskCorpora,
)
from isogloss.studies.schema.continual import Continual
from isogloss.studies.schema.interventions import Intervention
from isogloss.studies.schema.measurements import Measurement
from isogloss.studies.schema.references import LAB, MIXED_SEPARATOR, for_task
from isogloss.studies.schema.study import Study
from isogloss.studies.schema.text_changes import TextChange

SELECTION_FIELDS = {"when", "changes", "seeds"}  # say which runs are measured, not how


class PreparedModel(NamedTuple):
    """A model before fine-tuning; `seeded`: whether it depends on the run's seed."""

    identity: str
    spec: ModelSpec
    seeded: bool = False


class MeasuredModel(NamedTuple):
    """The model of a run, before fine-tuning and after it (`network_id`, where there is a task)."""

    model: PreparedModel
    changes: str
    source: str
    seed: int
    network_id: str = ""


@dataclass
class _Planner:
    study: Study
    fingerprints: Fingerprints
    device: str
    stages: dict[str, Stage] = field(default_factory=dict)

    def add(self, stage: Stage) -> str:
        self.stages.setdefault(stage.id, stage)
        return stage.id

    def prepare(self, base: str | None, interventions: Iterable[Intervention], seed: int) -> PreparedModel:
        """A model after interventions, for a seed; every intervention whose outcome is stored ends a stage."""
        model = PreparedModel(self.fingerprints.model(base), ModelSpec(base, None, (), seed))
        for position, intervention in enumerate(interventions):
            start = model.spec.stored or self.fingerprints.model(base)
            spec = replace(model.spec, interventions=(*model.spec.interventions, (position, intervention)))
            seeded = model.seeded or intervention.seeded
            positions, pending = zip(*spec.interventions, strict=True)
            identity = digest(start, self.described(pending), positions, seed if seeded else None)
            model = PreparedModel(identity, spec, seeded)
            if intervention.arguments.stored:
                id = self.add(ModelStage(ModelStage.identity(identity, self.computing), spec.needs, spec))
                model = PreparedModel(id, ModelSpec(None, id, (), seed), seeded)
        return model

    def described(self, changes: Iterable[Intervention | TextChange]) -> list[tuple[str, int, dict[str, JsonValue]]]:
        return [
            (change.name, change.arguments.version, self.fingerprints.fields(change.arguments)) for change in changes
        ]

    @property
    def computing(self) -> list[object]:
        """What of the machine affects the bits of a result."""
        return [self.device, self.study.threads if self.device == "cpu" else None]

    def hashes(self, references: Iterable[str]) -> dict[str, str]:
        references = list(references)
        return dict(zip(references, self.fingerprints.corpus(references), strict=True))

    def text_changes(self, model: str, text: str) -> tuple[TextChange, ...]:
        return (*self.study.models[model].text, *self.study.text[text])

    def training(self, model: str, task: str, source: str, text: str) -> tuple[str, TaskCorpora]:
        """The corpora of a fine-tuning, and the identity of all that its seeds share besides the model."""
        corpora, changes = self.study.sources[source], self.text_changes(model, text)
        train, dev = for_task(corpora.train, task) or (), for_task(corpora.dev, task) or ()
        hashes = self.hashes([*train, *dev])
        settings, scorer = self.study.training_settings(task, model), self.study.scorer_of(task, model)
        contents = [[hashes[reference] for reference in references] for references in (train, dev)]
        scoring = [*scoring_version(task, dev), *([scorer] if scorer else [])]
        identity = digest(task, source, *contents, self.described(changes), settings, self.computing, *scoring)
        return identity, TaskCorpora(task, source, train, dev, changes, hashes, scorer)

    def testing(self, model: str, task: str, text: str) -> tuple[str, dict[str, tuple[str, ...]]]:
        """The test corpora by target, and their identity."""
        corpora = {name: for_task(by_task, task) for name, by_task in self.study.targets.items()}
        targets: dict[str, tuple[str, ...]] = {name: tests for name, tests in corpora.items() if tests}
        contents = [(name, self.fingerprints.corpus(tests)) for name, tests in targets.items()]
        version = scoring_version(task, itertools.chain(*targets.values()))
        return digest(contents, self.described(self.text_changes(model, text)), *version), targets

    def replay(
        self, options: Continual | None, model: str, seed: int
    ) -> tuple[tuple[object, ...], ContinualSpec | None]:
        """Continual learning, with what it adds to the identity of a fine-tuning."""
        if options is None:
            return (), None
        contents = self.fingerprints.fields(options, exclude={"changes"})
        if options.anchor != "original":
            return (FineTuningStage.continual_version, contents), ContinualSpec(options, None)
        entry = self.study.models[model]
        original = self.prepare(entry.base, entry.changes, seed)
        identity = (FineTuningStage.continual_version, contents, original.identity)
        return identity, ContinualSpec(options, original.spec)

    def runs(self) -> Iterator[Run]:
        study = self.study
        prepared = {
            (model, changes, seed): self.prepare(entry.base, (*entry.changes, *interventions), seed)
            for (model, entry), (changes, interventions), seed in itertools.product(
                study.models.items(), study.changes.items(), study.seeds
            )
        }
        if not study.tasks:
            yield from self.measured_runs(prepared)
        training = {
            key: self.training(*key) for key in itertools.product(study.models, study.tasks, study.sources, study.text)
        }
        testing = {key: self.testing(*key) for key in itertools.product(study.models, study.tasks, study.text)}
        replays = {
            (model, continual, seed): self.replay(options, model, seed)
            for model, (continual, options), seed in itertools.product(
                study.models, study.continual.items(), study.seeds
            )
        }
        first = dict(reversed(study.conditions))  # the first kind of continual learning that changes are crossed with
        for model, (changes, continual), text, task, source, seed in itertools.product(
            study.models, study.conditions, study.text, study.tasks, study.sources, study.seeds
        ):
            model_before, (replay_identity, replay) = prepared[model, changes, seed], replays[model, continual, seed]
            training_identity, corpora = training[model, task, source, text]
            network_id = FineTuningStage.identity(model_before.identity, training_identity, seed, *replay_identity)
            if network_id not in self.stages:
                original = replay.original if replay else None
                needs = tuple(dict.fromkeys((*model_before.spec.needs, *(original.needs if original else ()))))
                settings = study.training_settings(task, model)
                self.add(FineTuningStage(network_id, needs, model_before.spec, seed, corpora, settings, replay))
            test_identity, targets = testing[model, task, text]
            evaluation = EvaluationStage.identity(network_id, test_identity)
            if evaluation not in self.stages:
                hashes = {**corpora.fingerprints, **self.hashes(itertools.chain(*targets.values()))}
                read = replace(corpora, fingerprints=hashes)
                self.add(EvaluationStage(evaluation, (network_id,), model_before.spec, seed, read, targets))
            measured = MeasuredModel(model_before, changes, source, seed, network_id)
            distances = self.distances(measured)
            if continual != first[changes]:
                distances.pop("before", None)  # the same with and without continual learning
            key = (model, changes, text, task, source, seed, *filter(None, [continual]))
            name = digest(study.name, *key, evaluation)[:16]
            yield Run(name, model, changes, text, task, source, seed, network_id, evaluation,
                      self.similarity(measured), continual, distances)  # fmt: skip

    def measured_runs(self, prepared: Mapping[tuple[str, str, int], PreparedModel]) -> Iterator[Run]:
        """The runs of a study without tasks, which fine-tunes nothing."""
        study = self.study
        source = (study.measure and study.measure.source) or ""
        for model, changes, seed in itertools.product(study.models, study.changes, study.seeds):
            measured = MeasuredModel(prepared[model, changes, seed], changes, source, seed)
            similarity, distances = self.similarity(measured), self.distances(measured)
            name = digest(study.name, model, changes, seed, *similarity.values(), *distances.values())[:16]
            if similarity or distances:
                yield Run(name, model, changes, "", "", source, seed, "", "", similarity, "", distances)

    def similarity(self, measured: MeasuredModel) -> dict[str, str]:
        """The stages that measure the similarity of sentences for a run, by when."""
        if (measure := self.study.measure) is None:
            return {}
        source = measure.source or measured.source
        identity = self.similarity_identities[source]
        return {
            when: self.add(SimilarityStage(SimilarityStage.identity(*key), needs, measured.model.spec, measure, source))
            for when, key, needs in self.moments(measure, measured, identity)
        }

    def distances(self, measured: MeasuredModel) -> dict[str, str]:
        """The stages that measure word distances for a run, by when."""
        if (measure := self.study.distances) is None:
            return {}
        return {
            when: self.add(DistancesStage(DistancesStage.identity(*key), needs, measured.model.spec, measure))
            for when, key, needs in self.moments(measure, measured, self.distances_identity)
        }

    @cached_property
    def similarity_identities(self) -> dict[str, str]:
        """The identity of the similarity measurement for each source language."""
        if (measure := self.study.measure) is None:
            return {}
        options = measure.model_dump(mode="json", exclude=SELECTION_FIELDS)
        options["parallel"] = {lang: self.fingerprints.corpus([text]) for lang, text in measure.parallel.items()}
        sources = [measure.source] if measure.source else list(self.study.sources)
        return {source: digest({**options, "source": source}) for source in sources}

    @cached_property
    def distances_identity(self) -> str:
        assert self.study.distances
        options = self.study.distances.model_dump(mode="json", exclude=SELECTION_FIELDS)
        return digest({**options, "bitext": self.fingerprints.corpus(self.study.distances.bitext)})

    def moments(
        self, measure: Measurement, measured: MeasuredModel, identity: str
    ) -> Iterator[tuple[str, tuple[object, ...], tuple[str, ...]]]:
        """When a model is measured, each with what identifies the stage and with what the stage needs."""
        if measure.changes is not None and measured.changes not in measure.changes:
            return
        default = self.study.seeds[: 1 if self.study.tasks else None]
        if measured.seed not in (self.study.seeds if measure.seeds == "all" else measure.seeds or default):
            return
        model, network_id = measured.model, measured.network_id
        if "before" in measure.when:
            yield "before", (model.identity, identity, self.computing), model.spec.needs
        if "after" in measure.when:
            yield "after", (network_id, identity), (network_id,)


def scoring_version(task: str, references: Iterable[str]) -> list[int]:
    """The version of a task's scoring as a part of identities, where corpora from files or the hub are scored."""
    from_files = any(not LAB.search(part) for reference in references for part in reference.split(MIXED_SEPARATOR))
    return [SCORING_VERSIONS[task]] if task in SCORING_VERSIONS and from_files else []


def plan_study(study: Study, fingerprints: Fingerprints | None = None, *, device: str = "cpu") -> Plan:
    """Every run of a study with its stages. `fingerprints`: hashes of files, cached between calls."""
    fingerprints = fingerprints or Fingerprints()
    planner = _Planner(study, fingerprints, device)
    runs = tuple(planner.runs())
    fingerprints.save()
    return Plan(study, device, runs, planner.stages, fingerprints.missing, fingerprints)
