"""Datasets of the Hugging Face hub, loaded with the optional package `datasets` into the same types as files.

    hub:OWNER/NAME[/CONFIG][:SPLIT][@REVISION]

Examples: `hub:facebook/xnli/fr:test`, `hub:commul/universal_dependencies/wo_wtb:train@main`. A local folder that
`datasets` can load is `hub:path/to/folder:train`. Without a split the dataset must have only one. Code from the hub is
never executed.

Rows are written to a temporary file in one of our formats and read from it, so that they pass the same checks as files.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from isogloss.core.errors import InputError, UsageError, shown
from isogloss.core.files import Repairs
from isogloss.core.registry import import_extra
from isogloss.corpora.corpus import AnyCorpus, read_corpus
from isogloss.corpora.formats import FORMATS
from isogloss.corpora.kinds import KINDS
from isogloss.corpora.parallel import ParallelSet, write_lines
from isogloss.corpora.parallel_files import parallel_set
from isogloss.languages.codes import UNKNOWN, is_language, language_of_path

PREFIX = "hub:"
NAME = re.compile(r"hub:(?P<path>[^:@]+)(?::(?P<split>[^:@]+))?(?:@(?P<revision>[^:@]+))?")


@dataclass(frozen=True)
class HubRows:
    """The rows of one split of a dataset."""

    name: str
    path: str
    config: str | None
    data: Any  # datasets.Dataset

    def values(self, *names: str, optional: bool = False) -> Iterator[Any]:
        """The values of the first existing column, with class labels in place of their numbers (None for -1).

        If none of the columns exists: Nones if it is optional, an error otherwise.
        """
        columns = self.data.column_names
        column = next((name for name in names if name in columns), None)
        if column is None and optional:
            return iter([None] * len(self.data))
        if column is None:
            raise InputError(self.name, f"a column {' or '.join(map(shown, names))}", f"only {', '.join(columns)}")
        feature = self.data.features[column]
        labels = getattr(getattr(feature, "feature", feature), "names", None)
        return (_with_label_names(value, labels) for value in self.data[column])


def is_hub(path: object) -> bool:
    return isinstance(path, str) and path.startswith(PREFIX)


def load_split(name: str) -> HubRows:
    """One split of a dataset, from the hub or from a local folder."""
    datasets = import_extra("datasets", "hub")
    match = NAME.fullmatch(name)
    if not match:
        raise UsageError(f"expected hub:OWNER/NAME[/CONFIG][:SPLIT][@REVISION], got {shown(name)}")
    path, config = match["path"], None
    if not os.path.isdir(path) and path.count("/") == 2:
        path, _, config = path.rpartition("/")
    try:
        data = datasets.load_dataset(path, config, split=match["split"], revision=match["revision"])
    except Exception as error:  # `datasets` raises many types of errors
        reason = str(error).strip().splitlines() or [type(error).__name__]
        raise InputError(name, "a dataset that `datasets` can load", reason[0]) from error
    if isinstance(data, dict):
        if len(data) != 1:
            raise UsageError(f"{name}: expected one of the splits {', '.join(f'{name}:{split}' for split in data)}")
        (data,) = data.values()
    return HubRows(name, path, config, data)


def read(name: str, kind: str, *, lang: str | None = None, repair: bool = False) -> AnyCorpus:
    """A corpus of a kind that has a `HubConversion`."""
    conversion = KINDS[kind].hub
    if conversion is None:
        readable_kinds = ", ".join(name for name in KINDS if KINDS[name].hub)
        raise UsageError(f"{name}: expected a kind of corpus that is read from the hub ({readable_kinds}), got {kind}")
    rows = load_split(name)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows"
        try:
            write_lines(file, conversion.lines(rows))
            lang = lang or _language_of_dataset(rows)
            corpus = read_corpus(file, FORMATS[conversion.format], lang=lang, repair=repair)
        except InputError as error:
            raise InputError(name, error.expected, error.got) from None
        except (ValueError, TypeError, KeyError, IndexError, UsageError) as error:
            raise InputError(name, f"rows of a corpus of the kind '{kind}'", str(error)) from None
    repairs = tuple(InputError(name, error.expected, error.got) for error in corpus.repairs)
    return replace(corpus, origin=name, repairs=repairs)


def read_parallel(name: str, *, languages: Sequence[str] | None, words: bool) -> ParallelSet:
    """Parallel text from a column `translation` with `{"en": …, "fr": …}`, or from one column per language."""
    rows = load_split(name)
    if "translation" in rows.data.column_names:
        records: Iterable[dict[str, Any]] = rows.data["translation"]
    else:
        records = rows.data
        if not languages and "id" in rows.data.column_names:
            advice = "select the columns with languages=['en', …]"
            raise UsageError(f"{name}: the column 'id' may be ids or Indonesian; {advice}")
        languages = languages or [column for column in rows.data.column_names if is_language(column)]
    pairs = ((str(i), _sentences(name, record, languages)) for i, record in enumerate(records, 1))
    return parallel_set(pairs, None, Repairs(), name, words)


def _sentences(name: str, record: dict[str, Any], languages: Sequence[str] | None) -> dict[str, str]:
    chosen = {lang: record.get(lang) for lang in languages or record}
    missing = [lang for lang, text in chosen.items() if not isinstance(text, str) or not text.strip()]
    if missing or len(chosen) < 2:
        raise InputError(name, "a sentence in each of two or more languages", f"{shown(str(record))} without {missing}")
    return {lang: str(text) for lang, text in chosen.items()}


def _with_label_names(value: Any, labels: list[str] | None) -> Any:
    if labels is None:
        return value
    if isinstance(value, list):
        return [_with_label_names(member, labels) for member in value]
    return None if value is None or value == -1 else labels[value]


def _language_of_dataset(rows: HubRows) -> str:
    """The language in the name of the configuration (`fr`, `wo_wtb`, `20231101.fr`), or else of the dataset."""
    if not rows.config:
        return language_of_path(rows.path)
    parts = re.split(r"[_.-]", rows.config)
    return next((part for part in parts if re.fullmatch(r"[a-z]{2,3}", part) and is_language(part)), UNKNOWN)
