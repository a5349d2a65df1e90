from __future__ import annotations

import pytest
import torch
from transformers import get_linear_schedule_with_warmup

from isogloss.core.errors import UnknownName, UsageError
from isogloss.tasks.task import TaskDefaults
from isogloss.training.engine.optimizer import adamw
from isogloss.training.engine.settings import TrainingSettings, learning_rate_at, settings_for

RECIPE = TaskDefaults(epochs=6, batch=16, learning_rate=5e-5)


@pytest.mark.parametrize("steps", [10, 57, 100])
def test_the_schedule_is_that_of_transformers(steps: int) -> None:
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=3e-4)
    schedule = get_linear_schedule_with_warmup(optimizer, int(0.1 * steps), steps)
    settings = TrainingSettings(1, 1, 3e-4)
    for step in range(steps):
        assert learning_rate_at(step, steps, settings) == pytest.approx(optimizer.param_groups[0]["lr"], abs=1e-12)
        optimizer.step()
        schedule.step()


def test_a_run_of_one_step_learns() -> None:
    assert learning_rate_at(0, 1, TrainingSettings(1, 1, 0.5)) == 0.5


def test_what_is_not_given_is_the_recipe() -> None:
    assert settings_for(RECIPE, learning_rate=1e-5, batch=None) == TrainingSettings(6, 16, 1e-5)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"epochs": 0}, "epochs: expected a whole number above 0, got 0"),
        ({"batch": 1.5}, "batch: expected"),
        ({"learning_rate": float("nan")}, "learning_rate: expected"),
        ({"warmup": 1.0}, "warmup"),
        ({"weight_decay": -1.0}, "weight_decay"),
        ({"accumulate": 0}, "accumulate: expected"),
    ],
)
def test_nonsense_is_an_error(changes: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        settings_for(RECIPE, **changes)


def test_unknown_names_are_answered_with_a_suggestion() -> None:
    with pytest.raises(UnknownName, match="did you mean 'learning_rate'"):
        settings_for(RECIPE, learning_rat=1.0)
    with pytest.raises(UnknownName, match="bf16"):
        settings_for(RECIPE, precision="fp61")


def test_biases_and_norms_are_not_decayed() -> None:
    network = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.LayerNorm(3), torch.nn.Embedding(5, 3))
    decayed, spared = adamw(list(network.parameters()), 1.0, weight_decay=0.5).param_groups
    assert (decayed["weight_decay"], [tuple(p.shape) for p in decayed["params"]]) == (0.5, [(3, 2), (5, 3)])
    assert (spared["weight_decay"], [tuple(p.shape) for p in spared["params"]]) == (0.0, [(3,), (3,), (3,)])
