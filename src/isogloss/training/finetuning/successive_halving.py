"""Search for the learning rate and the number of epochs by successive halving on dev scores.

The first round trains with every learning rate for the shortest length. Each further round trains the better half of
the rates for twice as many epochs, until the best score of a round no longer rises, or until the longest length. Short
training favours high rates: at last the rate below the best one is tried at its length, and the rate above it unless it
lost a round, until neither is better. Each trial is a complete training whose learning rate decays to 0 in its last
epoch.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

RATE_FACTORS = (0.5, 1.0, 2.0, 4.0)  # of the start: small training sets need higher rates than the published ones
NEIGHBOUR_FACTOR = 2.0  # between the best rate and its neighbours
MAX_RATE_FACTOR = 32.0  # rates are tried up to this factor above and below the first round
SMALL_SET_SENTENCES, SMALL_SET_RATE = 5000, 2e-4  # for training sets smaller than this, rates up to this one are tried
MAX_LENGTH_FACTOR = 8  # longest training in multiples of the start
RATE_TOLERANCE = 0.3  # rates closer than this share are the same: 1.4e-4 and 1.75e-4
MIN_RISE = 0.001  # a tenth of a point; a dev score that rises by less has stopped rising


@dataclass(frozen=True, order=True)
class Candidate:
    """Settings to try."""

    epochs: int
    learning_rate: float


@dataclass(frozen=True)
class Trial:
    """A candidate with its dev score; None: training failed."""

    candidate: Candidate
    score: float | None
    failure: str = ""

    @property
    def rank(self) -> float:
        return -math.inf if self.score is None or math.isnan(self.score) else self.score


@dataclass(frozen=True)
class SearchSpace:
    """Rates of the first round in ascending order, and lengths from `epochs`, doubled up to `max_epochs`.

    A fixed learning rate or a fixed number of epochs is not searched.
    """

    rates: tuple[float, ...]
    epochs: int
    max_epochs: int
    rate_is_fixed: bool = False


def search_space(
    rate: float, epochs: int, sentences: int, *, fixed_rate: float | None = None, fixed_epochs: int | None = None
) -> SearchSpace:
    """The space around a start: half to four times the rate, half to `MAX_LENGTH_FACTOR` times the epochs.

    >>> search_space(5e-5, 6, sentences=1000)
    SearchSpace(rates=(2.5e-05, 5e-05, 0.0001, 0.0002), epochs=3, max_epochs=48, rate_is_fixed=False)
    >>> search_space(5e-5, 6, sentences=1000, fixed_rate=1e-4, fixed_epochs=2)
    SearchSpace(rates=(0.0001,), epochs=2, max_epochs=2, rate_is_fixed=True)
    """
    rates = [factor * rate for factor in RATE_FACTORS]
    if sentences < SMALL_SET_SENTENCES and rates[-1] < SMALL_SET_RATE:
        rates.append(SMALL_SET_RATE)
    shortest = (epochs + 1) // 2
    lengths = (shortest, MAX_LENGTH_FACTOR * epochs) if fixed_epochs is None else (fixed_epochs, fixed_epochs)
    return SearchSpace(tuple(rates) if fixed_rate is None else (fixed_rate,), *lengths, fixed_rate is not None)


def next_round(space: SearchSpace, trials: Sequence[Trial]) -> list[Candidate]:
    """The candidates to try after these trials; empty if the search is over or all trials of the last round failed."""
    if not trials:
        return [Candidate(space.epochs, rate) for rate in space.rates]
    epochs = max(trial.candidate.epochs for trial in trials)
    ranked = _ranked([trial for trial in trials if trial.candidate.epochs == epochs])
    earlier = [trial.rank for trial in trials if trial.candidate.epochs < epochs]
    if not math.isfinite(ranked[0].rank):
        return []
    if 2 * epochs > space.max_epochs or ranked[0].rank < max(earlier, default=-math.inf) + MIN_RISE:
        return _neighbours(space, trials)
    survivors = ranked[: max(1, len(ranked) // 2)]
    return sorted(Candidate(2 * epochs, trial.candidate.learning_rate) for trial in survivors)


def best_trial(trials: Sequence[Trial]) -> Trial | None:
    """The trial with the highest score, the shortest and then the first of equal ones; None if all failed."""
    best = _ranked(trials)[0]
    return best if math.isfinite(best.rank) else None


def _ranked(trials: Sequence[Trial]) -> list[Trial]:
    return sorted(trials, key=lambda trial: (-trial.rank, trial.candidate.epochs))


def _neighbours(space: SearchSpace, trials: Sequence[Trial]) -> list[Candidate]:
    """The rate below the best one if it was not tried at its length, and the rate above if it was not tried at all."""
    if space.rate_is_fixed:
        return []
    best = _ranked(trials)[0].candidate
    below, above = best.learning_rate / NEIGHBOUR_FACTOR, best.learning_rate * NEIGHBOUR_FACTOR
    at_its_length = [trial.candidate.learning_rate for trial in trials if trial.candidate.epochs == best.epochs]
    at_any_length = [trial.candidate.learning_rate for trial in trials]
    untried = [rate for rate, tried in ((below, at_its_length), (above, at_any_length)) if not _is_among(rate, tried)]
    low, high = space.rates[0] / MAX_RATE_FACTOR, space.rates[-1] * MAX_RATE_FACTOR
    return [Candidate(best.epochs, rate) for rate in untried if low <= rate <= high]


def _is_among(rate: float, rates: Sequence[float]) -> bool:
    return any(math.isclose(rate, other, rel_tol=RATE_TOLERANCE) for other in rates)
