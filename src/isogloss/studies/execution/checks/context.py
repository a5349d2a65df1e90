"""What the checks of a study share: the study, hashes and facts of its corpora, and the findings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from isogloss.core.registry import import_extra
from isogloss.studies.execution.checks.facts_cache import FactsCache
from isogloss.studies.execution.checks.findings import Findings
from isogloss.studies.planning.fingerprints import Fingerprints
from isogloss.studies.schema.interventions import Intervention
from isogloss.studies.schema.references import LAB, MIXED, MIXED_SEPARATOR, TRANSLITERATED, mixed_parts
from isogloss.studies.schema.study import Study

SAMPLE_ITEMS = 20  # generated for the laboratory, or changed by text changes
Place = tuple[str | int, ...]  # the keys that lead to a value of the study file


@dataclass(frozen=True)
class CheckContext:
    study: Study
    fingerprints: Fingerprints
    facts: FactsCache
    findings: Findings

    def is_readable(self, references: Sequence[str]) -> bool:
        """Whether the files exist, which planning has found out; datasets of the hub are read by the workers."""
        parts = [part for reference in references for part in (mixed_parts(reference) or [reference])]
        names = [part.removeprefix(TRANSLITERATED) for part in parts]
        if any(name.startswith("hub:") for name in names):
            import_extra("datasets", "hub")
            return False
        return not any(name in self.fingerprints.missing for name in names)

    def interventions(self) -> Iterator[tuple[Place, Intervention]]:
        """All interventions of the study, each with its place."""
        places: dict[Place, Sequence[Intervention]] = {
            ("models", name, "changes"): entry.changes for name, entry in self.study.models.items()
        }
        places |= {("changes", name): interventions for name, interventions in self.study.changes.items()}
        for place, interventions in places.items():
            for position, intervention in enumerate(interventions):
                yield (*place, position, intervention.name), intervention


def sampled(reference: str) -> str:
    """A reference to fewer items of the laboratory, all of which are labelled; other references unchanged.

    >>> sampled("lab:qla/train/1000@3"), sampled("train.conllu")
    ('lab:qla/train/20@3', 'train.conllu')
    """
    if parts := mixed_parts(reference):
        return MIXED + MIXED_SEPARATOR.join(map(sampled, parts))
    if reference.startswith(TRANSLITERATED):
        return TRANSLITERATED + sampled(reference.removeprefix(TRANSLITERATED))
    if not (match := LAB.fullmatch(reference)):
        return reference
    number = min(SAMPLE_ITEMS, int(match["number"]))
    return reference[: match.start("number")] + str(number) + reference[match.end("number") :]
