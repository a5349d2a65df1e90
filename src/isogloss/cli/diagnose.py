"""`isogloss diagnose MODEL --lang ug --train … --dev … --test … --text raw.txt`: a verdict and the best model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from isogloss.cli.arguments import Device
from isogloss.cli.run import study_progress
from isogloss.cli.screen import err, library_warnings, out, show_table
from isogloss.cli.training import resumable
from isogloss.core.errors import UsageError

if TYPE_CHECKING:
    from isogloss.diagnosis.treatments import TrainingSizes
    from isogloss.diagnosis.verdict import Verdict
    from isogloss.results.tables.tables import Table


def diagnose(
    model: Annotated[
        str, typer.Argument(help="Model folder or Hugging Face name; laboratory is the model that ships with isogloss.")
    ],
    lang: Annotated[str, typer.Option(help="Language code, such as ug; languages of the laboratory need no corpora.")],
    train: Annotated[
        list[str] | None, typer.Option(help="Annotated training data of the language (file, hub:…, lab:…); repeatable.")
    ] = None,
    dev: Annotated[
        list[str] | None, typer.Option(help="Annotated development data, on which settings and remedies are chosen.")
    ] = None,
    test: Annotated[
        list[str] | None, typer.Option(help="Annotated test data, on which the final scores are computed.")
    ] = None,
    text: Annotated[list[str] | None, typer.Option(help="Raw text of the language, one sentence per line.")] = None,
    task: Annotated[str, typer.Option(help="Task to fine-tune for (see `isogloss ls tasks`).")] = "pos",
    source: Annotated[
        list[str] | None,
        typer.Option(
            help="LANGUAGE=TRAIN,DEV …: annotated data of source languages, if the language has none, or for --lexicon."
        ),
    ] = None,
    lexicon: Annotated[
        str | None, typer.Option(help="Dictionary from the first source language to the language, for code-switching.")
    ] = None,
    parallel: Annotated[
        list[str] | None,
        typer.Option(help="LANGUAGE=FILE …: parallel text, including the language itself; ranks the source languages."),
    ] = None,
    comparable: Annotated[
        list[str] | None,
        typer.Option(help="LANGUAGE=FILE …: text of other languages on similar topics; ranks the source languages."),
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Number of fine-tuning runs (seeds) of each system.")] = 3,
    budget: Annotated[
        float | None, typer.Option(min=0, help="Time limit for the search of remedies, in minutes.")
    ] = None,
    remedy: Annotated[
        list[str] | None,
        typer.Option(
            help="Remedies to try, in this order: transliterate, vocabulary, code-switching, adapters, noise; or none."
        ),
    ] = None,
    finetune: Annotated[list[str] | None, typer.Option(help="Settings of fine-tuning: epochs=3 batch=16 …")] = None,
    bilstm: Annotated[
        list[str] | None, typer.Option(help="Settings of fine-tuning for the BiLSTM baseline: epochs=30 batch=16 …")
    ] = None,
    adapt: Annotated[
        list[str] | None, typer.Option(help="Arguments of the adaptation to raw text: epochs=3 settings.length=64 …")
    ] = None,
    pretrain: Annotated[
        list[str] | None, typer.Option(help="Arguments of the monolingual model: layers=4 width=128 steps=500 …")
    ] = None,
    vocabulary: Annotated[
        int | None, typer.Option(min=1, help="Number of new sub-words for the remedy 'vocabulary'.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder for report, recipe and model; diagnosis-LANG by default.")
    ] = None,
    store: Annotated[Path | None, typer.Option(help="Folder of the store for all runs; OUT/store by default.")] = None,
    workers: Annotated[
        int | None, typer.Option(min=0, help="Number of worker processes; by default as many as fit into memory.")
    ] = None,
    threads: Annotated[int, typer.Option(min=1, help="Number of CPU threads of each process.")] = 1,
    device: Device = None,
) -> None:
    """Diagnose how well a model serves a language, which remedies help, and save the best model."""
    from isogloss.diagnosis.diagnose import diagnose as run_diagnosis
    from isogloss.store.entries import Store

    folder = output or Path(f"diagnosis-{lang}")
    opened = Store(store or folder / "store")
    with library_warnings(), resumable(folder), study_progress(opened) as watch:
        verdict = run_diagnosis(
            model,
            lang=lang,
            train=train,
            dev=dev,
            test=test,
            text=text,
            task=task,
            source=_sources(source or ()),
            lexicon=lexicon,
            parallel=_parallel(parallel),
            comparable=_pairs(comparable or (), "--comparable"),
            seeds=seeds,
            budget=budget,
            remedies=None if remedy is None else [name for name in remedy if name != "none"],
            sizes=_sizes(lang, finetune, bilstm, adapt, pretrain, vocabulary),
            out=folder,
            store=opened.folder,
            threads=threads,
            device=device,
            watch=watch,
            on_progress=lambda step: err.print(f"{step} …", soft_wrap=True, markup=False),
            workers=workers,
        )
    _show(verdict)


def _show(verdict: Verdict) -> None:
    from isogloss.diagnosis import report as report

    out.print(f"[bold]{verdict.lang}: {verdict.level}[/]", soft_wrap=True)
    for sentence in report.summary(verdict):
        out.print(sentence, soft_wrap=True, markup=False)
    tables: dict[str, Table] = {"systems": report.system_table(verdict)}
    if len(verdict.remedies):
        tables["remedies"] = report.remedy_table(verdict)
    tables["closest languages"] = report.ranking_table(verdict)
    for title, table in tables.items():
        show_table(title, table.head, ([cell.text for cell in row] for row in table.body))
    for name in ("report.html", "report.md", "recipe.yaml", "model"):
        out.print(f"written: {verdict.folder / name}", soft_wrap=True, markup=False)


def _sizes(
    lang: str,
    finetune: list[str] | None,
    bilstm: list[str] | None,
    adapt: list[str] | None,
    pretrain: list[str] | None,
    vocabulary: int | None,
) -> TrainingSizes:
    """The usual sizes for the language, with the values from the command line."""
    from isogloss.diagnosis.inputs import default_sizes
    from isogloss.diagnosis.treatments import TrainingSizes
    from isogloss.studies.schema.overrides import parse_overrides

    defaults = default_sizes(lang)
    words_of = {"finetune": finetune, "bilstm": bilstm, "adapt": adapt, "pretrain": pretrain}
    merged: dict[str, Any] = {
        name: _over(getattr(defaults, name), parse_overrides(words or (), f"--{name}"))
        for name, words in words_of.items()
    }
    return TrainingSizes(**merged, adapter=defaults.adapter, vocabulary=vocabulary or defaults.vocabulary)


def _over(defaults: Any, overrides: dict[str, Any]) -> dict[str, Any]:
    """The defaults with some values replaced; `settings.length` sets a value within `settings`.

    >>> _over({"epochs": 3, "settings": {"length": 64}}, {"settings.batch": 8})
    {'epochs': 3, 'settings': {'length': 64, 'batch': 8}}
    """
    result = {name: dict(value) if isinstance(value, dict) else value for name, value in defaults.items()}
    for name, value in overrides.items():
        outer, _, inner = name.partition(".")
        if inner:
            result.setdefault(outer, {})[inner] = value
        else:
            result[outer] = value
    return result


def _sources(words: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Parse `en=train.conllu,dev.conllu`.

    >>> _sources(["en=a.conllu,b.conllu"])
    {'en': ('a.conllu', 'b.conllu')}
    """
    sources = {}
    for lang, files in _pairs(words, "--source").items():
        train, comma, dev = files.partition(",")
        if not (train and comma and dev):
            raise UsageError(f"--source: expected LANGUAGE=TRAIN,DEV such as en=train.conllu,dev.conllu, got '{files}'")
        sources[lang] = (train, dev)
    return sources


def _parallel(words: Sequence[str] | None) -> dict[str, str] | str | None:
    """A file for each language, or one file with all languages."""
    if not words:
        return None
    return words[0] if len(words) == 1 and "=" not in words[0] else _pairs(words, "--parallel")


def _pairs(words: Sequence[str], option: str) -> dict[str, str]:
    values = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not (name and equals and value):
            raise UsageError(f"{option}: expected LANGUAGE=FILE such as fr=fr.txt, got '{word}'")
        values[name] = value
    return values
