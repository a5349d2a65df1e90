"""Remedies for a language that a model serves badly: one file each; the list below is all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isogloss.core.registry import Registry

if TYPE_CHECKING:  # listing the names loads no torch
    from isogloss.diagnosis.remedies.remedy import Remedy

REMEDIES: Registry[Remedy] = Registry(
    "remedy",
    {
        "transliterate": "isogloss.diagnosis.remedies.transliterate:REMEDY",
        "vocabulary": "isogloss.diagnosis.remedies.vocabulary:REMEDY",
        "code-switching": "isogloss.diagnosis.remedies.code_switching:REMEDY",
        "adapters": "isogloss.diagnosis.remedies.adapters:REMEDY",
        "noise": "isogloss.diagnosis.remedies.noise:REMEDY",
    },
)
