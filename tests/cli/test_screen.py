"""What commands say while they work, where nobody watches a bar."""

from __future__ import annotations

import pytest

from isogloss.cli import language_model, screen
from isogloss.training.language_modeling.train import StepMetrics


def test_lines_come_at_once_and_then_seldom(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(screen.time, "monotonic", lambda: now[0])
    say = screen.log_lines(30)
    for now[0], task in [(0, "one"), (29, "one"), (29, "two"), (30, "one"), (58, "two"), (59, "two")]:
        say(task, f"at {now[0]}")
    assert capsys.readouterr().err.splitlines() == ["one: at 0", "two: at 29", "one: at 30", "two: at 59"]


def test_training_is_told_in_lines_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with language_model.budget_bar("pretraining") as tell:
        tell(StepMetrics(50, 0.25, 4.5, 1e-3, 1000, 2000.0, None, 0))
        tell(StepMetrics(100, 0.5, 4.0, 1e-3, 2000, 2000.0, None, 0))
    assert capsys.readouterr().err == "pretraining: 25% · step 50 · loss 4.500 · 2,000 tokens/s\n"
