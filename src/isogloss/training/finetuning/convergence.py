"""Whether a network was trained to its best: a loss that still falls, and a network that predicts one class.

A training was too short if its last epoch has the best dev score, and the training loss of that epoch is lower than
that of the epoch before by more than `MAX_LAST_LOSS_FALL_SHARE`. A training of one epoch cannot be judged.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from isogloss.training.engine.progress import EpochMetrics

MAX_LAST_LOSS_FALL_SHARE = 0.05


def is_unfinished(log: Sequence[EpochMetrics]) -> bool:
    """Whether the loss still fell and the dev score still rose in the last epoch.

    >>> log = [EpochMetrics(1, 9, 18, 0.5, 0.8, 0.8, 0.0, 0), EpochMetrics(2, 18, 18, 0.4, 0.9, 0.9, 0.0, 0)]
    >>> is_unfinished(log), is_unfinished(log[:1])
    (True, False)
    """
    if len(log) < 2 or log[-1].score is None:
        return False
    falls = log[-1].loss < (1 - MAX_LAST_LOSS_FALL_SHARE) * log[-2].loss
    return falls and all(log[-1].score > (metrics.score or 0.0) for metrics in log[:-1])


def unfinished_training(log: Sequence[EpochMetrics]) -> str:
    """The sentence for a training that was too short, or ""."""
    if not is_unfinished(log):
        return ""
    before, last = log[-2], log[-1]
    return (
        f"the training loss still falls ({before.loss:.3g} → {last.loss:.3g}) and the dev score still rises "
        f"({before.score:.4f} → {last.score:.4f}) in epoch {last.epoch}, the last; longer training may be better"
    )


def predicts_one_class(predictions: Sequence[object], gold: Sequence[object]) -> bool:
    """Whether all predictions are of one class although the gold labels are of several, as after diverged training.

    A class is the prediction for an item, or for a word where an item has a label per word.

    >>> predicts_one_class(["yes", "yes"], ["yes", "no"]), predicts_one_class(["yes", "yes"], ["yes", "yes"])
    (True, False)
    >>> predicts_one_class([["NOUN", "NOUN"], ["NOUN"]], [["NOUN", "VERB"], ["NOUN"]])
    True
    """
    return len(_classes(predictions)) == 1 < len(_classes(gold))


def _classes(labels: Iterable[object]) -> set[str]:
    return {repr(part) for label in labels for part in (label if isinstance(label, list) else (label,))}
