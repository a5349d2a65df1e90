"""Dictionary-based code-switching: labelled data of a source language with translated words as extra training data."""

from __future__ import annotations

from isogloss.diagnosis.remedies.remedy import LanguageFindings, Remedy
from isogloss.diagnosis.treatments import DiagnosisInputs, Step


def obstacle(inputs: DiagnosisInputs, findings: LanguageFindings) -> str:
    return "" if inputs.code_switched else "no lexicon with a source's labelled data"


REMEDY = Remedy(
    name="code-switching",
    summary="train on a source's labelled data with translated words",
    step=Step(label="code-switching", position=5, extra_train=lambda inputs: inputs.code_switched),
    obstacle=obstacle,
    urgency=lambda findings: 2.5,
)
