from __future__ import annotations

import polars as pl

from isogloss.results.rows.curves import CURVE_COLUMNS, SHAPE_COLUMNS, Curves
from isogloss.results.rows.study_results import RUN_COLUMNS
from isogloss.results.tables.curve_summary import MAX_ROWS, curve_table

SHAPE = {"before": [0.1, 0.5, 0.3], "after": [0.2, 0.4, 0.9]}


def rows(value: float = 0.0, target: str = "fr", seed: int = 0, **names: str) -> list[dict[str, object]]:
    """Two curves of three layers and a final norm, higher by `value`."""
    same = {"model": "m", "study": "s", "run": "r", "changes": "REF", "task": "pos", "source": "en", "index": "cka"}
    return [
        {**same, "target": target, "seed": seed, "when": when, "layer": layer, "stage": stage, "value": one, **names}
        for when, curve in SHAPE.items()
        for layer, stage, one in [
            *((layer, "block", point + value) for layer, point in enumerate(curve)),
            (2, "final norm", 1.0),
        ]
    ]


def shown(found: list[dict[str, object]]) -> list[list[str]]:
    frame = pl.DataFrame(found, schema={**CURVE_COLUMNS, **RUN_COLUMNS})
    table = curve_table(Curves(frame))
    return [list(table.head), *([cell.text for cell in row] for row in table.body)]


def test_first_best_and_last_layer_before_and_after() -> None:
    assert shown(rows()) == [
        ["source-target", "index", *(f"{when} {at}" for when in SHAPE for at in ("first", "best", "last"))],
        ["en-fr", "cka", "0.10", "0.50 (1)", "0.30", "0.20", "0.90 (2)", "0.90"],
    ]


def test_what_differs_is_told_and_seeds_are_averaged() -> None:
    several = [*rows(seed=0), *rows(0.1, seed=1), *rows(0.2, changes="1-2"), *rows(0.4, changes="1-2", seed=1)]
    head, first, second = shown(several)
    assert head[:3] == ["changes", "source-target", "index"]
    assert first[:5] == ["REF", "en-fr", "cka", "0.15", "0.55 (1)"]
    assert second[:5] == ["1-2", "en-fr", "cka", "0.40", "0.80 (1)"]


def test_before_fine_tuning_is_of_no_task() -> None:
    both = [row for task in ("pos", "ner") for row in rows(task=task) if row["when"] == "before"]
    head, *body = shown(both)
    assert head == ["source-target", "index", "first layer", "best layer", "last layer"]
    assert body == [["en-fr", "cka", "0.10", "0.50 (1)", "0.30"]]


def test_many_pairs_are_shown_as_their_mean() -> None:
    many = [row for number in range(MAX_ROWS + 1) for row in rows(number % 2 / 10, target=f"t{number}")]
    assert len(shown(many[: 8 * MAX_ROWS])) == 1 + MAX_ROWS
    assert [row[:3] for row in shown(many)[1:]] == [["en-X", "cka", "0.15"]]


def test_layers_without_a_value_are_passed_over() -> None:
    damaged = [{**row, "value": float("nan")} if row["layer"] == 1 else row for row in rows()]
    assert shown(damaged)[1][2:5] == ["0.10", "0.30 (2)", "0.30"]


def test_verdicts_stand_beside_their_curves_and_are_counted_over_seeds() -> None:
    labels = {"model": "m", "source": "en", "index": "cka"}
    shapes = [
        {**labels, "target": "fr", "verdict": verdict, "seed": seed, "when": when}
        for seed, when, verdict in [(0, "before", "yes"), (1, "before", "yes"), (0, "after", "yes"), (1, "after", "no")]
    ]
    frame = pl.DataFrame([*rows(seed=0), *rows(seed=1)], schema={**CURVE_COLUMNS, **RUN_COLUMNS})
    table = curve_table(Curves(frame, shapes=pl.DataFrame(shapes, schema={**SHAPE_COLUMNS, **RUN_COLUMNS})))
    assert table.head[-2:] == ("before verdict", "after verdict")
    assert [cell.text for cell in table.body[0][-2:]] == ["yes", "yes 1, no 1"]
