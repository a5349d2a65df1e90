"""Files of a trained language model: as transformers loads it, with its log, evaluations and model card."""

from __future__ import annotations

import csv
import json
import shlex
import shutil
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from isogloss import __version__
from isogloss.core.errors import InputError, UsageError
from isogloss.core.files import atomic_write
from isogloss.models.adapters.files import save_adapter
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.loading.save import save_model
from isogloss.training.language_modeling.heldout import TextSplit
from isogloss.training.language_modeling.settings import LanguageModelSettings
from isogloss.training.language_modeling.train import EvaluationRow, StepMetrics, TrainingHistory

UNFINISHED_FOLDER = "unfinished"  # sub-folder of an unfinished run
PROGRAM = "isogloss"
RUN_FILE, LOG_FILE, EVALUATIONS_FILE, MODEL_CARD_FILE = "isogloss.json", "log.tsv", "evaluations.tsv", "README.md"


def is_finished(folder: Path, run: str) -> bool:
    """Whether the folder contains the result of this run; the result of another run is never overwritten."""
    if not (folder / RUN_FILE).exists():
        if (folder / "config.json").exists():
            raise UsageError(f"{folder} contains a model already; use another folder")
        return False
    try:
        stored_run = json.loads((folder / RUN_FILE).read_text(encoding="utf-8")).get("run")
    except (ValueError, AttributeError) as error:
        raise InputError(folder / RUN_FILE, "JSON", str(error)) from None
    if stored_run != run:
        raise UsageError(f"{folder} contains a model of another run; use another folder")
    return True


def read_history(folder: Path) -> TrainingHistory:
    """The history of a finished training."""
    history = json.loads((folder / RUN_FILE).read_text(encoding="utf-8"))["history"]
    return TrainingHistory([StepMetrics(**row) for row in history["pace"]], history["evaluations"])


def save_language_model(
    folder: Path,
    model: LoadedModel,
    history: TrainingHistory,
    run: str,
    splits: Mapping[str, TextSplit],
    settings: LanguageModelSettings,
    title: str,
    *,
    half: bool = False,
    adapter_only: bool = False,
) -> None:
    """Write all files and remove the unfinished run; the run file comes last and marks a finished run.

    Weights are written in fp16 if `half`; only those of the trained adapter if `adapter_only`.
    """
    if adapter_only:
        save_adapter(model, folder, lang=next(iter(splits)))
    else:
        save_model(model, folder, half=half)
    log = [asdict(metrics) for metrics in history.log]
    _write_rows(folder / LOG_FILE, log)
    _write_rows(folder / EVALUATIONS_FILE, history.evaluations)
    with atomic_write(folder / MODEL_CARD_FILE) as text:
        text.write(model_card(model, history, splits, settings, title))
    data = {
        lang: {"lines": split.lines, "characters": split.characters, "held_out": split.share, "hash": split.digest}
        for lang, split in splits.items()
    }
    record = {"isogloss": __version__, "run": run, "settings": asdict(settings), "data": data}
    record["history"] = {"pace": log, "evaluations": history.evaluations}
    with atomic_write(folder / RUN_FILE) as text:
        json.dump(record, text, ensure_ascii=False, indent=1)
    shutil.rmtree(folder / UNFINISHED_FOLDER)


def model_card(
    model: LoadedModel,
    history: TrainingHistory,
    splits: Mapping[str, TextSplit],
    settings: LanguageModelSettings,
    title: str,
) -> str:
    """The model card: architecture, text, training and settings."""
    last, perplexities = history.log[-1], _perplexities(history)
    rows = "".join(
        f"| {lang} | {split.lines:,} | {split.characters:,} | {split.share:.1%} | "
        f"{' | '.join(perplexities.get(lang, ('–', '–')))} |\n"
        for lang, split in splits.items()
    )
    chosen = "".join(f"- {name}: {value}\n" for name, value in asdict(settings).items())
    utilisation = "" if last.utilisation is None else f", {last.utilisation:.0%} of the GPU's arithmetic"
    command = f"```\n{shlex.join([PROGRAM, *sys.argv[1:]])}\n```\n\n" if Path(sys.argv[0]).stem == PROGRAM else ""
    return (
        f"# A {title}\n\n"
        f"{type(model.network).__name__}, {model.layers} layers of {model.hidden_size} units, {len(model.tokenizer):,} "
        f"tokens in the vocabulary, {sum(p.numel() for p in model.network.parameters()):,} weights; trained with "
        f"isogloss {__version__}.\n\n## Text\n\n"
        "| language | lines | characters | held out | perplexity before | after |\n|---|---|---|---|---|---|\n"
        f"{rows}\n## Training\n\n{last.step:,} steps, {last.tokens:,} tokens, last loss {last.loss:.4f}, "
        f"{last.tokens_per_second:,.0f} tokens/s{utilisation}.\n\n{command}{chosen}\n"
        f"`{LOG_FILE}` records the loss, `{EVALUATIONS_FILE}` the perplexity of held-out lines and the alignment.\n"
    )


def _perplexities(history: TrainingHistory) -> dict[str, tuple[str, str]]:
    """Each language's first and last perplexity."""
    by_language: dict[str, list[float]] = {}
    for row in history.evaluations:
        if row["index"] == "perplexity":
            by_language.setdefault(str(row["target"]), []).append(float(row["value"]))
    return {lang: (f"{values[0]:.2f}", f"{values[-1]:.2f}") for lang, values in by_language.items()}


def _write_rows(path: Path, rows: list[EvaluationRow]) -> None:
    columns = list(dict.fromkeys(name for row in rows for name in row))
    with atomic_write(path) as file:
        writer = csv.DictWriter(file, columns, delimiter="\t", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
