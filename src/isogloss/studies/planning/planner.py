"""A study as stages to be computed: what every run needs, and what runs and studies share.

A stage's identity is a hash of its kind, its version and all that decides its outcome: contents and not names.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from isogloss.core.hashing import digest
from isogloss.store.study_records import Run
from isogloss.studies.execution.backends import Stage
from isogloss.studies.planning.fingerprints import Fingerprints
from isogloss.studies.planning.plan import Plan
from isogloss.studies.schema.continual import Continual
from isogloss.studies.schema.interventions import Change
from isogloss.studies.schema.measurements import Measure, Measurement, WordDistances
from isogloss.studies.schema.references import for_task
from isogloss.studies.schema.study import Study

MAKERS = "isogloss.studies.execution.stages"
# of what a stage computes: raised when the same stage would give something else
VERSIONS = {"model": 1, "finetuned": 1, "evaluation": 1, "similarity": 1, "distances": 1}
REPLAY = 1  # likewise, of fine-tuning with continual learning alone


@dataclass(frozen=True)
class _Prepared:
    """A model as it goes into fine-tuning: read from `base` or from the stage `stored`, then changed on the fly."""

    identity: str
    base: str | None
    stored: str | None = None
    changes: tuple[tuple[int, Change], ...] = ()  # with their numbers among all changes
    seeded: bool = False  # whether the run's seed has a part in it

    def recipe(self, seed: int) -> dict[str, Any]:
        changes = [
            {"number": n, "name": one.name, "arguments": one.arguments.model_dump(mode="json")}
            for n, one in self.changes
        ]
        return {"base": self.base, "stored": self.stored, "changes": changes, "seed": seed}

    @property
    def needs(self) -> tuple[str, ...]:
        return (self.stored,) if self.stored else ()


@dataclass(frozen=True)
class _Replayed:
    """What continual learning adds to the identity, the recipe and the needs of a fine-tuning: nothing without it."""

    identity: tuple[object, ...] = ()
    recipe: dict[str, Any] = field(default_factory=dict)
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Looked:
    """What of a run is measured."""

    prepared: _Prepared
    tuned: str
    recipe: dict[str, Any]
    column: str
    seed: int


@dataclass
class _Planner:
    study: Study
    prints: Fingerprints
    device: str
    stages: dict[str, Stage] = field(default_factory=dict)

    def stage(self, kind: str, identity: tuple[object, ...], recipe: dict[str, Any], needs: tuple[str, ...]) -> str:
        id = f"{kind}-{digest(kind, VERSIONS[kind], *identity)}"
        if id not in self.stages:
            self.stages[id] = Stage(id, kind, f"{MAKERS}:make_{kind}", recipe, needs)
        return id

    def prepared(self, base: str | None, changes: Iterable[Change], seed: int) -> _Prepared:
        """The model of a column for a seed; each stored change ends a stage."""
        now = _Prepared(self.prints.model(base), base)
        for number, change in enumerate(changes):
            pending = (*now.changes, (number, change))
            seeded = now.seeded or change.seeded
            told = [(one.name, one.kind.version, self.prints.arguments(one.arguments)) for _, one in pending]
            start = now.stored or self.prints.model(base)
            identity = digest(start, told, [n for n, _ in pending], seed if seeded else None)
            now = _Prepared(identity, now.base, now.stored, pending, seeded)
            if change.kind.stored:
                id = self.stage("model", (identity, self.computing), now.recipe(seed), now.needs)
                now = _Prepared(id, None, id, (), seeded)
        return now

    @property
    def computing(self) -> list[object]:
        """What of the machine shows in the bits of a result."""
        return [self.device, self.study.threads if self.device == "cpu" else None]

    def text(self, model: str, name: str) -> tuple[list[Any], list[Any]]:
        """The text changes of a model and of a text, as their identity and as their recipe."""
        changes = (*self.study.models[model].text, *self.study.text[name])
        told = [(one.name, one.kind.version, self.prints.arguments(one.arguments)) for one in changes]
        return told, [{"name": one.name, "arguments": one.arguments.model_dump(mode="json")} for one in changes]

    def learning(self, model: str, task: str, source: str, text: str) -> tuple[str, dict[str, Any]]:
        """What all seeds of a fine-tuning share, beside the weights."""
        corpora = self.study.sources[source]
        train, dev = for_task(corpora.train, task) or (), for_task(corpora.dev, task) or ()
        told, changes = self.text(model, text)
        settings = self.study.settings_of(task, model)
        prints = self.hashes(*train, *dev)
        identity = digest(task, source, self.prints.corpus(train), self.prints.corpus(dev), told, settings,
                          self.computing)  # fmt: skip
        recipe = {"task": task, "source": source, "train": list(train), "dev": list(dev), "text": changes}
        return identity, {**recipe, "settings": settings, "prints": prints}

    def hashes(self, *references: str) -> dict[str, str]:
        return dict(zip(references, self.prints.corpus(references), strict=True))

    def testing(self, model: str, task: str, text: str) -> tuple[str, dict[str, Any]]:
        targets: dict[str, list[str]] = {
            name: list(given) for name, one in self.study.targets.items() if (given := for_task(one, task))
        }
        told = [(name, self.prints.corpus(one)) for name, one in targets.items()]
        prints = self.hashes(*itertools.chain(*targets.values()))
        return digest(told, self.text(model, text)[0]), {"targets": targets, "prints": prints}

    def replaying(self, replay: Continual | None, model: str, seed: int) -> _Replayed:
        """What a fine-tuning has of continual learning, and of the model before the changes of its column."""
        if replay is None:
            return _Replayed()
        told = {name: one for name, one in self.prints.arguments(replay).items() if name != "changes"}
        one = self.study.models[model]
        original = self.prepared(one.base, one.changes, seed) if replay.anchor == "original" else None
        recipe = {**replay.model_dump(mode="json", exclude={"changes"}), "original": None}
        if original is None:
            return _Replayed((REPLAY, told), {"continual": recipe})
        recipe["original"] = original.recipe(seed)
        return _Replayed((REPLAY, told, original.identity), {"continual": recipe}, original.needs)

    def measuring_distances(self, distances: WordDistances) -> tuple[str, dict[str, Any]]:
        recipe = distances.model_dump(mode="json", exclude={"when", "changes", "seeds"})
        return digest({**recipe, "bitext": self.prints.corpus(distances.bitext)}), recipe

    def measuring(self, measure: Measure, source: str) -> tuple[str, dict[str, Any]]:
        recipe = measure.model_dump(mode="json", exclude={"when", "changes", "seeds"})
        recipe["source"] = measure.source or source
        hashes = {lang: self.prints.corpus([one]) for lang, one in measure.parallel.items()}
        return digest({**recipe, "parallel": hashes}), recipe

    def runs(self) -> Iterator[Run]:
        study = self.study
        seeds = {column: {} for column in study.changes}  # type: dict[str, dict[tuple[str, int], _Prepared]]
        for (model, one), (column, changes), seed in itertools.product(
            study.models.items(), study.changes.items(), study.seeds
        ):
            seeds[column][model, seed] = self.prepared(one.base, (*one.changes, *changes), seed)
        taught = itertools.product(study.models, study.tasks, study.sources, study.text)
        learning = {key: self.learning(*key) for key in taught}
        testing = {key: self.testing(*key) for key in itertools.product(study.models, study.tasks, study.text)}
        measuring = {source: self.measuring(study.measure, source) for source in study.sources if study.measure}
        apart = self.measuring_distances(study.distances) if study.distances else None
        if not study.tasks:
            yield from self.measured(seeds, apart)
        replaying = {
            (model, kind, seed): self.replaying(one, model, seed)
            for model, (kind, one), seed in itertools.product(study.models, study.continual.items(), study.seeds)
        }
        first = dict(reversed(study.columns))  # the kind of continual learning that a column comes with first
        for key in itertools.product(study.models, study.columns, study.text, study.tasks, study.sources, study.seeds):
            model, (column, continual), text, task, source, seed = key
            prepared, replayed = seeds[column][model, seed], replaying[model, continual, seed]
            learnt_as, asked = learning[model, task, source, text]
            recipe = {"model": prepared.recipe(seed), "seed": seed, **asked, **replayed.recipe}
            tuned_as = (prepared.identity, learnt_as, seed, *replayed.identity)
            needs = tuple(dict.fromkeys((*prepared.needs, *replayed.needs)))
            tuned = self.stage("finetuned", tuned_as, recipe, needs)
            tests, asked = testing[model, task, text]
            prints = {**recipe["prints"], **asked["prints"]}
            scored = self.stage("evaluation", (tuned, tests), {**recipe, **asked, "prints": prints}, (tuned,))
            looked = _Looked(prepared, tuned, recipe, column, seed)
            alike = dict(self.measurements("similarity", looked, study.measure, measuring.get(source)))
            related = dict(self.measurements("distances", looked, study.distances, apart))
            if continual != first[column]:
                related.pop("before", None)  # no other than without continual learning
            named = (model, column, text, task, source, seed, *filter(None, [continual]))
            name = digest(study.name, *named, scored)[:16]
            yield Run(name, model, column, text, task, source, seed, tuned, scored, alike, continual, related)

    def measured(
        self, seeds: dict[str, dict[tuple[str, int], _Prepared]], apart: tuple[str, dict[str, Any]] | None
    ) -> Iterator[Run]:
        """The runs of a study that fine-tunes nothing."""
        study = self.study
        source = (study.measure and study.measure.source) or ""
        measuring = self.measuring(study.measure, source) if study.measure else None
        for model, column, seed in itertools.product(study.models, study.changes, study.seeds):
            prepared = seeds[column][model, seed]
            looked = _Looked(prepared, "", {"model": prepared.recipe(seed)}, column, seed)
            alike = dict(self.measurements("similarity", looked, study.measure, measuring))
            related = dict(self.measurements("distances", looked, study.distances, apart))
            name = digest(study.name, model, column, seed, *alike.values(), *related.values())[:16]
            if alike or related:
                yield Run(name, model, column, "", "", source, seed, "", "", alike, "", related)

    def measurements(
        self, kind: str, looked: _Looked, measure: Measurement | None, measuring: tuple[str, dict[str, Any]] | None
    ) -> Iterator[tuple[str, str]]:
        """The stages that measure a run's model, by when they do."""
        if measure is None or measuring is None:
            return
        if measure.changes is not None and looked.column not in measure.changes:
            return
        usual = self.study.seeds[: 1 if self.study.tasks else None]
        if looked.seed not in (self.study.seeds if measure.seeds == "all" else measure.seeds or usual):
            return
        identity, asked = measuring
        prepared, tuned = looked.prepared, looked.tuned
        if "before" in measure.when:
            told = (prepared.identity, identity, self.computing)
            recipe = {"model": looked.recipe["model"], "measure": asked}
            yield "before", self.stage(kind, told, recipe, prepared.needs)
        if "after" in measure.when:
            yield "after", self.stage(kind, (tuned, identity), {**looked.recipe, "measure": asked}, (tuned,))


def plan_study(study: Study, prints: Fingerprints | None = None, *, device: str = "cpu") -> Plan:
    """Every run of a study with its stages. `prints`: where hashes of files are kept from one time to the next."""
    prints = prints or Fingerprints()
    planner = _Planner(study, prints, device)
    runs = tuple(planner.runs())
    prints.save()
    return Plan(study, device, runs, planner.stages, prints.missing)
