"""A trained language model on disk: as the model library loads it, with its log, its figures and a card beside it."""

from __future__ import annotations

import csv
import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from isogloss import __version__
from isogloss.core.errors import InputError, UsageError
from isogloss.core.files import atomic_write
from isogloss.models.adapters.files import save_adapter
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.loading.save import save_model
from isogloss.training.language_modeling.heldout import Survey
from isogloss.training.language_modeling.settings import LanguageModelSettings
from isogloss.training.language_modeling.train import History, Pace

UNFINISHED = "unfinished"  # sub-folder of a run that is not done
PROGRAM = "isogloss"
NOTE, LOG, EVALUATIONS, CARD = "isogloss.json", "log.tsv", "evaluations.tsv", "README.md"


def finished(folder: Path, run: str) -> bool:
    """Whether the folder holds the outcome of this very run; that of another is an error, for it would be lost."""
    if not (folder / NOTE).exists():
        if (folder / "config.json").exists():
            raise UsageError(f"{folder} holds a model already; give this one a folder of its own")
        return False
    try:
        known = json.loads((folder / NOTE).read_text(encoding="utf-8")).get("run")
    except (ValueError, AttributeError) as error:
        raise InputError(folder / NOTE, "JSON", str(error)) from None
    if known != run:
        raise UsageError(f"{folder} holds a model of another run; give this one a folder of its own")
    return True


def read_history(folder: Path) -> History:
    """The history of a finished training."""
    told = json.loads((folder / NOTE).read_text(encoding="utf-8"))["history"]
    return History([Pace(**row) for row in told["pace"]], told["evaluations"])


def save_language_model(
    folder: Path,
    model: LoadedModel,
    history: History,
    *,
    run: str,
    surveys: Mapping[str, Survey],
    settings: LanguageModelSettings,
    title: str,
    half: bool = False,
    adapter_alone: bool = False,
) -> None:
    """Write everything; the note comes last, and its presence says that all is there.

    Weights are written in fp16 if `half`; only those of the adapter that was trained if `adapter_alone`.
    """
    if adapter_alone:
        save_adapter(model, folder, lang=next(iter(surveys)))
    else:
        save_model(model, folder, half=half)
    _write_rows(folder / LOG, [asdict(pace) for pace in history.pace])
    _write_rows(folder / EVALUATIONS, history.evaluations)
    with atomic_write(folder / CARD) as text:
        text.write(card(model, history, surveys, settings, title))
    data = {
        lang: {"lines": one.lines, "characters": one.characters, "held_out": one.share, "hash": one.digest}
        for lang, one in surveys.items()
    }
    told = {"pace": [asdict(pace) for pace in history.pace], "evaluations": history.evaluations}
    note = {"isogloss": __version__, "run": run, "settings": asdict(settings), "data": data, "history": told}
    with atomic_write(folder / NOTE) as text:
        json.dump(note, text, ensure_ascii=False, indent=1)


def card(
    model: LoadedModel,
    history: History,
    surveys: Mapping[str, Survey],
    settings: LanguageModelSettings,
    title: str,
) -> str:
    """What a reader of the folder wants to know first."""
    last = history.pace[-1]
    figures = _perplexities(history)
    rows = "".join(
        f"| {lang} | {one.lines:,} | {one.characters:,} | {one.share:.1%} | "
        f"{' | '.join(figures.get(lang, ('–', '–')))} |\n"
        for lang, one in surveys.items()
    )
    chosen = "".join(f"- {name}: {value}\n" for name, value in asdict(settings).items())
    command = f"```\n{shlex.join([PROGRAM, *sys.argv[1:]])}\n```\n\n" if Path(sys.argv[0]).stem == PROGRAM else ""
    return (
        f"# A {title}\n\n"
        f"{type(model.network).__name__}, {model.layers} layers of {model.hidden_size} units, {len(model.tokenizer):,} "
        f"tokens in the vocabulary, {sum(p.numel() for p in model.network.parameters()):,} weights; trained with "
        f"isogloss {__version__}.\n\n## Text\n\n"
        "| language | lines | characters | held out | perplexity before | after |\n|---|---|---|---|---|---|\n"
        f"{rows}\n## Training\n\n{last.step:,} steps, {last.tokens:,} tokens, last loss {last.loss:.4f}, "
        f"{last.tokens_per_second:,.0f} tokens/s{_utilised(last.utilisation)}.\n\n{command}{chosen}\n"
        f"`{LOG}` has the loss along the way, `{EVALUATIONS}` the perplexity of held-out lines and alignment.\n"
    )


def _utilised(share: float | None) -> str:
    return "" if share is None else f", {share:.0%} of the GPU's arithmetic"


def _perplexities(history: History) -> dict[str, tuple[str, str]]:
    """Each language's first and last perplexity."""
    found: dict[str, list[float]] = {}
    for row in history.evaluations:
        if row["index"] == "perplexity":
            found.setdefault(row["target"], []).append(row["value"])
    return {lang: (f"{values[0]:.2f}", f"{values[-1]:.2f}") for lang, values in found.items()}


def _write_rows(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    columns = list(dict.fromkeys(name for row in rows for name in row))
    with atomic_write(path) as file:
        writer = csv.DictWriter(file, columns, delimiter="\t", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
