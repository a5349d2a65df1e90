"""`isogloss ls [LISTING]`: the formats, indexes, tasks and other names that isogloss knows, one per line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import compress
from pathlib import Path
from typing import Annotated

from typer import Argument

from isogloss.cli.run import StoreFolder
from isogloss.cli.screen import show_table
from isogloss.core.errors import InputError
from isogloss.core.registry import check_name

Row = tuple[object, ...]


def formats() -> Iterable[Row]:
    from isogloss.corpora.formats import FORMATS

    return ((name, FORMATS[name].kind, FORMATS[name].summary) for name in FORMATS)


def laboratory() -> Iterable[Row]:
    from isogloss.corpora.lab.languages import LANGUAGES

    for language in LANGUAGES.values():
        kin = f"from {language.parent}" if language.parent else f"family {language.family}"
        seen = "pretraining" if language.pretrained else "unseen"
        yield language.code, language.name, language.script, language.grammar.order, kin, f"{seen}, {language.role}"


def languages() -> Iterable[Row]:
    from isogloss.languages.facts import languages as known_languages

    for language in known_languages().values():
        scripts, models = " ".join(language.scripts), ", ".join(sorted(language.pretrained_in))
        yield language.code, language.name, scripts, language.family, language.branch, models


def indexes() -> Iterable[Row]:
    from isogloss.indexes import INDEXES

    for name in INDEXES:
        facts = INDEXES.facts(name)
        yield name, "moments" if "of_moments" in facts else "vectors", facts["summary"]


def tasks() -> Iterable[Row]:
    from isogloss.tasks import TASKS

    for name in TASKS:
        facts = TASKS.facts(name)
        yield name, facts["corpus"], ", ".join(facts["metrics"]), facts["summary"]


def families() -> Iterable[Row]:
    from isogloss.models.families import FAMILIES

    for name, family in FAMILIES.items():
        yield name, "decoder" if family.causal else "encoder", "pre-LN" if family.final_norm else "post-LN"


def interventions() -> Iterable[Row]:
    from isogloss.studies.schema.interventions import INTERVENTIONS

    for name, kind in INTERVENTIONS.items():
        yield name, ", ".join(kind.model_fields), "stored" if kind.stored else "recomputed for each run"


def text_changes() -> Iterable[Row]:
    from isogloss.studies.schema.text_changes import TEXT_CHANGES

    return ((name, ", ".join(kind.model_fields)) for name, kind in TEXT_CHANGES.items())


def remedies() -> Iterable[Row]:
    from isogloss.diagnosis.remedies import REMEDIES

    return ((name, REMEDIES.facts(name)["summary"]) for name in REMEDIES)


def schemes() -> Iterable[Row]:
    from isogloss.text.transliteration.schemes import SCHEMES

    for name, scheme in SCHEMES.items():
        yield name, scheme.languages, "yes" if scheme.inverse else "no", scheme.summary


def backends() -> Iterable[Row]:
    from isogloss.studies.execution.backends import BACKENDS

    return ((name, BACKENDS.module(name)) for name in BACKENDS)


def adapters(folder: str = ".") -> Iterable[Row]:
    """All adapters below a folder."""
    from isogloss.models.adapters.files import adapters_in

    for adapter in adapters_in(folder):
        sizes = ", ".join(f"{name} {value}" for name, value in adapter.options.items() if value is not None)
        path, model = Path(adapter.folder).relative_to(folder), Path(adapter.model["name"]).name
        yield path, adapter.role, adapter.lang, model, adapter.placement, sizes


def runs(folder: Path | None = None) -> Iterable[Row]:
    """All runs of all studies in the store with their state, and networks without a study (of `isogloss transfer`)."""
    from isogloss.store.running_jobs import running
    from isogloss.store.study_records import read_records
    from isogloss.studies.execution.run_study import open_store, store_folder

    if not store_folder(folder).is_dir():
        raise InputError(store_folder(folder), "the folder of a store", "no such folder", advice="give it with --store")
    store = open_store(folder)
    done, now = store.ids(), {job["job"]: job for job in running(store) if "job" in job}
    records = read_records(store)
    for record in records:
        for run in record.runs:
            state = run.state(done, now, record.failed)
            for job in (now[job] for job in run.jobs if state == "running" and job in now):
                state += f", step {job['step']} of {job['steps']}" if job.get("steps") else ""
            yield run.label, record.name, state, record.failed.get(run.label, "")[-200:]
    without_study = done - {id for record in records for id in record.stages}
    yield from ((id, "", "done", "") for id in sorted(without_study) if id.startswith("finetuned-"))


# name → (column titles, rows); a new registry is one line here
LISTINGS: dict[str, tuple[tuple[str, ...], Callable[[], Iterable[Row]]]] = {
    "formats": (("format", "kind", "description"), formats),
    "indexes": (("index", "input", "description"), indexes),
    "tasks": (("task", "corpus", "metrics", "description"), tasks),
    "families": (("model type", "kind", "layer norm"), families),
    "interventions": (("intervention", "arguments", "result"), interventions),
    "text changes": (("text change", "arguments"), text_changes),
    "remedies": (("remedy", "description"), remedies),
    "schemes": (("scheme", "languages", "reversible", "description"), schemes),
    "backends": (("backend", "module"), backends),
    "adapters": (("folder", "role", "language", "model", "placement", "sizes"), adapters),
    "runs": (("run", "study", "state", "reason"), runs),
    "laboratory": (("code", "name", "script", "order", "descent", "role"), laboratory),
    "languages": (("code", "name", "scripts", "family", "branch", "pretrained in"), languages),
}
ONLY_BY_NAME = {"languages", "runs", "adapters"}  # long or slow: shown only on request


def ls(
    listing: Annotated[
        str | None, Argument(help=f"What to list: {', '.join(LISTINGS)}. By default all short listings.")
    ] = None,
    find: Annotated[str, Argument(help="Show only rows with this text; for adapters, the folder to search.")] = "",
    store: StoreFolder = None,
) -> None:
    """List the formats, indexes, tasks, model families, languages and runs that isogloss knows."""
    short = [name for name in LISTINGS if name not in ONLY_BY_NAME]
    for name in [check_name(listing, LISTINGS, "listing")] if listing else short:
        columns, rows = LISTINGS[name]
        if name == "adapters":
            show_table(name, columns, adapters(find or "."))
            continue
        listed = runs(store) if name == "runs" else rows()
        show_table(name, columns, matching_rows(listed, _language_code(find) if name == "languages" else find))


def _language_code(text: str) -> str:
    """The code that the listing has: `tat` is listed as `tt`, Kurmanji as `kmr`."""
    from isogloss.languages.checks import COMMON_NAMES
    from isogloss.languages.codes import canonical

    return canonical(COMMON_NAMES.get(text.lower(), text))


def matching_rows(rows: Iterable[Row], text: str) -> list[Row]:
    """Rows with this text: those named so first, then those with it as a word; parts of words only if there is neither.

    >>> matching_rows([("att", "Pamplona Atta"), ("tt", "Tatar"), ("crh", "Crimean Tatar")], "TT")
    [('tt', 'Tatar')]
    >>> matching_rows([("att", "Pamplona Atta"), ("tt", "Tatar"), ("crh", "Crimean Tatar")], "tatar")
    [('tt', 'Tatar'), ('crh', 'Crimean Tatar')]
    """
    wanted, listed = text.casefold(), list(rows)
    if not wanted:
        return listed
    texts = ["\t".join(map(str, row)).casefold() for row in listed]
    named = [text.partition("\t")[0] == wanted for text in texts]
    as_word = re.compile(rf"(?<!\w){re.escape(wanted)}(?!\w)")
    with_word = [not name and bool(as_word.search(text)) for name, text in zip(named, texts, strict=True)]
    if any(named) or any(with_word):
        return [*compress(listed, named), *compress(listed, with_word)]
    return list(compress(listed, (wanted in text for text in texts)))
