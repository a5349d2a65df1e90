from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from isogloss.core.errors import UnknownName, UsageError
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.training.language_modeling.masking import (
    IGNORED_LABEL,
    MaskedSequences,
    MaskingRules,
    _span_starts,
    mask_sequences,
    masking_rules,
)

VOCABULARY, MASK = 50, 4
SPECIAL = torch.arange(VOCABULARY) < 5
ORDINARY = torch.arange(5, VOCABULARY)


def rules(units: str = "tokens", share: float = 0.15) -> MaskingRules:
    return MaskingRules(MASK, SPECIAL, ORDINARY, units, share)


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def sequences(rows: int, length: int, seed: int = 0) -> torch.Tensor:
    """Framed by special tokens, some of them inside, padding at the end of some."""
    ids = torch.randint(5, VOCABULARY, (rows, length), generator=generator(seed + 1))
    ids[:, 0], ids[:, -1] = 2, 3
    ids[:, length // 3] = 3
    ids[::3, length // 2 :] = 0
    return ids


def by_hand(ids: torch.Tensor, seed: int) -> MaskedSequences:
    """The slow, obvious masking of single tokens, from the same draws in the same order."""
    rows, length = ids.shape
    draws, most = generator(seed), int(0.15 * length) + 1
    rounding, score = torch.rand(rows, generator=draws), torch.rand(rows, length, generator=draws)
    fate = torch.rand(rows, most, generator=draws)
    others = torch.randint(len(ORDINARY), (rows, most), generator=draws)
    after, places, labels = ids.clone(), torch.zeros(rows, most).long(), torch.full((rows, most), IGNORED_LABEL)
    for row in range(rows):
        may = [i for i in range(length) if ids[row, i] >= 5]
        number = math.floor(float(torch.tensor(0.15) * len(may) + rounding[row]))
        ranked = sorted(may, key=lambda i: float(score[row, i])) + [i for i in range(length) if i not in may]
        for slot, place in enumerate(ranked[:most]):
            places[row, slot] = place
            if slot < number:
                labels[row, slot] = ids[row, place]
                if fate[row, slot] < 0.8:
                    after[row, place] = MASK
                elif fate[row, slot] < 0.9:
                    after[row, place] = ORDINARY[others[row, slot]]
    return MaskedSequences(after, places, labels)


@pytest.mark.parametrize("seed", range(4))
def test_masks_are_those_of_the_obvious_way(seed: int) -> None:
    ids = sequences(12, 64, seed)
    found, expected = mask_sequences(ids, rules(), generator(seed)), by_hand(ids, seed)
    assert torch.equal(found.ids, expected.ids)
    assert torch.equal(found.labels, expected.labels)
    chosen = expected.labels != IGNORED_LABEL
    assert torch.equal(found.positions[chosen], expected.positions[chosen])


@given(st.integers(1, 6), st.integers(2, 40), st.integers(0, 10**6), st.sampled_from(["tokens", "words", "spans"]))
def test_what_holds_of_every_masking(rows: int, length: int, seed: int, units: str) -> None:
    ids = sequences(rows, length, seed)
    starts = torch.rand(rows, length, generator=generator(seed + 2)) < 0.5
    found = mask_sequences(ids, rules(units), generator(seed), starts)
    chosen = found.labels != IGNORED_LABEL
    before = ids.gather(1, found.positions)
    assert torch.equal(found.labels[chosen], before[chosen])
    assert not SPECIAL[before[chosen]].any()
    elsewhere = torch.ones_like(ids, dtype=torch.bool).scatter(1, found.positions, ~chosen)
    assert torch.equal(found.ids[elsewhere], ids[elsewhere])
    assert all(len(set(row.tolist())) == len(row) for row in found.positions)
    allowed = (0.15 * (~SPECIAL[ids]).sum(1)).ceil()
    assert (chosen.sum(1) <= allowed).all()


def test_shares_of_what_is_chosen_and_what_becomes_of_it() -> None:
    ids = torch.randint(5, VOCABULARY, (4000, 64), generator=generator(1))
    found = mask_sequences(ids, rules(), generator(2))
    chosen = found.labels != IGNORED_LABEL
    number = int(chosen.sum())
    assert number / ids.numel() == pytest.approx(0.15, abs=0.0005)  # 9.6 of 64: nine or ten in each
    after = found.ids.gather(1, found.positions)[chosen]
    masked, kept = (after == MASK).double().mean(), (after == found.labels[chosen]).double().mean()
    deviation = math.sqrt(0.16 / number)
    assert float(masked) == pytest.approx(0.8, abs=4 * deviation)
    by_chance = 0.1 / len(ORDINARY)  # a random token may be the old one
    assert float(kept) == pytest.approx(0.1 + by_chance, abs=4 * deviation)
    other = after[(after != MASK) & (after != found.labels[chosen])]
    counts = torch.bincount(other, minlength=VOCABULARY)[5:].double()
    assert float(((counts - counts.mean()) ** 2 / counts.mean()).sum()) < 90  # χ², 44 degrees of freedom


def test_every_place_is_as_likely() -> None:
    ids = torch.full((20_000, 20), 7)
    found = mask_sequences(ids, rules(), generator(3))
    counts = torch.bincount(found.positions[found.labels != IGNORED_LABEL], minlength=20).double() / len(ids)
    assert counts.tolist() == pytest.approx([0.15] * 20, abs=0.012)


def test_words_are_masked_whole() -> None:
    ids = sequences(200, 60)
    starts = torch.rand(ids.shape, generator=generator(5)) < 0.6
    found = mask_sequences(ids, rules("words"), generator(6), starts)
    chosen = torch.zeros(ids.shape, dtype=torch.bool).scatter(1, found.positions, found.labels != IGNORED_LABEL)
    for row in range(len(ids)):
        word, words = 0, {}
        for i in range(ids.shape[1]):
            if starts[row, i] or SPECIAL[ids[row, i]] or (i and SPECIAL[ids[row, i - 1]]):
                word += 1
            words.setdefault(word, set()).add(bool(chosen[row, i]))
        assert all(len(fates) == 1 for fates in words.values())
    share = float(chosen.sum() / (~SPECIAL[ids]).sum())
    assert 0.12 < share <= 0.15


def test_masking_by_words_needs_to_know_them() -> None:
    with pytest.raises(UsageError, match="where words begin"):
        mask_sequences(sequences(1, 9), rules("words"), generator())


def test_lengths_of_spans_are_geometric() -> None:
    """p(l) ∝ 0.2·0.8^(l-1) for 1 … 10, of mean 3.8, as published."""
    starts = _span_starts(3000, 200, generator(7))
    lengths = [float(n) for row in starts for n in row.nonzero()[:, 0].diff()]
    odds = [0.2 * 0.8**length for length in range(10)]
    expected = [value / sum(odds) for value in odds]
    found = [lengths.count(length) / len(lengths) for length in range(1, 11)]
    assert found == pytest.approx(expected, abs=0.006)  # those cut off at the end are the longer ones
    assert sum(length * p for length, p in enumerate(expected, 1)) == pytest.approx(3.8, abs=0.01)


def test_spans_lie_together_and_reach_their_share() -> None:
    ids = torch.full((2000, 128), 9)
    found = mask_sequences(ids, rules("spans"), generator(8))
    chosen = torch.zeros(ids.shape, dtype=torch.long).scatter(
        1, found.positions, (found.labels != IGNORED_LABEL).long()
    )
    assert float(chosen.double().mean()) == pytest.approx(0.15, abs=0.0005)
    runs = float((chosen.diff(dim=1) == 1).sum() + chosen[:, 0].sum())
    assert 3.2 < float(chosen.sum()) / runs < 4.8  # single tokens: 1.2


def test_a_model_without_a_mask_token_is_refused(bert: LoadedModel) -> None:
    found = masking_rules(bert, "tokens")
    assert found.mask == bert.tokenizer.mask_token_id
    assert len(found.ordinary) + int(found.special.sum()) == len(bert.tokenizer)
    with pytest.raises(UnknownName, match="did you mean 'words'"):
        masking_rules(bert, "word")
    with pytest.raises(UsageError, match="between 0 and 1"):
        masking_rules(bert, "tokens", 1.5)
