from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.core.errors import UnknownName, UsageError
from isogloss.training.engine.budget import Budget, scheduled_learning_rate


def test_whichever_ends_first() -> None:
    budget = Budget(steps=100, tokens=1000, minutes=2.0)
    assert budget.fraction_spent(step=50, tokens=100, seconds=0.0) == 0.5
    assert budget.fraction_spent(step=50, tokens=700, seconds=0.0) == 0.7
    assert budget.fraction_spent(step=50, tokens=700, seconds=108.0) == 0.9
    assert budget.fraction_spent(step=50, tokens=7000, seconds=0.0) == 1.0


def test_a_budget_is_needed_and_above_nothing() -> None:
    with pytest.raises(UsageError, match=r"expected a limit of training \(steps, tokens or minutes\), got none"):
        Budget()
    with pytest.raises(UsageError, match="steps: expected a whole number above 0, got 0"):
        Budget(steps=0)


@given(st.floats(0, 1), st.floats(0, 0.9), st.sampled_from(["cosine", "linear", "plateau", "constant"]))
def test_rates_rise_to_the_peak_and_fall(share: float, warmup: float, decay: str) -> None:
    value = scheduled_learning_rate(share, 2.0, warmup, decay)
    assert 0 <= value <= 2.0
    later = scheduled_learning_rate(min(1.0, share + 0.01), 2.0, warmup, decay)
    if share + 0.01 < warmup:
        assert later > value
    elif share >= warmup:
        assert later <= value
    assert scheduled_learning_rate(warmup, 2.0, warmup, decay) == pytest.approx(2.0)


def test_an_unknown_decay_is_named() -> None:
    with pytest.raises(UnknownName, match="did you mean 'cosine'"):
        scheduled_learning_rate(0.5, 1.0, 0.1, "cosin")
