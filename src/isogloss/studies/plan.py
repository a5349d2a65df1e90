"""A study as stages to be computed: what every run needs, and what runs and studies share.

A stage's identity is a hash of its kind, its version and all that decides its outcome: contents and not names.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from isogloss.core.errors import InputError
from isogloss.results.study_record import Run
from isogloss.studies.backends import Job, Stage
from isogloss.studies.changes import Change
from isogloss.studies.fingerprints import Fingerprints, digest
from isogloss.studies.parts import for_task
from isogloss.studies.spec import Measure, Study

MAKERS = "isogloss.studies.makers"
# of what a stage computes: raised when the same stage would give something else
VERSIONS = {"model": 1, "finetuned": 1, "evaluation": 1, "similarity": 1}


@dataclass(frozen=True)
class Plan:
    """All runs of a study and the stages that they need. `missing`: files and models that could not be read."""

    study: Study
    device: str
    runs: tuple[Run, ...]
    stages: dict[str, Stage]
    missing: dict[str, InputError]

    @property
    def goals(self) -> set[str]:
        return {goal for run in self.runs for goal in run.goals}

    def jobs(self, done: Iterable[str]) -> list[Job]:
        """What is left to do: a job for every model and every fine-tuning that something missing needs."""
        done = set(done)
        wanted: dict[str, Stage] = {}
        for run in self.runs:
            for goal in run.goals:
                self._gather(goal, done, wanted)
        groups: dict[str, list[Stage]] = {}
        for stage in wanted.values():
            groups.setdefault(_job_of(stage), []).append(stage)
        labels = self._labels()
        discarded = self.study.networks == "discard"
        return [
            Job(
                name=name,
                label=labels[name],
                stages=tuple(stages),
                needs=tuple({_job_of(self.stages[id]) for one in stages for id in one.needs if id in wanted} - {name}),
                discard=(name,) if discarded and name.startswith("finetuned") else (),
                threads=self.study.threads,
            )
            for name, stages in groups.items()
        ]

    def _labels(self) -> dict[str, str]:
        """What people call a job: the first run that it is done for."""
        labels: dict[str, str] = {}
        for run in self.runs:
            first = run.finetuned or run.similarity["before"]
            labels.setdefault(first, run.label)
            if "before" in run.similarity:
                labels.setdefault(run.similarity["before"], f"{run.label}, before")
            for id in self.stages[first].needs:
                self._label_model(id, f"model {run.model} {run.changes}", labels)
        return labels

    def _label_model(self, id: str, label: str, labels: dict[str, str]) -> None:
        labels.setdefault(id, label)
        for other in self.stages[id].needs:
            self._label_model(other, f"{label} (begun)", labels)

    def _gather(self, id: str, done: set[str], wanted: dict[str, Stage]) -> None:
        """A stage and what it needs, whatever is not done, what is needed first."""
        if id in done or id in wanted:
            return
        for other in self.stages[id].needs:
            self._gather(other, done, wanted)
        wanted[id] = self.stages[id]


def _job_of(stage: Stage) -> str:
    """The job that a stage belongs to: that of the network it looks at, or its own."""
    looked_at = [id for id in stage.needs if id.startswith("finetuned")]
    return looked_at[0] if looked_at else stage.id


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
            seeded = now.seeded or not change.kind.stored
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

    def text(self, name: str) -> tuple[list[Any], list[Any]]:
        """A list of text changes, as its identity and as its recipe."""
        changes = self.study.text[name]
        told = [(one.name, one.kind.version, self.prints.arguments(one.arguments)) for one in changes]
        return told, [{"name": one.name, "arguments": one.arguments.model_dump(mode="json")} for one in changes]

    def learning(self, model: str, task: str, source: str, text: str) -> tuple[str, dict[str, Any]]:
        """What all seeds of a fine-tuning share, beside the weights."""
        corpora = self.study.sources[source]
        train, dev = for_task(corpora.train, task) or (), for_task(corpora.dev, task) or ()
        told, changes = self.text(text)
        settings = self.study.settings_of(task, model)
        prints = self.hashes(*train, *dev)
        identity = digest(task, source, self.prints.corpus(train), self.prints.corpus(dev), told, settings,
                          self.computing)  # fmt: skip
        recipe = {"task": task, "source": source, "train": list(train), "dev": list(dev), "text": changes}
        return identity, {**recipe, "settings": settings, "prints": prints}

    def hashes(self, *references: str) -> dict[str, str]:
        return dict(zip(references, self.prints.corpus(references), strict=True))

    def testing(self, task: str, text: str) -> tuple[str, dict[str, Any]]:
        targets: dict[str, list[str]] = {
            name: list(for_task(one, task) or ()) for name, one in self.study.targets.items()
        }
        told = [(name, self.prints.corpus(one)) for name, one in targets.items()]
        prints = self.hashes(*itertools.chain(*targets.values()))
        return digest(told, self.text(text)[0]), {"targets": targets, "prints": prints}

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
        testing = {key: self.testing(*key) for key in itertools.product(study.tasks, study.text)}
        measuring = {source: self.measuring(study.measure, source) for source in study.sources if study.measure}
        if not study.tasks:
            yield from self.measured(seeds)
        for key in itertools.product(study.models, study.changes, study.text, study.tasks, study.sources, study.seeds):
            model, column, text, task, source, seed = key
            prepared = seeds[column][model, seed]
            learnt_as, asked = learning[model, task, source, text]
            recipe = {"model": prepared.recipe(seed), "seed": seed, **asked}
            tuned_as = (prepared.identity, learnt_as, seed)
            tuned = self.stage("finetuned", tuned_as, recipe, prepared.needs)
            tests, asked = testing[task, text]
            prints = {**recipe["prints"], **asked["prints"]}
            scored = self.stage("evaluation", (tuned, tests), {**recipe, **asked, "prints": prints}, (tuned,))
            alike = dict(self.similarities(prepared, tuned, recipe, column, seed, measuring.get(source)))
            name = digest(study.name, *key, scored)[:16]
            yield Run(name, model, column, text, task, source, seed, tuned, scored, alike)

    def measured(self, seeds: dict[str, dict[tuple[str, int], _Prepared]]) -> Iterator[Run]:
        """The runs of a study that fine-tunes nothing."""
        study = self.study
        assert study.measure and study.measure.source
        measuring = self.measuring(study.measure, study.measure.source)
        for model, column, seed in itertools.product(study.models, study.changes, study.seeds):
            prepared = seeds[column][model, seed]
            recipe = {"model": prepared.recipe(seed)}
            alike = dict(self.similarities(prepared, "", recipe, column, seed, measuring))
            name = digest(study.name, model, column, seed, *alike.values())[:16]
            if alike:
                yield Run(name, model, column, "", "", study.measure.source, seed, "", "", alike)

    def similarities(
        self,
        prepared: _Prepared,
        tuned: str,
        recipe: dict[str, Any],
        column: str,
        seed: int,
        measuring: tuple[str, dict[str, Any]] | None,
    ) -> Iterator[tuple[str, str]]:
        """The similarity stages of a run, by when they are measured."""
        measure = self.study.measure
        if measure is None or measuring is None:
            return
        if measure.changes is not None and column not in measure.changes:
            return
        if seed not in (measure.seeds or self.study.seeds[: 1 if self.study.tasks else None]):
            return
        identity, asked = measuring
        if "before" in measure.when:
            told = (prepared.identity, identity, self.computing)
            yield "before", self.stage("similarity", told, {"model": recipe["model"], "measure": asked}, prepared.needs)
        if "after" in measure.when:
            yield "after", self.stage("similarity", (tuned, identity), {**recipe, "measure": asked}, (tuned,))


def plan_study(study: Study, prints: Fingerprints | None = None, *, device: str = "cpu") -> Plan:
    """Every run of a study with its stages. `prints`: where hashes of files are kept from one time to the next."""
    prints = prints or Fingerprints()
    planner = _Planner(study, prints, device)
    runs = tuple(planner.runs())
    prints.save()
    return Plan(study, device, runs, planner.stages, prints.missing)
