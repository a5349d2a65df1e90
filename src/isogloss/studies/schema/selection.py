"""What a choice made by `--set` leaves of the rest of a study: what is for columns or tasks left out goes with them.

Left out is only what the file has and the choice has not. A name that the file never had stays where it is, to be told
as the mistake that it is; and what `--set` itself names is never left out.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from isogloss.core.registry import check_name
from isogloss.studies.schema.continual import NONE, named_continual
from isogloss.studies.schema.references import SpecError
from isogloss.studies.schema.study import Study
from isogloss.tasks import TASKS


def chosen_kinds(old: object, names: list[str]) -> dict[str, Any]:
    """Kinds of continual learning by name; `none` is the one without it, whatever the file calls it.

    >>> chosen_kinds({"": "none", "es": {"bitext": "en-es"}, "ru": {"bitext": "en-ru"}}, ["none", "es"])
    {'': None, 'es': {'bitext': 'en-es'}}
    """
    kinds = _kinds(old)
    plain = next((name for name, one in kinds.items() if one is None), "")
    by_name = kinds if plain in kinds else {plain: None, **kinds}
    wanted = {check_name(plain if name == NONE else name, by_name, "name under 'continual'") for name in names}
    return {name: one for name, one in by_name.items() if name in wanted}


def narrowed(data: Mapping[str, Any], file: Mapping[str, Any], given: Collection[str]) -> dict[str, Any]:
    """A study's content after choices, `given` by their names, without what was only for what they left out.

    >>> file = {"changes": {"REF": [], "es": []}, "continual": {"": None, "more": {"bitext": "x", "changes": ["es"]}}}
    >>> narrowed({**file, "changes": {"REF": []}}, file, ["changes"])["continual"]
    {'': None}
    >>> narrowed({**file, "continual": {"more": file["continual"]["more"]}}, file, ["continual"])["changes"]
    {'es': []}
    """
    data = dict(data)
    if "continual" in given and "changes" not in given:
        _keep_replayed(data)
    if gone := _names(file.get("changes")) - _names(data.get("changes")):
        _forget_columns(data, gone, given)
    if gone := _names(file.get("tasks")) - _names(data.get("tasks")):
        _forget_tasks(data, gone, given)
    return data


def _keep_replayed(data: dict[str, Any]) -> None:
    """Of the columns those that some kind of continual learning is for; all, if it is for none of them."""
    columns, kinds = data.get("changes"), _kinds(data["continual"])
    if isinstance(columns, dict) and all(_columns_of(one) for one in kinds.values()):
        wanted = {column for one in kinds.values() for column in _columns_of(one)}
        data["changes"] = {name: one for name, one in columns.items() if name in wanted} or columns


def _forget_columns(data: dict[str, Any], gone: set[str], given: Collection[str]) -> None:
    """Nothing is replayed in, measured of or held against columns that are no more.

    Without the reference the first column takes its place, with which published values have nothing to do.
    """
    kinds = _kinds(data.get("continual"))
    kept = {name: one for name, one in kinds.items() if "continual" in given or not _only_of(one, gone)}
    if kept:
        data["continual"] = {name: _of_fewer(one, gone) for name, one in kept.items()}
    for name in ("measure", "distances"):
        if name in data and not {name, f"{name}.changes"} & set(given):
            data[name] = None if _only_of(data[name], gone) else _of_fewer(data[name], gone)
    reference = data.get("reference", Study.model_fields["reference"].default)
    if reference in gone and "reference" not in given:
        data["reference"] = next(iter(data["changes"]))
        if "published" not in given:
            data["published"] = None


def _forget_tasks(data: dict[str, Any], gone: set[str], given: Collection[str]) -> None:
    """No sources and targets of tasks that are no more; should none be left, they stay, to be told what they lack."""
    now = _names(data.get("tasks"))

    def for_others(corpora: object) -> bool:
        tasks = set(corpora) if isinstance(corpora, Mapping) else set()
        return bool(tasks & gone) and not tasks & now and tasks <= set(TASKS)

    def taught_others(source: object) -> bool:
        return isinstance(source, Mapping) and any(map(for_others, source.values()))

    for name, left_out in {"sources": taught_others, "targets": for_others}.items():
        if name not in given and isinstance(data.get(name), dict):
            data[name] = {key: one for key, one in data[name].items() if not left_out(one)} or data[name]


def _kinds(continual: object) -> dict[str, Any]:
    """Kinds of continual learning by name; none where they are not as they should be, which is told later."""
    try:
        kinds = named_continual(continual)
    except SpecError:
        return {}
    return dict(kinds) if isinstance(kinds, Mapping) else {}


def _columns_of(one: object) -> list[str]:
    """The columns that continual learning or a measurement names."""
    columns = one.get("changes") if isinstance(one, Mapping) else None
    return [str(column) for column in columns] if isinstance(columns, list) else []


def _only_of(one: object, gone: set[str]) -> bool:
    return bool(_columns_of(one)) and set(_columns_of(one)) <= gone


def _of_fewer(one: Any, gone: set[str]) -> Any:
    left = [column for column in _columns_of(one) if column not in gone]
    return {**one, "changes": left} if left else one


def _names(value: object) -> set[str]:
    """What a mapping, a list or a single name names."""
    listed = [value] if isinstance(value, str) else value if isinstance(value, Mapping | list) else ()
    return {str(name) for name in listed}
