"""A language adapter and a task adapter in place of training the whole model."""

from __future__ import annotations

from isogloss.diagnosis.remedies.remedy import Remedy, needs_raw_text
from isogloss.diagnosis.treatments import Step

REMEDY = Remedy(
    name="adapters",
    summary="train a language adapter and a task adapter, the model frozen",
    step=Step(
        label="adapters",
        position=3,
        trains_language=True,
        interventions=lambda text, sizes: [{"language_adapter": {**text, **sizes.adapter}}, {"task_adapter": {}}],
    ),
    obstacle=needs_raw_text,
    urgency=lambda findings: 1.0,
)
