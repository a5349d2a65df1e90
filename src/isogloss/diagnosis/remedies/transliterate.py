"""Transliteration of text and labelled data to Latin script, with adaptation on the transliterated text."""

from __future__ import annotations

from isogloss.diagnosis.remedies.remedy import LanguageFindings, Remedy
from isogloss.diagnosis.treatments import DiagnosisInputs, Step
from isogloss.languages.scripts import LATIN_SCRIPT


def obstacle(inputs: DiagnosisInputs, findings: LanguageFindings) -> str:
    if findings.script == LATIN_SCRIPT:
        return "the language is written in Latin script"
    return "" if inputs.latin_text else "no raw text"


REMEDY = Remedy(
    name="transliterate",
    summary="transliterate to Latin script and adapt",
    step=Step(
        label="transliterated",
        position=1,
        text_changes=lambda inputs: [{"transliterate": {"langs": [inputs.lang]}}],
        raw_text=lambda inputs: inputs.latin_text,
    ),
    obstacle=obstacle,
    urgency=lambda findings: 3 + findings.script_differs_from_relative + findings.vocabulary_misfit,
    needs_language_training=True,
)
