"""A diagnosis in words and tables, for someone who has a language and wants a model: Markdown and one HTML page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl

from isogloss.core.files import atomic_write
from isogloss.diagnosis.difficulty import ADAPTED, BASELINES, FINETUNED
from isogloss.diagnosis.source_ranking import script_and_name
from isogloss.diagnosis.verdict import Estimate, Verdict
from isogloss.report.findings import points, signed
from isogloss.report.sections import Section, sections_to_html, sections_to_markdown
from isogloss.results.tables.tables import Cell, Table

MEANING = {
    "Easy": "the model serves this language as it is: fine-tuned, it is below no baseline.",
    "Intermediate": "the model serves this language only after training on its raw text.",
    "Hard": "the model does not serve this language, not even after training on its raw text.",
    "Undecided": "what there is does not tell whether the model serves this language.",
}
CANDIDATES = 10  # rows of the ranking that are shown


def write_report(verdict: Verdict) -> None:
    """`report.md` and `report.html` in the folder of the diagnosis."""
    _, name = script_and_name(verdict.lang)
    title = f"{name} ({verdict.lang}) for {Path(verdict.model).name}: {verdict.level}"
    parts = list(sections(verdict))
    for suffix, render in ((".md", sections_to_markdown), (".html", sections_to_html)):
        with atomic_write(verdict.folder / f"report{suffix}") as file:
            file.write(render(title, parts))


def sections(verdict: Verdict) -> Iterator[Section]:
    yield Section("Verdict", tuple(_verdict(verdict)))
    if verdict.systems["test"].is_not_null().any():
        yield Section("The systems", _how_compared(verdict), system_table(verdict))
    if verdict.estimate:
        yield Section("How sure is this without labelled data?", tuple(_estimate(verdict.estimate, verdict)))
    if len(verdict.remedies):
        yield Section("Remedies", (REMEDIES,), remedy_table(verdict))
    yield Section("How the tokenizer reads the language", tuple(_tokenizer(verdict)))
    if len(verdict.sources.frame):
        yield Section("Closest languages", (f"The order rests on {verdict.sources.basis}.",), ranking_table(verdict))
    yield Section("What to do now", tuple(_next(verdict)), commands=_commands(verdict))


REMEDIES = (
    "Each is one more step on top of the best system so far; what is better was decided on the dev set. The difference "
    "is that of test scores to the best system so far, tested as above."
)
TEST = (
    "Differences are tested with seeds and test sentences both as samples (min F′, Clark 1973); significant: p below "
    ".05 after Holm’s correction for all comparisons."
)
ONE_SEED = "With one seed, nothing is known of others: the test is over sentences alone."


def _verdict(verdict: Verdict) -> Iterator[str]:
    yield f"{verdict.level}: {MEANING[verdict.level]}"
    for row in verdict.differences.filter(pl.col("system").is_in([FINETUNED, ADAPTED])).iter_rows(named=True):
        sure = "significant" if row["significant"] else "not significant"
        p = "" if row["holm"] is None else f", corrected p = {row['holm']:.2g}"
        between = "" if row["low"] is None else f" [{signed(row['low'])}, {signed(row['high'])}]"
        yield (
            f"{row['system']} against {row['baseline']}: {signed(row['delta'])} points of {verdict.metric}{between} "
            f"over {row['seeds']} seeds ({sure}{p})."
        )
    if verdict.level != "Undecided" and not verdict.sure:
        yield "Not all of these differences are significant: more seeds or test sentences may change the verdict."
    if verdict.by_bilstm != verdict.level:
        yield f"Against the BiLSTM alone, as the slides have it, the language would be {verdict.by_bilstm}."
    if verdict.level == "Hard" and verdict.remedies["test"].is_not_null().any():
        done = "is no longer below a baseline" if verdict.repaired else "is still below a baseline"
        yield f"With remedies, the best system that rests on the model {done}."
    if verdict.estimate:
        yield f"Recommended: {verdict.best}. Without labelled data this is a rule, not a measurement."
    else:
        yield f"Best system (on the dev set): {verdict.best}."


def _how_compared(verdict: Verdict) -> tuple[str, ...]:
    scores = f"Mean {verdict.metric} in points; in brackets the 95 % interval over seeds."
    if verdict.differences.is_empty():
        return (scores,)
    return (scores, TEST, ONE_SEED) if verdict.differences["seeds"].max() == 1 else (scores, TEST)


def system_table(verdict: Verdict) -> Table:
    body = [
        (
            Cell(row["system"]),
            *(Cell("" if row[name] is None else points(row[name]), True) for name in ("dev", "test")),
            Cell(_interval(row["low"], row["high"])),
            Cell(str(row["seeds"]), True),
            Cell("baseline" if row["system"] in BASELINES else ""),
        )
        for row in verdict.systems.iter_rows(named=True)
    ]
    return Table(("system", "dev", "test", "95 %", "seeds", ""), tuple(body))


def remedy_table(verdict: Verdict) -> Table:
    body = []
    for row in verdict.remedies.iter_rows(named=True):
        delta = "" if row["delta"] is None else signed(row["delta"])
        sure = "" if row["delta"] is None else "yes" if row["significant"] else "no"
        test = "" if row["test"] is None else points(row["test"])
        told = (row["remedy"], row["system"] or "", row["outcome"], test, delta, sure, row["against"] or "", row["why"])
        body.append(tuple(Cell(one or "", number=3 <= i <= 4) for i, one in enumerate(told)))
    return Table(("remedy", "system", "outcome", "test", "Δ", "significant", "against", ""), tuple(body))


def ranking_table(verdict: Verdict) -> Table:
    names = ("similarity", "genealogy", "script", "syntax")
    body = []
    for row in verdict.sources.frame.head(CANDIDATES).iter_rows(named=True):
        numbers = ("" if row[name] is None else f"{row[name]:.2f}" for name in names)
        seen = {True: "yes", False: "no", None: "?"}[row["seen"]]
        told = (Cell(f"{row['name']} ({row['language']})"), Cell(row["writing"] or "?"), Cell(seen))
        body.append((*told, *(Cell(one, number=True) for one in numbers)))
    head = ("language", "script", "seen", "similarity", "Δ descent", "Δ script", "Δ syntax")
    return Table(head, tuple(body))


def _tokenizer(verdict: Verdict) -> Iterator[str]:
    found = verdict.tokenizer
    yield (
        f"{found.subwords_per_word:.2f} sub-words per word over {found.words:,} words; {found.whole_words:.0%} of the "
        f"words are one piece, {found.unknown_words:.1%} hold an unknown piece; {found.known_characters:.1%} of the "
        "characters are known."
    )
    scripts = "; ".join(
        f"{script} {one.letters:.0%} of the letters, {one.pieces:,} pieces of several letters in the vocabulary"
        for script, one in found.scripts.items()
    )
    yield f"Scripts: {scripts}. {found.words_in_known_scripts:.0%} of the words are in a script that the model knows."


def _estimate(estimate: Estimate, verdict: Verdict) -> Iterator[str]:
    yield f"In the source language, {estimate.source}, the model scores {points(estimate.home)} {verdict.metric}."
    if estimate.expected is None:
        yield (
            f"How much of it is left in {verdict.lang} cannot be said: {estimate.rests_on}. Label some sentences as a "
            "test set: a hundred already tell more than any prediction."
        )
        return
    between = "; too few languages for an interval"
    if estimate.low is not None:
        between = f"; for four of five languages like these it would lie {_between(estimate.low, estimate.high)}"
    yield (
        f"Expected in {verdict.lang}: {points(estimate.expected)}{between}. This rests on {estimate.rests_on}, and "
        "is for the model without adaptation: what adaptation adds cannot be known without labelled data."
    )


def _between(low: float, high: float | None) -> str:
    return f"between {points(max(0.0, low))} and {points(min(1.0, 1.0 if high is None else high))}"


def _next(verdict: Verdict) -> Iterator[str]:
    yield "The best model is in the folder model; recipe.yaml makes its system again, with the same numbers."
    if "transliterated" in verdict.best:
        yield "It reads Latin letters: transliterate what it is to annotate."


def _commands(verdict: Verdict) -> tuple[str, ...]:
    first = ["isogloss run recipe.yaml"]
    file = "new.conllu"
    if "transliterated" in verdict.best:
        first.append(f"isogloss transliterate {file} --lang {verdict.lang} --out latin.conllu")
        file = "latin.conllu"
    return (*first, f"isogloss predict model {file} --lang {verdict.lang} --out annotated.conllu")


def _interval(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f"[{points(low)}, {points(high)}]"


def summary(verdict: Verdict) -> Sequence[str]:
    """The verdict in a few sentences, as the report begins."""
    return tuple(_verdict(verdict))
