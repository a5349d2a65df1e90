"""The models that are part of the package, by name."""

from __future__ import annotations

from pathlib import Path

LABORATORY = "laboratory"  # an encoder of the artificial languages
SHIPPED = {LABORATORY: Path(__file__).parents[1] / "models" / "laboratory"}
