"""Significance from predictions: the same examples, answered with and without a change.

A score that is a mean over examples (inference, answers) is tested by the paired t-test on each example's score
averaged over seeds; one made of summed counts (tagged words, attachments, entities) by the permutation test over
the seeds' predictions one after another. So do the authors of cross-lingual adjustment, for inference and answers
and for entities. Note that the latter takes each seed's answer to a sentence for another example; a test that takes
seeds for what they are, `seeds_and_examples`, is what `deltas` reports unless it is asked for the authors'.
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

# by their fields, as predictions carry them in columns such as `accuracy.correct`
COUNTS: dict[frozenset[str], type[Counts]] = {
    frozenset(field.name for field in fields(kind)): kind
    for kind in (AnswerCounts, AttachmentCounts, F1Counts, TagCounts)
}
SCORES = {"token_f1": "f1"}  # metrics whose counts call the score otherwise
ITERATIONS = 1000

ExampleCounts = Mapping[tuple[str, str], pl.DataFrame]  # by run and target: a row of counts per item


def example_counts(predictions: pl.LazyFrame, metric: str, runs: Iterable[str]) -> ExampleCounts:
    """The counts of one metric for every run and target, in the order of the items."""
    columns = [name for name in predictions.collect_schema() if name.startswith(f"{metric}.")]
    if not columns:
        return {}
    place = ["run", "target", "item"]
    wanted = predictions.filter(pl.col("run").is_in(list(runs))).select(*place, *columns)
    parts = wanted.unique(place).sort(place).collect().partition_by("run", "target", as_dict=True)
    return {(str(run), str(target)): _own_fields(part, metric) for (run, target), part in parts.items()}


def example_test(
    metric: str, reference: Sequence[pl.DataFrame | None], changed: Sequence[pl.DataFrame | None]
) -> tuple[float, str] | None:
    """p and the name of the test; one frame of counts per seed on either side. None where predictions lack."""
    sides = _sides(metric, reference, changed)
    if sides is None:
        return None
    a, b, score, means = sides
    if means:
        return paired_t_test(_scores(a, score), _scores(b, score)).p, "t over examples"
    return permutation_test(list(chain(*a)), list(chain(*b)), score, ITERATIONS).p, "permutation of examples"


def example_interval(
    metric: str, reference: Sequence[pl.DataFrame | None], changed: Sequence[pl.DataFrame | None]
) -> tuple[float, float] | None:
    """The 95 % interval of the difference over examples: Student's for means, the bootstrap's for summed counts."""
    sides = _sides(metric, reference, changed)
    if sides is None:
        return None
    a, b, score, means = sides
    if means:
        found = paired_t_test(_scores(a, score), _scores(b, score))
    else:
        found = paired_bootstrap(list(chain(*a)), list(chain(*b)), score, ITERATIONS)
    return found.low, found.high


def seeds_and_examples(
    metric: str, reference: Sequence[pl.DataFrame | None], changed: Sequence[pl.DataFrame | None]
) -> Comparison | None:
    """The difference with an interval and a p that hold for other seeds and other examples (see `metrics.crossed`)."""
    sides = _sides(metric, reference, changed)
    if sides is None:
        return None
    a, b, score, _ = sides
    return crossed_test([influences(seed, score) for seed in a], [influences(seed, score) for seed in b])


Side = list[list[Counts]]  # by seed and example
Score = Callable[[Counts], float]


def _sides(
    metric: str, reference: Sequence[pl.DataFrame | None], changed: Sequence[pl.DataFrame | None]
) -> tuple[Side, Side, Score, bool] | None:
    """The counts of both sides, the score they make, and whether it is the mean of the examples' own."""
    before = [frame for frame in reference if frame is not None]
    after = [frame for frame in changed if frame is not None]
    if len(before) < len(reference) or len(after) < len(changed):
        return None
    kind = COUNTS.get(frozenset(before[0].columns) - {"item"})
    if kind is None or before[0].height < 2:
        return None
    if any(not frame["item"].equals(before[0]["item"]) for frame in [*before, *after]):
        raise UsageError(f"{metric}: the runs to compare have predictions of different items; expected the same")
    a, b = ([_counts(kind, frame) for frame in side] for side in (before, after))
    return a, b, attrgetter(SCORES.get(metric, metric)), _one_each(before[0])


def _scores(side: Side, score: Score) -> list[list[float]]:
    return [[float(score(one)) for one in seed] for seed in side]


def _own_fields(part: pl.DataFrame, metric: str) -> pl.DataFrame:
    """`item` and the counts, without those that another task's metric of the same name has."""
    own = [name for name in part.columns if name.startswith(f"{metric}.") and part[name].null_count() == 0]
    return part.select("item", **{name[len(metric) + 1 :]: pl.col(name) for name in own})


def _counts(kind: type[Counts], frame: pl.DataFrame) -> list[Counts]:
    return [kind(*row) for row in frame.select(list(kind.__dataclass_fields__)).iter_rows()]  # type: ignore[attr-defined]


def _one_each(frame: pl.DataFrame) -> bool:
    """Whether every example counts for one, so that the score is the mean of theirs."""
    return "total" in frame.columns and bool((frame["total"] == 1).all())
