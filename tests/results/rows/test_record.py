from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from isogloss.core.errors import UnknownName, UsageError
from isogloss.results.rows.results import RESULT_COLUMNS, Results

FACTS = {"study": "", "model": "bert", "changes": "", "task": "parse", "source": "en", "n": 10}


def results(scores: dict[tuple[str, str, str, int], float], **facts: str) -> Results:
    """From scores by target, split, metric and seed."""
    rows = [
        {**FACTS, **facts, "run": f"{facts} {seed}", "target": target, "split": split}
        | {"metric": metric, "seed": seed, "value": value}
        for (target, split, metric, seed), value in scores.items()
    ]
    return Results(pl.DataFrame(rows, schema=RESULT_COLUMNS), pl.DataFrame({"las.words": [3]}).lazy())


TWO_SEEDS = results(
    {
        ("fr", "test", "las", 0): 0.5,
        ("en", "test", "las", 0): 0.9,
        ("en", "dev", "las", 0): 0.95,
        ("fr", "test", "las", 1): 0.6,
        ("en", "test", "las", 1): 0.8,
        ("en", "dev", "las", 1): 0.99,
    }
)
DEV_ONLY = results({("fr", "test", "uas", 0): 0.5, ("en", "dev", "uas", 0): 0.75}, changes="reinit")


def test_the_table_holds_mean_deviation_and_gap() -> None:
    french, english = TWO_SEEDS.table().iter_rows(named=True)
    assert (french["target"], french["metric"], french["seeds"], french["n"]) == ("fr", "las", 2, 10)
    assert french["mean"] == pytest.approx(0.55)
    assert french["sd"] == pytest.approx(0.0707106781)  # of the sample: |0.5 - 0.6| / √2
    assert french["gap"] == pytest.approx(0.3)  # mean of 0.4 and 0.2
    assert french["gap_sd"] == pytest.approx(0.1414213562)
    assert english["gap"] == 0


def test_the_gap_is_to_the_dev_set_where_the_source_has_no_test_set() -> None:
    assert DEV_ONLY.gap()["gap"].to_list() == [0.25]
    assert DEV_ONLY.table()["sd"].to_list() == [None]


def test_results_add_up_and_stay_apart() -> None:
    both = TWO_SEEDS + DEV_ONLY
    assert both.metrics == ["las", "uas"]
    assert both.gap().select("changes", "target", "seeds").rows() == [("", "fr", 2), ("reinit", "fr", 1)]
    assert both.gap("uas").height == 1
    assert both.predictions.collect().height == 2
    assert (Results(TWO_SEEDS.frame) + DEV_ONLY).predictions.collect().height == 1
    with pytest.raises(UnknownName, match="did you mean 'las'"):
        both.table("lass")


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet", ".json", ".svg"])
def test_written_as_rows_or_as_a_chart(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"results{suffix}"
    (TWO_SEEDS + DEV_ONLY).write(path)
    assert path.stat().st_size > 100
    if suffix == ".parquet":
        assert pl.read_parquet(path).equals((TWO_SEEDS + DEV_ONLY).frame)
    if suffix == ".svg":
        assert ">las<" in path.read_text(encoding="utf-8")


def test_an_unknown_suffix_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="expected one of"):
        TWO_SEEDS.write(tmp_path / "results.doc")


def test_the_chart_shows_every_seed_of_the_test_sets() -> None:
    chart = TWO_SEEDS.plot("las").to_dict()
    assert sorted(row["value"] for row in next(iter(chart["datasets"].values()))) == [0.5, 0.6, 0.8, 0.9]
