"""`isogloss diagnose MODEL --lang ug --train … --dev … --test … --text raw.txt`: a verdict and the best model."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from isogloss.cli.arguments import CorpusFormat, Device, Workers, parse_pairs
from isogloss.cli.screen import err, library_warnings, out, print_written, show_result_table
from isogloss.cli.training import resumable, study_progress
from isogloss.core.errors import UsageError

if TYPE_CHECKING:
    from isogloss.diagnosis.treatments import Options, TrainingSizes
    from isogloss.diagnosis.verdict import Verdict
    from isogloss.results.tables.tables import Table


def diagnose(
    model: Annotated[str, Argument(help="Model folder, Hugging Face name, or laboratory (the model in isogloss).")],
    lang: Annotated[str, Option(help="Language code, such as ug; languages of the laboratory need no corpora.")],
    train: Annotated[
        list[str] | None, Option(help="Annotated training data of the language (file, hub:…, lab:…); repeatable.")
    ] = None,
    dev: Annotated[
        list[str] | None,
        Option(help="Annotated development data, to choose settings and remedies; by default a part of --train."),
    ] = None,
    test: Annotated[list[str] | None, Option(help="Annotated test data, for the final scores.")] = None,
    format: CorpusFormat = None,
    text: Annotated[list[str] | None, Option(help="Raw text of the language, one sentence per line.")] = None,
    task: Annotated[str, Option(help="Task to fine-tune for (see `isogloss ls tasks`).")] = "pos",
    source: Annotated[
        list[str] | None,
        Option(help="LANGUAGE=TRAIN,DEV …: annotated data of sources, if the language has none, or for --lexicon."),
    ] = None,
    lexicon: Annotated[
        str | None, Option(help="Dictionary from the first source language to the language, for code-switching.")
    ] = None,
    parallel: Annotated[
        list[str] | None,
        Option(help="LANGUAGE=FILE …: parallel text, including the language itself; ranks the source languages."),
    ] = None,
    comparable: Annotated[
        list[str] | None,
        Option(help="LANGUAGE=FILE …: text of other languages on similar topics; ranks the source languages."),
    ] = None,
    seeds: Annotated[int, Option(min=1, help="Number of fine-tuning runs (seeds) of each system.")] = 3,
    budget: Annotated[float | None, Option(min=0, help="Time limit for the search of remedies, in minutes.")] = None,
    remedy: Annotated[
        list[str] | None,
        Option(help="Remedies to try in order: transliterate, vocabulary, code-switching, adapters, noise; or none."),
    ] = None,
    finetune: Annotated[
        list[str] | None, Option(help="Settings of fine-tuning that are not searched: epochs=3 batch=16 …")
    ] = None,
    bilstm: Annotated[
        list[str] | None, Option(help="Settings of the BiLSTM baseline that are not searched: epochs=30 batch=16 …")
    ] = None,
    adapt: Annotated[
        list[str] | None, Option(help="Arguments of the adaptation to raw text: epochs=3 settings.length=64 …")
    ] = None,
    pretrain: Annotated[
        list[str] | None, Option(help="Options of the monolingual model: layers=4 width=128 steps=500 …")
    ] = None,
    vocabulary: Annotated[int | None, Option(min=1, help="Number of new sub-words for --remedy vocabulary.")] = None,
    tune: Annotated[
        bool,
        Option(
            "--tune/--no-tune",
            help="Choose learning rate and epochs of every system on the dev set, or by cross-validation on the "
            "training set if there are fewer than 200 dev sentences. --no-tune: the published settings.",
        ),
    ] = True,
    output: Annotated[
        Path | None, Option("--out", "-o", help="Folder for report, recipe and model; diagnosis-LANG by default.")
    ] = None,
    store: Annotated[Path | None, Option(help="Folder of the store for all runs; OUT/store by default.")] = None,
    workers: Workers = None,
    per_gpu: Annotated[int, Option(min=1, help="Number of runs that share a GPU.")] = 1,
    threads: Annotated[int, Option(min=1, help="Number of CPU threads of each process.")] = 1,
    device: Device = None,
) -> None:
    """Diagnose how well a model serves a language, which remedies help, and save the best model."""
    from isogloss.core.registry import check_name
    from isogloss.corpora.formats import FORMATS
    from isogloss.diagnosis.diagnose import diagnose as run_diagnosis
    from isogloss.languages.checks import check_language
    from isogloss.store.entries import Store

    if format:
        check_name(format, FORMATS, "format")
    check_language(lang)  # before a folder is created
    folder = output or Path(f"diagnosis-{lang}")
    opened = Store(store or folder / "store")
    parts = {"finetune": finetune, "bilstm": bilstm, "adapt": adapt, "pretrain": pretrain}
    with library_warnings(), resumable(folder), study_progress(opened) as watch:
        verdict = run_diagnosis(
            model,
            lang=lang,
            train=in_format(train, format),
            dev=in_format(dev, format),
            test=in_format(test, format),
            text=text,
            task=task,
            source=_sources(source or (), format),
            lexicon=lexicon,
            parallel=_parallel(parallel),
            comparable=parse_pairs(comparable or (), "--comparable"),
            seeds=seeds,
            budget=budget,
            remedies=None if remedy is None else [name for name in remedy if name != "none"],
            sizes=_sizes(lang, parts, vocabulary),
            out=folder,
            store=opened.folder,
            threads=threads,
            device=device,
            watch=watch,
            on_progress=lambda step: err.print(f"{step} …", soft_wrap=True, markup=False),
            workers=workers,
            per_gpu=per_gpu,
            tune=tune,
        )
    _show(verdict)


def _show(verdict: Verdict) -> None:
    from isogloss.diagnosis import report as report

    out.print(f"[bold]{verdict.lang}: {verdict.level}[/]", soft_wrap=True)
    for sentence in report.summary(verdict):
        out.print(sentence, soft_wrap=True, markup=False)
    tables: dict[str, Table] = {"systems": report.system_table(verdict)}
    if len(verdict.tuning):
        tables["settings tried"] = report.tuning_table(verdict)
    if len(verdict.remedies):
        tables["remedies"] = report.remedy_table(verdict)
    tables["closest languages"] = report.ranking_table(verdict)
    for title, table in tables.items():
        show_result_table(title, table)
    print_written(*(verdict.folder / name for name in ("report.html", "report.md", "recipe.yaml", "model")))


def _sizes(lang: str, words_by_part: Mapping[str, list[str] | None], vocabulary: int | None) -> TrainingSizes:
    """The usual sizes for the language, with the values from the command line."""
    from isogloss.diagnosis.inputs import default_sizes
    from isogloss.studies.schema.overrides import parse_overrides

    sizes = default_sizes(lang)
    changed: dict[str, Any] = {
        part: _over(getattr(sizes, part), parse_overrides(words or (), f"--{part}"))
        for part, words in words_by_part.items()
    }
    return replace(sizes, **changed, vocabulary=vocabulary or sizes.vocabulary)


def _over(defaults: Options, overrides: Options) -> Options:
    """The defaults with some values replaced; `settings.length` sets a value within `settings`.

    >>> _over({"epochs": 3, "settings": {"length": 64}}, {"settings.batch": 8})
    {'epochs': 3, 'settings': {'length': 64, 'batch': 8}}
    """
    result = copy.deepcopy(dict(defaults))
    for name, value in overrides.items():
        outer, _, inner = name.partition(".")
        if inner:
            result.setdefault(outer, {})[inner] = value
        else:
            result[outer] = value
    return result


def in_format(files: list[str] | None, format: str | None) -> list[str] | None:
    """
    >>> in_format(["train.txt", "hub:name"], "conllu"), in_format(["train.txt"], None)
    (['conllu:train.txt', 'hub:name'], ['train.txt'])
    """
    if not files or not format:
        return files
    return [file if file.startswith(("hub:", "lab:")) else f"{format}:{file}" for file in files]


def _sources(words: Sequence[str], format: str | None = None) -> dict[str, tuple[str, str]]:
    """Parse `en=train.conllu,dev.conllu`.

    >>> _sources(["en=a.conllu,b.conllu"])
    {'en': ('a.conllu', 'b.conllu')}
    """
    expected = "LANGUAGE=TRAIN,DEV such as en=train.conllu,dev.conllu"
    sources = {}
    for lang, files in parse_pairs(words, "--source", expected).items():
        train, _, dev = files.partition(",")
        if not (train and dev):
            raise UsageError(f"--source: expected {expected}, got '{lang}={files}'")
        train, dev = in_format([train, dev], format) or (train, dev)
        sources[lang] = (train, dev)
    return sources


def _parallel(words: Sequence[str] | None) -> dict[str, str] | str | None:
    """A file for each language, or one file with all languages."""
    if not words:
        return None
    return words[0] if len(words) == 1 and "=" not in words[0] else parse_pairs(words, "--parallel")
