"""Character noise and sub-word dropout during fine-tuning (Aepli & Sennrich 2022), for targets close to the source."""

from __future__ import annotations

from isogloss.diagnosis.remedies.remedy import Remedy
from isogloss.diagnosis.treatments import Step

REMEDY = Remedy(
    name="noise",
    summary="character noise and sub-word dropout during fine-tuning",
    step=Step(label="noise", position=4, settings={"character_noise": 0.1, "subword_dropout": 0.1}),
    urgency=lambda findings: 0.5 + 1.5 * (not findings.script_differs_from_relative),
)
