"""The report of a diagnosis as Markdown and as one HTML page: verdict, tables, next steps."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from isogloss.core.files import atomic_write
from isogloss.diagnosis.difficulty import ADAPTED, BASELINES, FINETUNED
from isogloss.diagnosis.source_ranking import script_and_name
from isogloss.diagnosis.verdict import Estimate, Verdict
from isogloss.report.sections import Section, sections_to_html, sections_to_markdown
from isogloss.results.rows.readability import ADVICE
from isogloss.results.tables.points import points, signed_points
from isogloss.results.tables.tables import Cell, Table

LEVEL_DESCRIPTIONS = {
    "Easy": "the fine-tuned model is below no baseline.",
    "Intermediate": "the model is below no baseline only after adaptation on raw text.",
    "Hard": "the model is below a baseline, even after adaptation on raw text.",
    "Undecided": "the data do not allow a verdict.",
}
UNREADABLE = "the model cannot read the text."
MAX_RANKING_ROWS = 10


def write_report(verdict: Verdict) -> None:
    """`report.md` and `report.html` in the folder of the diagnosis."""
    _, name = script_and_name(verdict.lang)
    title = f"{name} ({verdict.lang}) for {Path(verdict.model).name}: {verdict.level}"
    parts = list(sections(verdict))
    for suffix, render in ((".md", sections_to_markdown), (".html", sections_to_html)):
        with atomic_write(verdict.folder / f"report{suffix}") as file:
            file.write(render(title, parts))


def sections(verdict: Verdict) -> Iterator[Section]:
    yield Section("Verdict", tuple(summary(verdict)))
    if verdict.systems["test"].is_not_null().any():
        yield Section("Systems", _how_compared(verdict), system_table(verdict))
    if len(verdict.tuning):
        yield Section("Settings tried", (TUNING_NOTE,), tuning_table(verdict))
    if verdict.estimate:
        yield Section("Expected score without labelled data", tuple(_estimate(verdict.estimate, verdict)))
    if len(verdict.remedies):
        yield Section("Remedies", (REMEDIES_NOTE,), remedy_table(verdict))
    yield Section("Tokenizer statistics", tuple(_tokenizer(verdict)))
    if len(verdict.sources.frame):
        yield Section("Closest languages", (f"The order rests on {verdict.sources.basis}.",), ranking_table(verdict))
    yield _next_steps(verdict)


REMEDIES_NOTE = (
    "Each remedy adds one step to the best system so far; systems are selected on the dev set. Δ is the difference in "
    "test score to the best system so far, tested as above."
)
TUNING_NOTE = (
    "Learning rate and epochs of every system were chosen by successive halving: each round trains the better half of "
    "the rates for twice as many epochs, until the score no longer rises; then rates next to the best one are tried. "
    "The search has the first seed; all seeds train with its choice."
)
NO_TUNING_NOTE = "Learning rates and epochs were not searched: with others, another system may be better."
SIGNIFICANCE_NOTE = (
    "Differences are tested with seeds and test sentences as crossed random effects (min F′, Clark 1973); significant: "
    "p below .05 after Holm’s correction for all comparisons."
)
SINGLE_SEED_NOTE = "With one seed, the test covers sentences only: other seeds may differ."


def summary(verdict: Verdict) -> Iterator[str]:
    """The sentences at the beginning of the report."""
    yield f"{verdict.level}: {UNREADABLE if verdict.withheld else LEVEL_DESCRIPTIONS[verdict.level]}"
    if verdict.withheld:
        yield from _unreadable(verdict)
    readable = verdict.systems.filter(pl.col("readable").fill_null(True))["system"]
    compared = pl.col("system").is_in([FINETUNED, ADAPTED]) & pl.col("system").is_in(readable.implode())
    for row in verdict.differences.filter(compared).iter_rows(named=True):
        significance = "significant" if row["significant"] else "not significant"
        p = "" if row["holm"] is None else f", corrected p = {row['holm']:.2g}"
        interval = "" if row["low"] is None else f" [{signed_points(row['low'])}, {signed_points(row['high'])}]"
        yield (
            f"{row['system']} compared with {row['baseline']}: {signed_points(row['delta'])} points of {verdict.metric}"
            f"{interval} over {row['seeds']} seeds ({significance}{p})."
        )
    yield from verdict.cautions
    if verdict.level != "Undecided" and not verdict.sure and not verdict.cautions:
        yield "Not all of these differences are significant: more seeds or test sentences may change the verdict."
    if verdict.by_bilstm != verdict.level:
        yield f"Compared with the BiLSTM alone, as in Muller et al. (2021), the language would be {verdict.by_bilstm}."
    if verdict.level == "Hard" and verdict.remedies["test"].is_not_null().any():
        done = "is no longer below a baseline" if verdict.repaired else "is still below a baseline"
        yield f"With remedies, the model's best system {done}."
    if verdict.estimate:
        yield f"Recommended: {verdict.best}. This is a rule, not a measurement: there is no labelled data."
    else:
        yield f"Best system, chosen {verdict.selection or 'on the dev set'}: {verdict.best}."
        if not verdict.selection:
            yield NO_TUNING_NOTE


def _unreadable(verdict: Verdict) -> Iterator[str]:
    """What it means that the model cannot read the text, and whether a remedy changes it."""
    yield (
        f"As it is, {verdict.withheld}. The scores of the model on such text are shown, but they say nothing about the "
        "language."
    )
    if verdict.repaired is not None:
        result = "is below no baseline" if verdict.repaired else "is still below a baseline"
        yield f"In a form that it can read ({verdict.repaired_by}), the model {result}."
    elif not verdict.estimate:
        yield f"No remedy made the text readable; {ADVICE}."


def _how_compared(verdict: Verdict) -> tuple[str, ...]:
    scores = f"Mean {verdict.metric} in points; 95 % intervals over seeds in brackets."
    selected = [f"Settings and systems were chosen {verdict.selection}."] if verdict.selection else []
    seeds = verdict.differences["seeds"].max()  # None without differences
    notes = () if seeds is None else (SIGNIFICANCE_NOTE, SINGLE_SEED_NOTE) if seeds == 1 else (SIGNIFICANCE_NOTE,)
    return (scores, *selected, *notes)


def system_table(verdict: Verdict) -> Table:
    body = [
        (
            Cell(row["system"]),
            *(Cell(_points(row[name]), True) for name in ("dev", "test")),
            Cell("" if row["low"] is None else f"[{points(row['low'])}, {points(row['high'])}]"),
            Cell(str(row["seeds"]), True),
            Cell("" if row["unknown"] is None else f"{row['unknown']:.1%}", True),
            Cell("unreadable" if row["readable"] is False else "baseline" if row["system"] in BASELINES else ""),
        )
        for row in verdict.systems.iter_rows(named=True)
    ]
    return Table(("system", "dev", "test", "95 %", "seeds", "unknown tokens", ""), tuple(body))


def tuning_table(verdict: Verdict) -> Table:
    """A row per system and length of training, with the dev score of every learning rate."""
    body = []
    for (system, epochs), rows in verdict.tuning.group_by("system", "epochs", maintain_order=True):
        scores = [
            f"{rate:.3g}: {'failed' if dev is None else points(dev)}{' (chosen)' if chosen else ''}"
            for rate, dev, chosen in rows.sort("learning_rate").select("learning_rate", "dev", "chosen").iter_rows()
        ]
        body.append((Cell(str(system)), Cell(str(epochs), True), Cell(" · ".join(scores))))
    return Table(("system", "epochs", "learning rate: dev score"), tuple(body))


def remedy_table(verdict: Verdict) -> Table:
    body = []
    for row in verdict.remedies.iter_rows(named=True):
        delta = "" if row["delta"] is None else signed_points(row["delta"])
        significant = "" if row["delta"] is None else "yes" if row["significant"] else "no"
        numbers = (_points(row["test"]), delta)
        texts = (row["remedy"], row["system"], row["outcome"], *numbers, significant, row["against"], row["why"])
        body.append(tuple(Cell(text or "", number=3 <= i <= 4) for i, text in enumerate(texts)))
    return Table(("remedy", "system", "outcome", "test", "Δ", "significant", "against", ""), tuple(body))


def ranking_table(verdict: Verdict) -> Table:
    names = ("similarity", "genealogy", "script", "syntax")
    body = []
    for row in verdict.sources.frame.head(MAX_RANKING_ROWS).iter_rows(named=True):
        numbers = ("" if row[name] is None else f"{row[name]:.2f}" for name in names)
        seen = {True: "yes", False: "no", None: "?"}[row["seen"]]
        cells = (Cell(f"{row['name']} ({row['language']})"), Cell(row["writing"] or "?"), Cell(seen))
        body.append((*cells, *(Cell(number, number=True) for number in numbers)))
    head = ("language", "script", "seen", "similarity", "Δ descent", "Δ script", "Δ syntax")
    return Table(head, tuple(body))


def _tokenizer(verdict: Verdict) -> Iterator[str]:
    statistics = verdict.tokenizer
    yield (
        f"{statistics.subwords_per_word:.2f} sub-words per word over {statistics.words:,} words; "
        f"{statistics.whole_words:.0%} of the words are a single sub-word, {statistics.unknown_words:.1%} contain an "
        f"unknown sub-word; {statistics.known_characters:.1%} of the characters are known."
    )
    if statistics.readability:
        text = statistics.readability
        yield (
            f"{text.unknown:.1%} of the tokens are unknown, {text.byte_pieces:.1%} are parts of characters; "
            f"{text.characters_per_token:.2f} characters and {text.bytes_per_token:.2f} bytes per token."
        )
    scripts = "; ".join(
        f"{script} {coverage.letters:.0%} of the characters, {coverage.pieces:,} sub-words of several characters"
        for script, coverage in statistics.scripts.items()
    )
    yield f"Scripts: {scripts}. {statistics.words_in_known_scripts:.0%} of the words are in a script of the vocabulary."


def _estimate(estimate: Estimate, verdict: Verdict) -> Iterator[str]:
    yield f"In the source language, {estimate.source}, the model scores {points(estimate.home)} {verdict.metric}."
    if estimate.expected is None:
        yield (
            f"The score in {verdict.lang} cannot be estimated: {estimate.rests_on}. Label some sentences as a "
            "test set: a hundred sentences are more informative than a prediction."
        )
        return
    interval = "; too few languages for an interval"
    if estimate.low is not None and estimate.high is not None:
        low, high = points(max(0.0, estimate.low)), points(min(1.0, estimate.high))
        interval = f"; 80 % prediction interval between {low} and {high}"
    yield (
        f"Expected in {verdict.lang}: {points(estimate.expected)}{interval}. The estimate rests on "
        f"{estimate.rests_on}. It is for the model without adaptation: the effect of adaptation cannot be measured "
        "without labelled data."
    )


def _next_steps(verdict: Verdict) -> Section:
    sentences = ["The best model is in the folder model; recipe.yaml recomputes its system with the same numbers."]
    commands, file = ["isogloss run recipe.yaml"], "new.conllu"
    if "transliterated" in verdict.best:
        sentences.append("The model expects Latin script: transliterate the input before annotation.")
        commands.append(f"isogloss transliterate {file} --lang {verdict.lang} --out latin.conllu")
        file = "latin.conllu"
    commands.append(f"isogloss predict model {file} --lang {verdict.lang} --out annotated.conllu")
    return Section("Next steps", tuple(sentences), commands=tuple(commands))


def _points(score: float | None) -> str:
    return "" if score is None else points(score)
