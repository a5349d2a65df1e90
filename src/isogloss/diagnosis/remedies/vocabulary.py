"""Vocabulary extension with sub-words of the language, followed by adaptation."""

from __future__ import annotations

from isogloss.diagnosis.remedies.remedy import Remedy, needs_raw_text
from isogloss.diagnosis.treatments import Step

REMEDY = Remedy(
    name="vocabulary",
    summary="add sub-words of the language and adapt",
    step=Step(
        label="new sub-words",
        position=2,
        interventions=lambda text, sizes: [{"extend_vocabulary": {**text, "size": sizes.vocabulary}}],
    ),
    obstacle=needs_raw_text,
    urgency=lambda findings: 1.5 + 2 * findings.vocabulary_misfit,
    needs_language_training=True,
)
