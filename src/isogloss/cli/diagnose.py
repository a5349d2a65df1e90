"""`isogloss diagnose MODEL --lang ug --train … --dev … --test … --text raw.txt`: a verdict, and the best model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from isogloss.cli.arguments import Device
from isogloss.cli.run import study_progress
from isogloss.cli.screen import err, library_warnings, out, print_note, show_table
from isogloss.core.errors import UsageError

if TYPE_CHECKING:
    from isogloss.diagnosis.treatments import TrainingSizes
    from isogloss.diagnosis.verdict import Verdict
    from isogloss.results.tables.tables import Table

Settings = Annotated[list[str] | None, typer.Option(help="Settings of fine-tuning: epochs=3 batch=16 …")]


def diagnose(
    model: Annotated[
        str, typer.Argument(help="Model folder or Hugging Face name; laboratory: the one in the package.")
    ],
    lang: Annotated[str, typer.Option(help="The language, such as ug; one of the laboratory brings its own corpora.")],
    train: Annotated[list[str] | None, typer.Option(help="Labelled data of the language (file, hub:…, lab:…).")] = None,
    dev: Annotated[list[str] | None, typer.Option(help="Another part, on which everything is chosen.")] = None,
    test: Annotated[list[str] | None, typer.Option(help="Another part, for the scores.")] = None,
    text: Annotated[list[str] | None, typer.Option(help="Raw text of the language, a sentence a line.")] = None,
    task: Annotated[str, typer.Option(help="What to learn (see `isogloss ls tasks`).")] = "pos",
    source: Annotated[
        list[str] | None,
        typer.Option(
            help="LANGUAGE=TRAIN,DEV …: labelled data of others, for a language without any, or for --lexicon."
        ),
    ] = None,
    lexicon: Annotated[
        str | None, typer.Option(help="A dictionary from the first source to the language, for code-switching.")
    ] = None,
    parallel: Annotated[
        list[str] | None, typer.Option(help="LANGUAGE=FILE …: parallel text, this language too; ranks the sources.")
    ] = None,
    comparable: Annotated[
        list[str] | None, typer.Option(help="LANGUAGE=FILE …: text of other languages on like topics; likewise.")
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Fine-tunings of each system.")] = 3,
    budget: Annotated[float | None, typer.Option(min=0, help="Minutes for remedies.")] = None,
    remedy: Annotated[
        list[str] | None,
        typer.Option(
            help="Only these, in this order: transliterate, vocabulary, code-switching, adapters, noise; none."
        ),
    ] = None,
    finetune: Settings = None,
    bilstm: Annotated[list[str] | None, typer.Option(help="The same of the BiLSTM.")] = None,
    adapt: Annotated[list[str] | None, typer.Option(help="Of adaptation: epochs=3 settings.length=64 …")] = None,
    pretrain: Annotated[
        list[str] | None, typer.Option(help="Of the monolingual model: layers=4 width=128 steps=500 …")
    ] = None,
    vocabulary: Annotated[int | None, typer.Option(min=1, help="New sub-words, for the remedy of that name.")] = None,
    output: Annotated[Path | None, typer.Option("--out", "-o", help="Folder (diagnosis-LANG).")] = None,
    store: Annotated[Path | None, typer.Option(help="Where training is kept (OUT/store).")] = None,
    workers: Annotated[int | None, typer.Option(min=0, help="Processes; as many as there is room for.")] = None,
    threads: Annotated[int, typer.Option(min=1, help="Of each process, on a CPU.")] = 1,
    device: Device = None,
) -> None:
    """Find out how well a model serves a language that it did not see, what helps, and save the best model."""
    from isogloss.diagnosis.diagnose import diagnose as run_diagnosis
    from isogloss.store.entries import Store

    folder = output or Path(f"diagnosis-{lang}")
    opened = Store(store or folder / "store")
    try:
        with library_warnings(), study_progress(opened) as watch:
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
                remedies=None if remedy is None else [one for one in remedy if one != "none"],
                sizes=_sizes(lang, finetune, bilstm, adapt, pretrain, vocabulary),
                out=folder,
                store=opened.folder,
                threads=threads,
                device=device,
                watch=watch,
                on_progress=lambda what: err.print(f"{what} …", soft_wrap=True, markup=False),
                workers=workers,
            )
    except KeyboardInterrupt:
        print_note(f"the work so far is kept in {folder}; the same command goes on from there")
        raise
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
    """What was given, over what is usual for the language."""
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
    """Other values in place of usual ones; `settings.length` is one within another.

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
    """`en=train.conllu,dev.conllu` by language.

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
    """A file for each language, or one that holds them all."""
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
