"""Arguments shared by several commands: lists after one option, `NAME=VALUE` pairs, and how to load a model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from isogloss.core.errors import UsageError

Dtype = Annotated[str, typer.Option(help="Data type of the weights: float32, bfloat16 or float16.")]
Device = Annotated[
    str | None, typer.Option(help="Device to compute on: cpu, cuda, cuda:1 …; by default a GPU if one is available.")
]
DeviceMap = Annotated[
    str | None, typer.Option(help="Set to 'auto' to spread a model that is too large for one GPU over devices.")
]
MaxMemory = Annotated[
    list[str] | None,
    typer.Option("--max-memory", help="Memory limit of each device with --device-map, as in 0=70GB 1=70GB cpu=100GB."),
]
OffloadFolder = Annotated[
    Path | None,
    typer.Option(help="Folder for weights that do not fit into memory and are not in safetensors (with --device-map)."),
]
AllowPickle = Annotated[bool, typer.Option("--allow-pickle", help="Load weights that are not in safetensors format.")]
Repair = Annotated[bool, typer.Option("--repair", help="Repair or skip broken entries of the input, and list them.")]
TrustRemoteCode = Annotated[
    bool, typer.Option("--trust-remote-code", help="Run Python code from the repository of the model.")
]


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


def memory_limits(words: Sequence[str] | None) -> dict[str, str] | None:
    """
    >>> memory_limits(["0=20GB", "cpu=60GB"])
    {'0': '20GB', 'cpu': '60GB'}
    """
    if not words:
        return None
    pairs = [word.partition("=") for word in words]
    for device, equals, size in pairs:
        if not (device and equals and size):
            raise UsageError(f"--max-memory: expected DEVICE=SIZE such as cpu=60GB, got '{device}{equals}{size}'")
    return {device: size for device, _, size in pairs}


def files_by_language(words: Sequence[str], option: str) -> dict[str, Path]:
    """`["en=a.txt", "fr=b.txt"]` as a mapping.

    >>> files_by_language(["en=a.txt"], "--test")["en"].name
    'a.txt'
    """
    pairs = [word.partition("=") for word in words]
    for language, equals, path in pairs:
        if not (language and equals and path):
            raise UsageError(f"{option}: expected LANGUAGE=FILE such as fr=fr.conllu, got '{language}{equals}{path}'")
    files = {language: Path(path) for language, _, path in pairs}
    if len(files) < len(pairs):
        raise UsageError(f"{option}: expected every language only once, got {' '.join(words)}")
    return files
