"""What remains of a study after a selection by `--set`: entries only for conditions or tasks left out are removed.

Only what the file has and the selection has not is left out. A name that is not in the file is kept, to be reported as
an error; and what `--set` itself names is never removed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from isogloss.core.registry import check_name
from isogloss.studies.schema.continual import NO_REPLAY, named_continual
from isogloss.studies.schema.references import SpecError
from isogloss.studies.schema.study import Study
from isogloss.studies.schema.yaml_text import YamlMapping
from isogloss.tasks import TASKS


def select_continual(continual: object, names: list[str]) -> YamlMapping:
    """Kinds of continual learning by name; `none` selects the kind without it, whatever its name in the file.

    >>> select_continual({"": "none", "es": {"bitext": "en-es"}, "ru": {"bitext": "en-ru"}}, ["none", "es"])
    {'': None, 'es': {'bitext': 'en-es'}}
    """
    kinds = _continual_kinds(continual)
    plain = next((name for name, options in kinds.items() if options is None), "")
    by_name = kinds if plain in kinds else {plain: None, **kinds}
    selected = {check_name(plain if name == NO_REPLAY else name, by_name, "name under 'continual'") for name in names}
    return {name: options for name, options in by_name.items() if name in selected}


def remove_unselected(data: Mapping[str, object], file: Mapping[str, object], given: Collection[str]) -> YamlMapping:
    """A study's content after a selection, without what is only for conditions and tasks that were left out.

    `file` is the content before the selection, `given` are the keys that `--set` names.

    >>> file = {"changes": {"REF": [], "es": []}, "continual": {"": None, "more": {"bitext": "x", "changes": ["es"]}}}
    >>> remove_unselected({**file, "changes": {"REF": []}}, file, ["changes"])["continual"]
    {'': None}
    >>> remove_unselected({**file, "continual": {"more": file["continual"]["more"]}}, file, ["continual"])["changes"]
    {'es': []}
    """
    data = dict(data)
    if "continual" in given and "changes" not in given:
        _keep_replayed_conditions(data)
    if removed := _names(file.get("changes")) - _names(data.get("changes")):
        _remove_conditions(data, removed, given)
    if removed := _names(file.get("tasks")) - _names(data.get("tasks")):
        _remove_tasks(data, removed, given)
    return data


def _keep_replayed_conditions(data: YamlMapping) -> None:
    """Keep the conditions that some kind of continual learning is for; all, if it is for none of them."""
    changes, kinds = data.get("changes"), _continual_kinds(data["continual"])
    if isinstance(changes, dict) and all(_conditions_of(options) for options in kinds.values()):
        replayed = {condition for options in kinds.values() for condition in _conditions_of(options)}
        data["changes"] = {name: content for name, content in changes.items() if name in replayed} or changes


def _remove_conditions(data: YamlMapping, removed: set[str], given: Collection[str]) -> None:
    """Remove the continual learning and the measurements of conditions that were left out.

    If the reference was left out, the first condition takes its place, and published values do not apply.
    """
    kinds = _continual_kinds(data.get("continual"))
    kept = {name: kind for name, kind in kinds.items() if "continual" in given or not _only_for(kind, removed)}
    if kept:
        data["continual"] = {name: _without(kind, removed) for name, kind in kept.items()}
    for name in ("measure", "distances"):
        if name in data and not {name, f"{name}.changes"} & set(given):
            data[name] = None if _only_for(data[name], removed) else _without(data[name], removed)
    reference = data.get("reference", Study.model_fields["reference"].default)
    if reference in removed and "reference" not in given:
        data["reference"] = next(iter(data["changes"]))
        if "published" not in given:
            data["published"] = None


def _remove_tasks(data: YamlMapping, removed: set[str], given: Collection[str]) -> None:
    """Remove sources and targets of tasks that were left out; if none would remain, all stay, to be reported."""
    selected = _names(data.get("tasks"))

    def for_removed(corpora: object) -> bool:
        tasks = set(corpora) if isinstance(corpora, Mapping) else set()
        return bool(tasks & removed) and not tasks & selected and tasks <= set(TASKS)

    def trains_removed(source: object) -> bool:
        return isinstance(source, Mapping) and any(map(for_removed, source.values()))

    for name, is_removed in {"sources": trains_removed, "targets": for_removed}.items():
        if name not in given and isinstance(data.get(name), dict):
            data[name] = {key: corpora for key, corpora in data[name].items() if not is_removed(corpora)} or data[name]


def _continual_kinds(continual: object) -> YamlMapping:
    """Kinds of continual learning by name; empty if they are invalid, which is reported later."""
    try:
        kinds = named_continual(continual)
    except SpecError:
        return {}
    return dict(kinds) if isinstance(kinds, Mapping) else {}


def _conditions_of(options: object) -> list[str]:
    """The conditions that continual learning or a measurement names."""
    conditions = options.get("changes") if isinstance(options, Mapping) else None
    return [str(condition) for condition in conditions] if isinstance(conditions, list) else []


def _only_for(options: object, removed: set[str]) -> bool:
    return bool(_conditions_of(options)) and set(_conditions_of(options)) <= removed


def _without(options: object, removed: set[str]) -> object:
    remaining = [condition for condition in _conditions_of(options) if condition not in removed]
    return {**options, "changes": remaining} if remaining and isinstance(options, Mapping) else options


def _names(value: object) -> set[str]:
    """The names in a mapping, a list or a single name."""
    names = [value] if isinstance(value, str) else value if isinstance(value, Mapping | list) else ()
    return {str(name) for name in names}
