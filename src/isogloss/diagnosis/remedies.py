"""What may be done for a language that a model serves badly, in the order that the diagnosis suggests.

Each remedy is one more step on top of the best that was found so far.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from isogloss.core.registry import check_name
from isogloss.diagnosis.treatments import Material, Steps
from isogloss.models.tokenization.statistics import TokenizerStatistics

UNREADABLE, FINE = (
    0.05,
    2.0,
)  # share of words with an unknown piece, pieces per word: above, the vocabulary does not fit
LATIN = "Latn"


@dataclass(frozen=True)
class Findings:
    """What the diagnosis knows before any remedy: how the tokenizer reads the text, and the closest seen languages'
    scripts, the closest first."""

    statistics: TokenizerStatistics
    neighbours: tuple[str, ...] = ()

    @property
    def script(self) -> str:
        return self.statistics.script

    @property
    def misfit(self) -> bool:
        """Whether the vocabulary reads the text badly."""
        return self.statistics.unknown_words > UNREADABLE or self.statistics.subwords_per_word > FINE

    @property
    def among_strangers(self) -> bool:
        """Whether the closest seen language is written in another script."""
        return bool(self.neighbours) and self.script != self.neighbours[0]


@dataclass(frozen=True)
class Remedy:
    """`step` adds it to what is done; `against` is the reason why it cannot be tried, "" if it can; `urgency` is higher
    the more the findings speak for it."""

    name: str
    step: Callable[[Steps], Steps]
    against: Callable[[Material, Findings], str]
    urgency: Callable[[Findings], float]


@dataclass(frozen=True)
class Chosen:
    """The remedies to try, in this order, and the reasons against the others."""

    order: tuple[Remedy, ...]
    left_out: dict[str, str]


def _transliterated(steps: Steps) -> Steps:
    return replace(steps, latin=True, training=steps.training or "adapt")


def _extended(steps: Steps) -> Steps:
    return replace(steps, vocabulary=True, training=steps.training or "adapt")


def _no_text(material: Material, findings: Findings) -> str:
    return "" if material.text else "no raw text"


def _no_letters(material: Material, findings: Findings) -> str:
    if findings.script == LATIN:
        return "the language is written in Latin letters"
    return "" if material.latin else "no raw text"


def _no_lexicon(material: Material, findings: Findings) -> str:
    return "" if material.switched else "no lexicon with a source's labelled data"


REMEDIES = {
    one.name: one
    for one in (
        Remedy("transliterate", _transliterated, _no_letters, lambda found: 3 + found.among_strangers + found.misfit),
        Remedy("vocabulary", _extended, _no_text, lambda found: 1.5 + 2 * found.misfit),
        Remedy("code-switching", lambda steps: replace(steps, switched=True), _no_lexicon, lambda found: 2.5),
        Remedy("adapters", lambda steps: replace(steps, training="adapter"), _no_text, lambda found: 1.0),
        Remedy("noise", lambda steps: replace(steps, noise=True), lambda material, found: "",
               lambda found: 0.5 + 1.5 * (not found.among_strangers)),
    )
}  # fmt: skip


def chosen_remedies(names: Sequence[str] | None, material: Material, findings: Findings) -> Chosen:
    """Those of the names, or all: what can be tried, the most urgent first."""
    wanted = [REMEDIES[check_name(name, REMEDIES, "remedy")] for name in (REMEDIES if names is None else names)]
    against = {one.name: one.against(material, findings) for one in wanted}
    possible = [one for one in wanted if not against[one.name]]
    order = possible if names is not None else sorted(possible, key=lambda one: -one.urgency(findings))
    return Chosen(tuple(order), {name: why for name, why in against.items() if why})
