"""Natural language inference: pairs of premise and hypothesis with a label; pairs in two languages."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from isogloss.core.errors import UsageError
from isogloss.core.seeds import Chance
from isogloss.corpora.corpus import Corpus
from isogloss.corpora.kinds.kind import CorpusKind, HubConversion, Mixture

if TYPE_CHECKING:
    from isogloss.corpora.hub import HubRows
    from isogloss.corpora.rewriting import Rewriting

LABELS = ("entailment", "neutral", "contradiction")


@dataclass(frozen=True, slots=True)
class NliPair:
    """A premise, a hypothesis, and the label of their relation.

    >>> NliPair("A dog barks.", "An animal barks.", "entailment").label
    'entailment'
    """

    premise: str
    hypothesis: str
    label: str | None  # one of LABELS, or None without a gold label
    replaced: str | None = None  # "premise" or "hypothesis": the part that `mixed_language` replaced
    line: str = field(default="", repr=False, compare=False)  # the line of the file
    columns: tuple[str, ...] = field(default=(), repr=False, compare=False)  # column names of `line`, if it has columns


def mixed_language(native: Corpus[NliPair], english: Corpus[NliPair], seed: int) -> Corpus[NliPair]:
    """`native` with the premise or the hypothesis of each pair replaced by the parallel English one.

    The choice depends only on the seed and on the index of the pair, so it is the same for every language.
    """
    if len(native) != len(english):
        counts = f"{len(native)} in {native.lang} and {len(english)} in {english.lang}"
        raise UsageError(f"expected parallel pairs, got {counts}")
    chance, mixed = Chance(seed, "mixed language"), []
    for i, (native_pair, english_pair) in enumerate(zip(native, english, strict=True)):
        if native_pair.label != english_pair.label:
            labels = f"{native_pair.label} in {native.lang} and {english_pair.label} in {english.lang}"
            raise UsageError(f"expected parallel pairs, got different labels at index {i}: {labels}")
        if chance.choose(("premise", "hypothesis")) == "premise":
            mixed.append(replace(native_pair, premise=english_pair.premise, replaced="premise"))
        else:
            mixed.append(replace(native_pair, hypothesis=english_pair.hypothesis, replaced="hypothesis"))
    return native.with_items(mixed)


def count(pairs: Sequence[NliPair]) -> dict[str, int]:
    unlabelled = sum(pair.label is None for pair in pairs)
    return {"pairs": len(pairs)} | ({"pairs without label": unlabelled} if unlabelled else {})


def rewrite(corpus: Corpus[NliPair], change: Rewriting) -> Iterator[NliPair]:
    for i, pair in enumerate(corpus):
        premise = change.text(pair.premise, f"{i} premise")
        yield replace(pair, premise=premise, hypothesis=change.text(pair.hypothesis, f"{i} hypothesis"))


def hub_lines(rows: HubRows) -> Iterator[str]:
    premises, hypotheses = rows.values("premise", "sentence1"), rows.values("hypothesis", "sentence2")
    labels = rows.values("label", "gold_label", optional=True)
    for premise, hypothesis, label in zip(premises, hypotheses, labels, strict=True):
        yield json.dumps({"gold_label": "-" if label is None else label, "sentence1": premise, "sentence2": hypothesis})


NLI: CorpusKind[NliPair] = CorpusKind(
    name="nli",
    count=count,
    text=lambda pair: f"{pair.premise} {pair.hypothesis}",
    display=lambda pair: {"premise": pair.premise, "hypothesis": pair.hypothesis},
    rewrite=rewrite,
    hub=HubConversion(hub_lines, format="nli-jsonl"),
    laboratory=lambda lab, part: lab.nli(part.lang, part.split, part.number),
    mixture=Mixture(partial(mixed_language, seed=0), first_in_target_language=True),
)
