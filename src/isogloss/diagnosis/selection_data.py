"""The data on which settings are chosen: the dev set, or folds of the training set if the dev set is small."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from isogloss.core.errors import UsageError
from isogloss.core.seeds import Chance
from isogloss.corpora.corpus import AnyCorpus
from isogloss.diagnosis.treatments import DiagnosisInputs
from isogloss.studies.execution.corpora import read_corpora
from isogloss.tasks import TASKS

MIN_DEV_SENTENCES = 200  # with fewer, settings are chosen by cross-validation on the training set
FOLD_COUNT = 3
HELD_OUT_PARTS = 10  # without a dev set, one of this number of parts of the training set chooses the epoch


@dataclass(frozen=True)
class Split:
    """References to the corpora of one training and of its dev score."""

    train: tuple[str, ...]
    dev: tuple[str, ...]


@dataclass(frozen=True)
class SelectionData:
    """One split (training and dev set), or one for each fold of the training set; `sentences` of the training set.

    `description` completes the sentence "settings were chosen …".
    """

    splits: tuple[Split, ...]
    sentences: int
    description: str

    @property
    def is_cross_validation(self) -> bool:
        return len(self.splits) > 1


def selection_data(inputs: DiagnosisInputs, folder: Path, *, dev_is_held_out: bool) -> SelectionData:
    """The data of a search; folds are written to the folder.

    `dev_is_held_out`: the dev set is a part of the training set (`hold_out_dev`). The folds depend on the first seed
    and on the number of sentences.
    """
    train, dev = _read(inputs.train, inputs), _read(inputs.dev, inputs)
    if len(dev) >= MIN_DEV_SENTENCES:
        origin = ", held out of the training set" if dev_is_held_out else ""
        description = f"on the dev set of {len(dev):,} sentences{origin}"
        return SelectionData((Split(inputs.train, inputs.dev),), len(train), description)
    corpus = train.with_items([*train, *dev]) if dev_is_held_out else train
    if len(corpus) < FOLD_COUNT:
        raise UsageError(
            f"train: expected at least {FOLD_COUNT} sentences to choose settings by cross-validation, got "
            f"{len(corpus)}; tune=False (--no-tune) trains with the published settings"
        )
    splits = [
        _write_split(corpus, fold, f"fold{number}", folder)
        for number, fold in enumerate(fold_indices(len(corpus), FOLD_COUNT, inputs.seeds[0]), 1)
    ]
    few = f"the dev set has {len(dev)} sentences, fewer than {MIN_DEV_SENTENCES}"
    reason = "there is no dev set" if dev_is_held_out else few
    description = f"by {FOLD_COUNT}-fold cross-validation on the {len(corpus):,} training sentences ({reason})"
    return SelectionData(tuple(splits), len(corpus), description)


def hold_out_dev(inputs: DiagnosisInputs, folder: Path) -> DiagnosisInputs:
    """Without a dev set: one of `HELD_OUT_PARTS` parts of the training set is held out, on which epochs are chosen."""
    corpus = _read(inputs.train, inputs)
    if len(corpus) < 2:
        raise UsageError(f"train: expected at least 2 sentences to hold out a dev set, got {len(corpus)}; give dev")
    held_out = fold_indices(len(corpus), min(HELD_OUT_PARTS, len(corpus)), inputs.seeds[0])[0]
    split = _write_split(corpus, held_out, "held-out", folder)
    return replace(inputs, train=split.train, dev=split.dev)


def fold_indices(size: int, folds: int, seed: int) -> list[list[int]]:
    """A random partition of 0 … size-1 into parts that differ in size by at most one, each in ascending order.

    >>> parts = fold_indices(10, 3, seed=0)
    >>> sorted(map(len, parts)), sorted(sum(parts, [])) == list(range(10)), parts == fold_indices(10, 3, seed=0)
    ([3, 3, 4], True, True)
    """
    order = Chance(seed, "folds", folds).shuffled(range(size))
    return [sorted(order[number::folds]) for number in range(folds)]


def _write_split(corpus: AnyCorpus, dev: Sequence[int], name: str, folder: Path) -> Split:
    items, chosen = list(corpus), set(dev)
    parts = {
        "train": [item for number, item in enumerate(items) if number not in chosen],
        "dev": [items[number] for number in dev],
    }
    paths = {part: (folder / "corpora" / f"{name}-{part}{corpus.format.suffix}").absolute() for part in parts}
    for part, path in paths.items():
        corpus.with_items(parts[part]).write(path)
    return Split(*((str(paths[part]),) for part in ("train", "dev")))


def _read(references: Sequence[str], inputs: DiagnosisInputs) -> AnyCorpus:
    return read_corpora(references, TASKS[inputs.task].corpus, lang=inputs.lang)
