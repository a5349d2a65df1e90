from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.core.errors import UsageError
from isogloss.core.settings import declared_settings
from isogloss.training.language_modeling.language_sampling import (
    SequenceOrder,
    apportion,
    balanced_lines,
    permutation,
    sampling_shares,
    sequence_order,
)
from isogloss.training.language_modeling.settings import LanguageModelSettings


def test_shares_are_the_published_formula() -> None:
    sizes = [1_000_000, 20_000, 300]
    found = sampling_shares(sizes, 0.7)
    assert found == pytest.approx([n**0.7 / sum(m**0.7 for m in sizes) for n in sizes])
    assert sampling_shares(sizes, 1.0) == pytest.approx([n / sum(sizes) for n in sizes])
    assert sampling_shares(sizes, 0.0) == pytest.approx([1 / 3] * 3)


@pytest.mark.parametrize(("sizes", "alpha"), [([], 0.7), ([3, 0], 0.7), ([3], 1.1), ([3], -0.1)])
def test_shares_of_nonsense_are_refused(sizes: list[float], alpha: float) -> None:
    with pytest.raises(UsageError, match="alpha"):
        sampling_shares(sizes, alpha)


@given(st.lists(st.floats(0.001, 1000), min_size=1, max_size=12), st.integers(0, 500))
def test_apportioned_places_are_all_given_and_nearly_in_proportion(weights: list[float], spare: int) -> None:
    parts, total = [weight / sum(weights) for weight in weights], len(weights) + spare
    places = apportion(parts, total)
    assert sum(places) == total
    assert min(places) >= 1
    if min(parts) * total >= 1:
        for part, number in zip(parts, places, strict=True):
            assert abs(number - total * part) < 1 + 1e-9


def test_fewer_places_than_languages_are_refused() -> None:
    with pytest.raises(UsageError, match="3 languages"):
        apportion([0.5, 0.3, 0.2], 2)


def test_an_order_is_the_same_in_every_numpy() -> None:
    assert permutation(8, 1).tolist() == np.argsort(np.random.Philox(key=1).random_raw(8)).tolist()
    assert sorted(permutation(100, 5).tolist()) == list(range(100))


def language_of(sequence: int, sizes: list[int]) -> int:
    return int(np.searchsorted(np.cumsum(sizes), sequence, side="right"))


@given(st.lists(st.integers(1, 40), min_size=1, max_size=4), st.integers(1, 7), st.integers(0, 99))
def test_every_round_holds_every_language_in_its_exact_share(sizes: list[int], batch: int, seed: int) -> None:
    chosen = sequence_order(sizes, alpha=0.7, batch=batch, seed=seed)
    for number in (0, 3):
        counts = Counter(language_of(s, sizes) for s in chosen.round(number).tolist())
        assert [counts[lang] for lang in range(len(sizes))] == list(chosen.slots)
    assert list(chosen.slots) == apportion(sampling_shares(sizes, 0.7), 256 * batch)


@given(st.lists(st.integers(1, 30), min_size=1, max_size=4), st.integers(1, 50), st.integers(0, 99))
def test_a_language_reads_all_its_sequences_before_any_again(sizes: list[int], rounds: int, seed: int) -> None:
    places = [1 + (7 * i) % 5 for i in range(len(sizes))]
    chosen = SequenceOrder(sizes, places, batch=3, seed=seed)
    read = np.concatenate([chosen.round(r) for r in range(rounds)])
    for lang, size in enumerate(sizes):
        times = Counter(s for s in read.tolist() if language_of(s, sizes) == lang)
        counts = [times[sum(sizes[:lang]) + i] for i in range(size)]
        assert max(counts) - min(counts) <= 1
        assert sum(counts) == rounds * places[lang]


@given(st.integers(1, 9), st.integers(0, 60), st.integers(0, 5))
def test_a_step_is_a_pure_function_of_seed_and_number(batch: int, step: int, seed: int) -> None:
    sizes = [11, 4, 7]
    walked = sequence_order(sizes, alpha=1.0, batch=batch, seed=seed)
    steps = [walked.at(i).tolist() for i in range(step + 1)]
    assert sequence_order(sizes, alpha=1.0, batch=batch, seed=seed).at(step).tolist() == steps[-1]


def test_with_alpha_one_a_round_is_an_epoch() -> None:
    chosen = sequence_order([5, 3], alpha=1.0, batch=4, seed=2)
    assert sorted(np.concatenate([chosen.at(0), chosen.at(1)]).tolist()) == list(range(8))
    assert sorted(np.concatenate([chosen.at(2), chosen.at(3)]).tolist()) == list(range(8))
    assert chosen.round(0).tolist() != chosen.round(1).tolist()


def test_tokenizers_read_languages_in_their_shares() -> None:
    texts = {"en": ["word " * 4] * 900, "fo": ["orð " * 5] * 100}
    characters = {lang: sum(map(len, lines)) for lang, lines in texts.items()}
    for alpha, most in ((0.7, 10**9), (0.3, 10**9), (1.0, 4000)):
        read = Counter(line for line in balanced_lines(texts, characters, alpha=alpha, max_characters=most))
        total = min(most, sum(characters.values()))
        for lang, share in zip(texts, sampling_shares(list(characters.values()), alpha), strict=True):
            line = texts[lang][0]
            assert abs(read[line] * len(line) - share * total) <= len(line)


def test_the_help_of_alpha_says_what_is_done() -> None:
    """Counted over the steps of a training."""
    sizes = [90, 10]
    help_text = declared_settings(LanguageModelSettings)["alpha"].setting.help
    for alpha, words, share in ((1.0, "1 samples languages by size", 0.9), (0.0, "0 uniformly", 0.5)):
        assert words in help_text
        order = sequence_order(sizes, alpha=alpha, batch=4, seed=0)
        sequences = np.concatenate([order.at(step) for step in range(500)])
        assert np.mean(sequences < sizes[0]) == pytest.approx(share, abs=0.01)
