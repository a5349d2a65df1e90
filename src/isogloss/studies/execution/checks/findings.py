"""What the checks of a study find."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from isogloss.core.errors import IsoglossError
from isogloss.studies.schema.references import SpecError
from isogloss.studies.schema.study_file import located


@dataclass
class Findings:
    """Errors and warnings, each once, in the order in which they are found."""

    origin: Path | None = None  # the study file
    errors: list[IsoglossError] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def add(self, error: IsoglossError | SpecError) -> None:
        error = located(error, self.origin) if isinstance(error, SpecError) else error
        if str(error) not in map(str, self.errors):
            self.errors.append(error)

    def warn(self, message: str) -> None:
        if message not in self.warnings:
            self.warnings.append(message)

    @contextmanager
    def collecting(self) -> Iterator[None]:
        """Add an error that a block raises to the findings, and continue after the block."""
        try:
            yield
        except (IsoglossError, SpecError) as error:
            self.add(error)
