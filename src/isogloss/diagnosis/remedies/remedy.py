"""`Remedy`: one more step that may improve a model for a language, and when to try it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from isogloss.diagnosis.treatments import DiagnosisInputs, Step, Treatment
from isogloss.models.tokenization.statistics import TokenizerStatistics

MAX_UNKNOWN_WORD_SHARE = 0.05  # words with an unknown sub-word; above, the vocabulary does not fit
MAX_SUBWORDS_PER_WORD = 2.0


@dataclass(frozen=True)
class LanguageFindings:
    """What is known of a model and a language before training; `neighbour_scripts`: of the closest seen languages."""

    statistics: TokenizerStatistics
    neighbour_scripts: tuple[str, ...] = ()

    @property
    def script(self) -> str:
        return self.statistics.script

    @property
    def vocabulary_misfit(self) -> bool:
        """Whether the tokenizer splits the text into many or unknown sub-words."""
        unknown, subwords = self.statistics.unknown_words, self.statistics.subwords_per_word
        return unknown > MAX_UNKNOWN_WORD_SHARE or subwords > MAX_SUBWORDS_PER_WORD

    @property
    def script_differs_from_relative(self) -> bool:
        """Whether the closest seen language uses another script."""
        return bool(self.neighbour_scripts) and self.script != self.neighbour_scripts[0]


def applicable(inputs: DiagnosisInputs, findings: LanguageFindings) -> str:
    """The `obstacle` of a remedy that can always be tried."""
    return ""


def needs_raw_text(inputs: DiagnosisInputs, findings: LanguageFindings) -> str:
    """The `obstacle` of a remedy that trains on raw text."""
    return "" if inputs.text else "no raw text"


@dataclass(frozen=True)
class Remedy:
    """A step on top of the best treatment so far.

    Args:
        name: Name on the command line and in tables.
        summary: One line for `isogloss ls remedies`.
        step: The step that it adds.
        urgency: Order of trial; a higher value is tried first.
        obstacle: The reason why it cannot be tried, or "".
        needs_language_training: Whether adaptation is added where the treatment has no training on raw text.
    """

    name: str
    summary: str
    step: Step
    urgency: Callable[[LanguageFindings], float]
    obstacle: Callable[[DiagnosisInputs, LanguageFindings], str] = applicable
    needs_language_training: bool = False

    def apply(self, treatment: Treatment) -> Treatment:
        extended = treatment.with_step(self.step)
        return extended.with_language_training() if self.needs_language_training else extended
