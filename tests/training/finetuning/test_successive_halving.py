"""Successive halving with scoring functions whose best settings are known."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import pytest

from isogloss.training.finetuning.successive_halving import (
    Candidate,
    SearchSpace,
    Trial,
    best_trial,
    next_round,
    search_space,
)


def surface(rate: float, half_life: float) -> Callable[[Candidate], float]:
    """A score that is best at one rate, and that rises with the number of steps at the rate towards a limit."""

    def score(candidate: Candidate) -> float:
        progress = 1 - 0.5 ** (candidate.epochs * candidate.learning_rate / half_life)
        return 0.98 * progress - 0.02 * abs(math.log2(candidate.learning_rate / rate))

    return score


def run(space: SearchSpace, score: Callable[[Candidate], float]) -> tuple[list[Trial], Candidate]:
    trials: list[Trial] = []
    while candidates := next_round(space, trials):
        trials += [Trial(candidate, score(candidate)) for candidate in candidates]
    best = best_trial(trials)
    assert best is not None
    return trials, best.candidate


def rounds(trials: Sequence[Trial]) -> dict[int, list[float]]:
    by_length: dict[int, list[float]] = {}
    for trial in trials:
        by_length.setdefault(trial.candidate.epochs, []).append(trial.candidate.learning_rate)
    return by_length


def test_every_round_halves_the_rates_and_doubles_the_length() -> None:
    """The ranking of rates is the same at all lengths, and its best lies inside the grid."""
    space = SearchSpace((1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0), epochs=2, max_epochs=100)
    trials, _ = run(space, lambda c: c.epochs - abs(c.learning_rate - 4.1))
    assert rounds(trials) == {
        2: [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0],
        4: [3.0, 4.0, 5.0, 6.0],
        8: [4.0, 5.0],
        16: [4.0],
        32: [4.0],
        64: [4.0, 2.0],  # at last the rate below the best
    }


@pytest.mark.parametrize("best_rate", [2.5e-5, 5e-5, 1e-4, 2e-4, 4e-4, 8e-4])
def test_the_choice_is_as_good_as_that_of_the_whole_grid(best_rate: float) -> None:
    """The published rate is 5e-5; higher ones are reached although the first round does not try them."""
    score = surface(best_rate, half_life=best_rate * 3)
    trials, best = run(search_space(5e-5, 6, sentences=1000), score)
    grid = [Candidate(epochs, 5e-5 * 2.0**n) for epochs in (3, 6, 12, 24, 48) for n in range(-2, 6)]
    assert score(best) > max(map(score, grid)) - 0.021  # one factor of two beside the best rate
    assert len(trials) <= len(grid) / 2
    published = score(Candidate(6, 5e-5))
    assert best_rate < 2e-4 or score(best) > published + 0.04


def test_training_is_as_long_as_the_score_rises() -> None:
    """The length at which the curve is flat within a tenth of a point, by the formula of the curve."""
    space = SearchSpace((1.0,), epochs=3, max_epochs=1000, rate_is_fixed=True)
    curve = [1 - 0.5 ** (3 * 2**n / 10) for n in range(9)]
    flat = next(n for n in range(1, 9) if curve[n] - curve[n - 1] < 0.001)
    trials, best = run(space, lambda candidate: 1 - 0.5 ** (candidate.epochs / 10))
    assert [trial.candidate.epochs for trial in trials] == [3 * 2**n for n in range(flat + 1)]
    assert best.epochs == 3 * 2**flat


def test_a_score_that_falls_with_the_length_ends_the_search() -> None:
    trials, best = run(search_space(5e-5, 6, sentences=1000), lambda candidate: -candidate.epochs)
    assert set(rounds(trials)) == {3, 6}
    assert best == Candidate(3, 2.5e-5)  # the first of equal ones
    assert len(trials) == 4 + 2 + 1  # one neighbour, which is no better


def test_the_longest_length_is_the_limit() -> None:
    space = search_space(5e-5, 6, sentences=1000)
    trials, _ = run(space, lambda candidate: candidate.epochs)
    assert max(rounds(trials)) == 48 == 8 * 6


def test_fixed_settings_are_not_searched() -> None:
    fixed = search_space(5e-5, 6, sentences=1000, fixed_rate=1e-4)
    assert {rate for tried in rounds(run(fixed, lambda c: c.epochs)[0]).values() for rate in tried} == {1e-4}
    length = search_space(5e-5, 6, sentences=1000, fixed_epochs=5)
    assert rounds(run(length, lambda c: -abs(c.learning_rate - 9e-5))[0]) == {5: [2.5e-5, 5e-5, 1e-4, 2e-4]}
    assert set(rounds(run(length, lambda c: -c.learning_rate)[0])) == {5}
    both = search_space(5e-5, 6, sentences=1000, fixed_rate=1e-4, fixed_epochs=5)
    assert rounds(run(both, lambda c: 1.0)[0]) == {5: [1e-4]}


@pytest.mark.parametrize(("rate", "sentences", "highest"), [(3.5e-5, 1000, 2e-4), (3.5e-5, 9000, 1.4e-4),
                                                            (5e-5, 1000, 2e-4), (3e-3, 20, 1.2e-2)])  # fmt: skip
def test_small_training_sets_try_high_rates(rate: float, sentences: int, highest: float) -> None:
    assert search_space(rate, 6, sentences).rates[-1] == pytest.approx(highest)


def test_failed_trials_lose_and_a_round_of_failures_ends_the_search() -> None:
    space = SearchSpace((1.0, 2.0, 4.0, 8.0), epochs=1, max_epochs=4)
    first = [Trial(candidate, None, "diverged") for candidate in next_round(space, [])]
    assert next_round(space, first) == [] and best_trial(first) is None
    partly = [*first[:3], Trial(first[3].candidate, 0.5)]
    assert next_round(space, partly)[-1] == Candidate(2, 8.0)
    assert best_trial(partly) == partly[3]
    assert best_trial([*partly[:3], Trial(first[3].candidate, math.nan)]) is None
