"""A language without labelled data: the task is carried over from the best source, with an honest estimate.

The estimate is learnt from the other sources: how much did the same model lose there, and how like the source are they?
(`results.gap_prediction`.) It is for the model without adaptation: what that adds cannot be known without labels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from isogloss.analysis.gap_prediction import FEWEST, predict_gaps
from isogloss.diagnosis.difficulty import FINETUNED
from isogloss.diagnosis.inputs import Sources
from isogloss.diagnosis.remedies import LATIN
from isogloss.diagnosis.source_ranking import DISTANCES, distance
from isogloss.diagnosis.treatments import Material, Sizes, Steps, treatment
from isogloss.diagnosis.verdict import Estimate
from isogloss.results.rows.results import Results

CONFIDENCE = 0.8


def ways(material: Material, source_script: str | None, *, first: bool) -> list[Steps]:
    """What is done: nothing, adaptation where there is raw text, then transliteration where the source is written in
    Latin letters and the language is not, or else code-switching where the lexicon is for this source (the `first`).
    The last one is the one that is recommended."""
    steps = [Steps()]
    if material.text:
        steps.append(Steps(training="adapt"))
    if material.latin and source_script == LATIN:
        steps.append(replace(steps[-1], latin=True))
    elif material.switched and first:
        steps.append(replace(steps[-1], switched=True))
    return steps


def carrying(
    steps: Steps, material: Material, source: str, sources: Sources, sizes: Sizes, seeds: Sequence[int], threads: int
) -> dict[str, Any]:
    """The study of one way: learnt in the source language, scored in the others and, if it has a test set, in ours."""
    train, dev = sources[source]
    study = treatment(steps, replace(material, train=train, dev=dev), sizes, seeds, threads)
    targets: dict[str, list[str]] = {name: list(one[1]) for name, one in sources.items() if name != source}
    if material.test:
        targets[material.lang] = list(material.test)
    study["sources"] = {source: study["sources"][material.lang]}
    return {**study, "name": f"{study['name']}-from-{source}", "targets": targets or {source: list(dev)}}


def estimated(
    results: Results, metric: str, source: str, lang: str, others: Sequence[str], alike: Mapping[str, float]
) -> Estimate:
    """What the fine-tuned model is expected to do in `lang`. `alike`: similarity of languages with the source inside
    the model, where it was measured; distances of languages take its place."""
    rows = results.frame.filter(model=FINETUNED, metric=metric)
    means = dict(rows.group_by("target", "split").agg(pl.col("value").mean()).select("target", "value").iter_rows())
    home_rows = rows.filter(split="dev")["value"]
    home = float(home_rows.mean())  # type: ignore[arg-type]
    known = [other for other in others if other not in (source, lang)]
    features = {one: _features(source, one, alike) for one in [*known, lang]}
    names = [name for name in ("similarity", *DISTANCES) if all(name in features[one] for one in features)]
    names = names[:1] if "similarity" in names else names
    if len(known) < FEWEST or not names:
        why = f"a prediction needs labelled data of at least {FEWEST + 1} languages, got {len(known) + 1}"
        return Estimate(source, home, None, None, None, why if len(known) < FEWEST else "no facts about the languages")
    table = pl.DataFrame([{"target": one, "gap": home - means[one], **features[one]} for one in known])
    new = pl.DataFrame([{"target": lang, **features[lang]}])
    found = predict_gaps(table, new, names, confidence=CONFIDENCE).row(0, named=True)
    low, high = (None if one is None else home - one for one in (found["high"], found["low"]))
    rests_on = f"the gaps to {', '.join(known)}, by {' and '.join(names)}"
    return Estimate(source, home, home - found["predicted"], low, high, rests_on)


def _features(source: str, target: str, alike: Mapping[str, float]) -> dict[str, float]:
    told = distance(source, target)
    return {**told, "similarity": alike[target]} if target in alike else told
