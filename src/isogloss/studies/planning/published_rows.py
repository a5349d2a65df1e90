"""Published values of a study, each with the reason why it is not comparable with what the study measures.

What is known before any run is compared here: model, recipe and data. Which languages a mean is over is known only from
the results (`results.comparisons.published_values`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path

from pydantic import BaseModel, TypeAdapter

from isogloss.results.comparisons.published_values import STAR_COLUMNS, joined_reasons
from isogloss.results.comparisons.target_languages import FIRST_PART, language_of
from isogloss.results.comparisons.transfer_means import OTHER_TARGETS
from isogloss.results.rows.study_reader import read_published
from isogloss.studies.schema.interventions import INTERVENTIONS, Intervention
from isogloss.studies.schema.model_entry import ModelEntry
from isogloss.studies.schema.published_conditions import (
    Arguments,
    FileNames,
    PublishedConditions,
    PublishedModel,
    read_conditions,
)
from isogloss.studies.schema.references import MIXED, MIXED_SEPARATOR, for_task, mixed_parts
from isogloss.studies.schema.study import Study
from isogloss.tasks import TASKS
from isogloss.training.engine.settings import settings_for

COMPRESSION_SUFFIXES = (".xz", ".gz", ".bz2")
NEUTRAL_SETTINGS = {"precision", "accumulate"}  # they save time or memory
SCORER_OF_DATA_SET = "of the data set"
CORRELATION = "spearman "  # the start of the metric of a published correlation
PublishedRow = dict[str, object]


def published_rows(study: Study) -> list[PublishedRow] | None:
    """The published values of the study's models, tasks, sources and conditions, with `mismatch`, `languages`,
    `note` and the marks of the paper."""
    if study.published is None:
        return None
    rows = read_published(Path(study.published)).to_dicts()
    if study.published_conditions is None:
        return rows
    conditions = read_conditions(study.published_conditions)
    names = _condition_names(study)
    measured = [
        (model, row)
        for row in rows
        if row["task"] in study.tasks and row["source"] in study.sources and row["change"] in names
        for model in study.models
        if row.get("model", model) == model
    ]
    return [
        {
            **row,
            "model": model,
            "mismatch": joined_reasons(*_reasons(study, conditions, model, row, names[row["change"]])),
            "languages": _languages(conditions, row),
            "note": conditions.notes.get(row["task"], ""),
            **dict(zip(STAR_COLUMNS, conditions.stars.get(row["change"], ("", "")), strict=True)),
        }
        for model, row in measured
    ]


def _condition_names(study: Study) -> dict[str, tuple[str, str]]:
    """The names of interventions and of continual learning, by the label of their condition in results."""
    default = next(iter(study.continual))
    return {
        " ".join(filter(None, (changes, "" if continual == default else continual))): (changes, continual)
        for changes, continual in study.conditions
    }


def _languages(conditions: PublishedConditions, row: Mapping[str, object]) -> list[str] | None:
    """The languages of a published mean, without the source; of a correlation, all."""
    if row["target"] != OTHER_TARGETS or not conditions.languages:
        return None
    languages = {language_of(name) or name for name in conditions.languages}
    own = set() if str(row["metric"]).startswith(CORRELATION) else {language_of(str(row["source"]))}
    return sorted(languages - own)


def _reasons(
    study: Study, conditions: PublishedConditions, model: str, row: Mapping[str, object], names: tuple[str, str]
) -> Iterator[str]:
    task, source, target = (str(row[name]) for name in ("task", "source", "target"))
    published_model = conditions.models.get(model if "model" in row else next(iter(conditions.models)))
    yield _model_mismatch(published_model, study.models[model])
    yield _settings_mismatch(study, conditions, task, model)
    yield _condition_mismatch(study, conditions, *names)
    if next(iter(study.text.values())) or study.models[model].text:
        yield "paper: unchanged text; yours: changed text"
    yield _file_mismatch(
        "trained on", conditions.train.get(task, {}), source, for_task(study.sources[source].train, task)
    )
    tests = study.targets.get(target)
    yield _file_mismatch("tested on", conditions.test.get(task, {}), target, for_task(tests, task) if tests else None)


def _model_mismatch(published: PublishedModel | None, entry: ModelEntry) -> str:
    if published is None:
        return "the model of the paper is not declared"
    if published.pretrain is not None:
        pretrained = entry.changes[0] if entry.base is None and len(entry.changes) == 1 else None
        if pretrained is None:
            return f"paper: pretrained from scratch; yours: {_model_name(entry)}"
        return _argument_mismatch(pretrained.arguments, published.pretrain)
    same = entry.base is not None and not entry.changes and _is_model(published, entry.base)
    return "" if same else f"paper: {published.name}; yours: {_model_name(entry)}"


def _model_name(entry: ModelEntry) -> str:
    names = [*([Path(entry.base).name] if entry.base else []), *(change.name for change in entry.changes)]
    return " + ".join(names)


def _is_model(published: PublishedModel, base: str) -> bool:
    """By the facts of a folder's configuration where both are known, otherwise by name."""
    config = Path(base) / "config.json"
    if published.config and config.is_file():
        facts = json.loads(config.read_text("utf-8"))
        return all(facts.get(name) == value for name, value in published.config.items())
    return Path(base).name == published.name


def _settings_mismatch(study: Study, conditions: PublishedConditions, task: str, model: str) -> str:
    if task not in conditions.settings:
        return ""
    defaults, recipe, ours = TASKS[task].defaults, dict(conditions.settings[task]), study.training_settings(task, model)
    scorers = [scorer or SCORER_OF_DATA_SET for scorer in (recipe.pop("scorer", None), study.scorer_of(task, model))]
    published, measured = (asdict(settings_for(defaults, **values)) for values in (recipe, ours))
    for name in NEUTRAL_SETTINGS:
        measured.pop(name, None)
    differing = {name: (published.get(name), value) for name, value in measured.items() if value != published.get(name)}
    if scorers[0] != scorers[1]:
        differing["scorer"] = (scorers[0], scorers[1])
    return _listed_mismatch(differing)


def _condition_mismatch(study: Study, conditions: PublishedConditions, changes: str, continual: str) -> str:
    if changes not in conditions.changes or (study.continual[continual] and continual not in conditions.continual):
        return f"the recipe of '{' '.join(filter(None, (changes, continual)))}' in the paper is not declared"
    ours, published = study.changes[changes], conditions.changes[changes]
    if [change.name for change in ours] != [next(iter(change)) for change in published]:
        return f"paper: {_intervention_names(published)}; yours: {' + '.join(change.name for change in ours) or 'none'}"
    reasons = [_intervention_mismatch(change, arguments) for change, arguments in zip(ours, published, strict=True)]
    replayed = study.continual[continual]
    if replayed is not None:
        reasons.append(_argument_mismatch(replayed, {"changes": replayed.changes, **conditions.continual[continual]}))
    return joined_reasons(*reasons)


def _intervention_names(published: tuple[dict[str, Arguments], ...]) -> str:
    return " + ".join(next(iter(change)) for change in published) or "none"


def _intervention_mismatch(ours: Intervention, published: dict[str, Arguments]) -> str:
    ((name, arguments),) = published.items()
    assert name in INTERVENTIONS
    return _argument_mismatch(ours.arguments, arguments)


def _argument_mismatch(ours: BaseModel, published: Arguments) -> str:
    """Arguments that differ from the paper's, or from their defaults where the paper's are not listed."""
    differing = {}
    for name, field in type(ours).model_fields.items():
        if name not in published and field.is_required():
            continue  # the data
        value = getattr(ours, name)
        default = field.get_default(call_default_factory=True)
        expected = (
            TypeAdapter(field.annotation or object).validate_python(published[name]) if name in published else default
        )
        if value != expected:
            differing[name] = (expected, value)
    return _listed_mismatch(differing)


def _listed_mismatch(differing: Mapping[str, tuple[object, object]]) -> str:
    """
    >>> _listed_mismatch({"epochs": (6, 1), "batch": (16, 8)})
    'paper: epochs 6, batch 16; yours: epochs 1, batch 8'
    """
    if not differing:
        return ""
    sides = [", ".join(f"{name} {values[side]}" for name, values in differing.items()) for side in (0, 1)]
    return f"paper: {sides[0]}; yours: {sides[1]}"


def _file_mismatch(what: str, published: FileNames, name: str, corpora: tuple[str, ...] | None) -> str:
    match = FIRST_PART.match(name)
    language = match[0] if match else name
    expected = published.get(name, published.get(name.removeprefix(language)))
    if expected is None or corpora is None:
        return ""
    expected, ours = expected.replace("{language}", language), " + ".join(map(corpus_name, corpora))
    return "" if ours == expected else f"paper: {what} {expected}; yours: {ours}"


def corpus_name(reference: str) -> str:
    """A corpus without its folder and its compression.

    >>> corpus_name("/ud/en_pud-ud-test.conllu.xz"), corpus_name("mixed:a/es.tsv|a/en.tsv")
    ('en_pud-ud-test.conllu', 'mixed:es.tsv|en.tsv')
    """
    if parts := mixed_parts(reference):
        return MIXED + MIXED_SEPARATOR.join(map(corpus_name, parts))
    if reference.startswith(("hub:", "lab:")):
        return reference
    name = Path(reference).name
    return name.removesuffix(next((suffix for suffix in COMPRESSION_SUFFIXES if name.endswith(suffix)), ""))
