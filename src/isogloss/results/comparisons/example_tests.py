"""Significance tests from predictions: the same examples, predicted by the reference and by another condition.

A score that is a mean over examples (inference, answers) is tested by the paired t-test on each example's score
averaged over seeds; a score of summed counts (tagged words, attachments, entities) by the permutation test over the
concatenated predictions of the seeds. The authors of cross-lingual adjustment do the same for inference and answers,
and for entities. Note that the latter treats each seed's answer to a sentence as another example; `deltas` reports by
default `seeds_and_examples`, which treats seeds and examples as crossed random effects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from itertools import chain
from operator import attrgetter

import polars as pl

from isogloss.core.errors import UsageError
from isogloss.metrics.answers import AnswerCounts
from isogloss.metrics.attachment import AttachmentCounts
from isogloss.metrics.counts import Counts
from isogloss.metrics.crossed import crossed_test, influences
from isogloss.metrics.significance import Comparison, paired_bootstrap, paired_t_test, permutation_test
from isogloss.metrics.spans import F1Counts
from isogloss.metrics.tagging import TagCounts


def field_names(kind: type[Counts]) -> list[str]:
    return [field.name for field in fields(kind)]  # type: ignore[arg-type]  # every subclass is a dataclass


# predictions have the fields of counts in columns such as `accuracy.correct`
COUNTS_BY_FIELDS: dict[frozenset[str], type[Counts]] = {
    frozenset(field_names(kind)): kind for kind in (AnswerCounts, AttachmentCounts, F1Counts, TagCounts)
}
SCORE_NAMES = {"token_f1": "f1"}  # metrics whose counts name the score differently
RESAMPLING_ITERATIONS = 1000
REFINED_ITERATIONS = 10_000  # where the first p is the smallest possible: a correction for 100 tests needs smaller ones

ExampleCounts = Mapping[tuple[str, str], pl.DataFrame]  # by run and target: one row of counts per item
SeedFrames = Sequence[pl.DataFrame | None]  # counts by seed; None without predictions
SeedCounts = list[list[Counts]]  # by seed and example
Score = Callable[[Counts], float]


def example_counts(predictions: pl.LazyFrame, metric: str, runs: Iterable[str]) -> ExampleCounts:
    """The counts of one metric for every run and target, ordered by item."""
    columns = [name for name in predictions.collect_schema() if name.startswith(f"{metric}.")]
    if not columns:
        return {}
    key = ["run", "target", "item"]
    rows = predictions.filter(pl.col("run").is_in(list(runs))).select(*key, *columns)
    parts = rows.unique(key).sort(key).collect().partition_by("run", "target", as_dict=True)
    return {(str(run), str(target)): _count_fields(part, metric) for (run, target), part in parts.items()}


def with_item_scores(predictions: pl.DataFrame, metric: str) -> pl.DataFrame:
    """The rows with `score`, 0 to 1; null for items without counts of the metric.

    >>> rows = pl.DataFrame({"accuracy.correct": [1, 4], "accuracy.total": [4, 4]})
    >>> with_item_scores(rows, "accuracy")["score"].to_list()
    [0.25, 1.0]
    """
    columns = [name for name in predictions.columns if name.startswith(f"{metric}.")]
    fields = {name[len(metric) + 1 :]: name for name in columns if predictions[name].count()}
    kind = COUNTS_BY_FIELDS.get(frozenset(fields))
    if kind is None:
        return predictions.with_columns(score=pl.lit(None, pl.Float64))
    names, score = [fields[name] for name in field_names(kind)], _score_of(metric)
    values = [None if None in row else float(score(kind(*row))) for row in predictions.select(names).iter_rows()]
    return predictions.with_columns(score=pl.Series(values, dtype=pl.Float64))


def example_test(
    metric: str, reference: SeedFrames, changed: SeedFrames, *, refined: bool = True
) -> tuple[float, str] | None:
    """p and the name of the test; one frame of counts per seed on either side. None without predictions.

    With `refined`, a permutation test whose p is the smallest possible is repeated with more iterations.
    """
    if (sides := _sides(metric, reference, changed)) is None:
        return None
    a, b, score, is_mean = sides
    if is_mean:
        return paired_t_test(_scores(a, score), _scores(b, score)).p, "t over examples"
    before, after = list(chain(*a)), list(chain(*b))
    p = permutation_test(before, after, score, RESAMPLING_ITERATIONS).p
    if refined and p < 2 / RESAMPLING_ITERATIONS:
        p = permutation_test(before, after, score, REFINED_ITERATIONS).p
    return p, "permutation of examples"


def example_interval(metric: str, reference: SeedFrames, changed: SeedFrames) -> tuple[float, float] | None:
    """The 95 % interval of the difference over examples: Student's for means, bootstrap for summed counts."""
    if (sides := _sides(metric, reference, changed)) is None:
        return None
    a, b, score, is_mean = sides
    if is_mean:
        compared = paired_t_test(_scores(a, score), _scores(b, score))
    else:
        compared = paired_bootstrap(list(chain(*a)), list(chain(*b)), score, RESAMPLING_ITERATIONS)
    return compared.low, compared.high


def seeds_and_examples(metric: str, reference: SeedFrames, changed: SeedFrames) -> Comparison | None:
    """The difference with an interval and a p that hold for other seeds and examples (see `metrics.crossed`)."""
    if (sides := _sides(metric, reference, changed)) is None:
        return None
    a, b, score, _ = sides
    return crossed_test([influences(seed, score) for seed in a], [influences(seed, score) for seed in b])


def _sides(
    metric: str, reference: SeedFrames, changed: SeedFrames
) -> tuple[SeedCounts, SeedCounts, Score, bool] | None:
    """The counts of both sides, their score, and whether it is the mean of the scores of the examples."""
    before = [frame for frame in reference if frame is not None]
    after = [frame for frame in changed if frame is not None]
    if len(before) < len(reference) or len(after) < len(changed):
        return None
    kind = COUNTS_BY_FIELDS.get(frozenset(before[0].columns) - {"item"})
    if kind is None or before[0].height < 2:
        return None
    if any(not frame["item"].equals(before[0]["item"]) for frame in [*before, *after]):
        raise UsageError(f"{metric}: the compared runs have predictions of different items; expected the same items")
    names = field_names(kind)
    a, b = ([[kind(*row) for row in frame.select(names).iter_rows()] for frame in side] for side in (before, after))
    each_counts_once = "total" in names and bool((before[0]["total"] == 1).all())
    return a, b, _score_of(metric), each_counts_once


def _score_of(metric: str) -> Score:
    return attrgetter(SCORE_NAMES.get(metric, metric))


def _scores(side: SeedCounts, score: Score) -> list[list[float]]:
    return [[float(score(counts)) for counts in seed] for seed in side]


def _count_fields(part: pl.DataFrame, metric: str) -> pl.DataFrame:
    """`item` and the counts, without the fields of another task's metric of the same name."""
    columns = [name for name in part.columns if name.startswith(f"{metric}.") and part[name].null_count() == 0]
    return part.select("item", **{name[len(metric) + 1 :]: pl.col(name) for name in columns})
