"""Arguments shared by several commands: lists after one option, `NAME=VALUE` pairs, and how to load a model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

from typer import Option

from isogloss.core.errors import UsageError

Dtype = Annotated[str, Option(help="Data type of the weights: float32, bfloat16 or float16.")]
Device = Annotated[str | None, Option(help="Device: cpu, cuda, cuda:1 …; by default a GPU if one is available.")]
DeviceMap = Annotated[str | None, Option(help="Set to 'auto' to spread a model too large for one GPU over devices.")]
MaxMemory = Annotated[
    list[str] | None,
    Option("--max-memory", help="Memory limit of each device with --device-map, as in 0=70GB 1=70GB cpu=100GB."),
]
OffloadFolder = Annotated[
    Path | None,
    Option(help="Folder for weights that do not fit into memory and are not in safetensors (with --device-map)."),
]
AllowPickle = Annotated[bool, Option("--allow-pickle", help="Load weights that are not in safetensors format.")]
ModelFolder = Annotated[
    Path, Option("--out", "-o", help="Folder for the model; after an interruption the same command resumes.")
]
CorpusFormat = Annotated[
    str | None,
    Option(
        "--format",
        "-f",
        help="Format of the labelled files (see `isogloss ls formats`); by default the format of each is detected.",
    ),
]
ParallelFormat = Annotated[
    str | None,
    Option(
        "--format",
        "-f",
        help="Format of the parallel text: parallel-tsv or fast-align for one file with all languages; text, conllu or "
        "nli-tsv (premises) for one file per language. By default it is detected.",
    ),
]
Repair = Annotated[bool, Option("--repair", help="Repair or skip broken entries of the input, and list them.")]
TrustRemoteCode = Annotated[bool, Option("--trust-remote-code", help="Run Python code of the model's repository.")]
Workers = Annotated[int | None, Option(min=0, help="Number of worker processes; by default as many as fit in memory.")]
LANGUAGE_FILE = "LANGUAGE=FILE such as fr=fr.conllu"


def spread_lists(arguments: Sequence[str], options: Iterable[str]) -> list[str]:
    """Repeat an option for every `NAME=VALUE` word that follows it, as in `--test fr=a.conllu ru=b.conllu`.

    >>> spread_lists(["transfer", "--test", "fr=a", "ru=b", "--seeds", "3"], ["--test"])
    ['transfer', '--test', 'fr=a', '--test', 'ru=b', '--seeds', '3']
    """
    spread: list[str] = []
    current = None  # the option whose list is being read
    for word in arguments:
        if current and "=" in word and not word.startswith("-") and spread[-1] != current:
            spread.append(current)
        elif word.startswith("-") or (current and spread[-1] != current):
            current = word if word in options else None
        spread.append(word)
    return spread


def parse_pairs(words: Sequence[str], option: str, expected: str = LANGUAGE_FILE) -> dict[str, str]:
    """
    >>> parse_pairs(["en=a.txt", "fr=b.txt"], "--test")
    {'en': 'a.txt', 'fr': 'b.txt'}
    """
    values: dict[str, str] = {}
    for word in words:
        name, _, value = word.partition("=")
        if not (name and value):
            raise UsageError(f"{option}: expected {expected}, got '{word}'")
        if name in values:
            kind = expected.partition("=")[0].lower()
            raise UsageError(f"{option}: expected every {kind} only once, got {' '.join(words)}")
        values[name] = value
    return values


def files_by_language(words: Sequence[str], option: str) -> dict[str, Path]:
    return {language: Path(path) for language, path in parse_pairs(words, option).items()}


def memory_limits(words: Sequence[str] | None) -> dict[str, str] | None:
    """
    >>> memory_limits(["0=20GB", "cpu=60GB"])
    {'0': '20GB', 'cpu': '60GB'}
    """
    return parse_pairs(words, "--max-memory", "DEVICE=SIZE such as cpu=60GB") if words else None
