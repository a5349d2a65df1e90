"""A language without labelled data: zero-shot transfer from the best source, with an estimate of the score.

The estimate is learnt from the gaps of the other sources and their similarity to the source
(`analysis.gap_prediction`). It is for the model without adaptation: the effect of adaptation needs labels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import polars as pl

from isogloss.analysis.gap_prediction import MIN_LANGUAGES, predict_gaps
from isogloss.diagnosis.difficulty import FINETUNED
from isogloss.diagnosis.inputs import Sources
from isogloss.diagnosis.remedies import REMEDIES
from isogloss.diagnosis.source_ranking import DISTANCES, distance
from isogloss.diagnosis.systems import systems_study, treatment_system
from isogloss.diagnosis.treatments import ADAPT, DiagnosisInputs, StudyDocument, Treatment
from isogloss.diagnosis.verdict import Estimate
from isogloss.languages.scripts import LATIN_SCRIPT
from isogloss.results.rows.results import Results

INTERVAL_CONFIDENCE = 0.8


def candidate_treatments(inputs: DiagnosisInputs, source_script: str | None, *, first: bool) -> list[Treatment]:
    """Plain fine-tuning, then adaptation if there is raw text, then one more step; the last one is recommended.

    The last step is transliteration if the source uses Latin script and the language does not, or else code-switching
    if the lexicon is for this source (the `first`).
    """
    treatments = [Treatment()]
    if inputs.text:
        treatments.append(Treatment((ADAPT,)))
    if inputs.latin_text and source_script == LATIN_SCRIPT:
        treatments.append(treatments[-1].with_step(REMEDIES["transliterate"].step))
    elif inputs.code_switched and first:
        treatments.append(treatments[-1].with_step(REMEDIES["code-switching"].step))
    return treatments


def transfer_study(treatment: Treatment, inputs: DiagnosisInputs, source: str, sources: Sources) -> StudyDocument:
    """The study of one treatment: trained on the source, scored on the other sources and on the language's test set.

    The settings are not searched: nothing is compared with a baseline.
    """
    train, dev = sources[source]
    system, inputs_of_source = treatment_system(treatment, inputs), replace(inputs, train=train, dev=dev)
    study = systems_study(system.name, [system], {system.name: system.untuned_settings}, inputs_of_source)
    targets = {name: list(corpora[1]) for name, corpora in sources.items() if name != source}
    if inputs.test:
        targets[inputs.lang] = list(inputs.test)
    study["sources"] = {source: study["sources"][inputs.lang]}
    return {**study, "name": f"{study['name']}-from-{source}", "targets": targets or {source: list(dev)}}


def estimate_score(
    results: Results,
    metric: str,
    source: str,
    lang: str,
    others: Sequence[str],
    similarities: Mapping[str, float],
    *,
    withheld: str = "",
) -> Estimate:
    """The expected score of the fine-tuned model in `lang`.

    `similarities`: similarity of languages with the source inside the model; where it was not measured, distances
    between languages are used. `withheld`: why there is no estimate, if the model cannot read the text.
    """
    rows = results.frame.filter(model=FINETUNED, metric=metric)
    means = dict(rows.group_by("target", "split").agg(pl.col("value").mean()).select("target", "value").iter_rows())
    source_score = float(rows.filter(split="dev")["value"].mean())  # type: ignore[arg-type]
    if withheld:
        return Estimate(source, source_score, None, None, None, f"the model cannot read the text: {withheld}")
    labelled = [other for other in others if other not in (source, lang)]
    features = {other: _features(source, other, similarities) for other in [*labelled, lang]}
    names = [name for name in ("similarity", *DISTANCES) if all(name in values for values in features.values())]
    names = names[:1] if "similarity" in names else names
    if len(labelled) < MIN_LANGUAGES:
        why = f"a prediction needs labelled data of at least {MIN_LANGUAGES + 1} languages, got {len(labelled) + 1}"
        return Estimate(source, source_score, None, None, None, why)
    if not names:
        return Estimate(source, source_score, None, None, None, "no facts about the languages")
    gaps = pl.DataFrame([{"target": code, "gap": source_score - means[code], **features[code]} for code in labelled])
    unlabelled = pl.DataFrame([{"target": lang, **features[lang]}])
    prediction = predict_gaps(gaps, unlabelled, names, confidence=INTERVAL_CONFIDENCE).row(0, named=True)
    low, high = (None if gap is None else source_score - gap for gap in (prediction["high"], prediction["low"]))
    rests_on = f"the gaps to {', '.join(labelled)}, by {' and '.join(names)}"
    return Estimate(source, source_score, source_score - prediction["predicted"], low, high, rests_on)


def _features(source: str, target: str, similarities: Mapping[str, float]) -> dict[str, float]:
    distances = distance(source, target)
    return {**distances, "similarity": similarities[target]} if target in similarities else distances
