from __future__ import annotations

import itertools
import json
import math
from pathlib import Path

import polars as pl
import pytest

from isogloss.core.errors import UnknownName, UsageError
from isogloss.results.rows.curves import CURVE_COLUMNS, Curves


def curves(model: str = "m", targets: tuple[str, ...] = ("fr", "ru")) -> Curves:
    rows = [
        (
            model,
            "en",
            target,
            index,
            layer,
            "block" if layer else "embedding",
            value,
            value - 0.1,
            value + 0.1,
            9,
            "",
            0,
            0,
        )
        for target in targets
        for index in ("cka", "anc")
        for layer in range(4)
        for value in [math.sin(layer) / (1 + targets.index(target))]
    ]
    return Curves(pl.DataFrame(rows, schema=CURVE_COLUMNS, orient="row"))


def test_a_table_has_a_row_per_pair_and_a_column_per_layer() -> None:
    table = curves().table("cka")
    assert table.columns == ["model", "source", "target", "0", "1", "2", "3"]
    assert table["target"].to_list() == ["fr", "ru"]
    assert table["2"][1] == pytest.approx(math.sin(2) / 2)
    with pytest.raises(UnknownName, match="did you mean 'cka'"):
        curves().table("ckaa")


def test_mean_and_spread_over_pairs() -> None:
    row = curves().mean().filter((pl.col("index") == "anc") & (pl.col("layer") == 1))
    values = [math.sin(1), math.sin(1) / 2]
    assert row["mean"][0] == pytest.approx(sum(values) / 2)
    assert row["spread"][0] == pytest.approx(abs(values[0] - values[1]) / math.sqrt(2))


def test_a_chart_holds_every_point_and_names_its_lines() -> None:
    chart = json.loads(curves().plot().to_json())
    assert [panel["title"] for panel in chart["concat"]] == ["cka", "anc"]
    points = [point for data in chart["datasets"].values() for point in data] if "datasets" in chart else None
    points = points or [p for panel in chart["concat"] for layer in panel["layer"][:1] for p in _values(panel, layer)]
    assert {point["pair"] for point in points} == {"en–fr", "en–ru"}
    assert len(points) == 2 * 2 * 4
    several = curves("a", ("fr",)) + curves("b", ("fr",))
    assert several.plot("cka").to_json().count('"title": "model"') > 0


def of_study(**runs: list[object]) -> Curves:
    """The same curves once for every combination of what runs are called; each run adds 1 to the values."""
    frames = [
        curves().frame.with_columns(pl.col("value") + number, *(pl.lit(one).alias(name) for name, one in named.items()))
        for number, named in enumerate(dict(zip(runs, each, strict=True)) for each in itertools.product(*runs.values()))
    ]
    return Curves(pl.concat(frames))


def test_curves_of_a_study_are_told_apart_by_all_that_differs() -> None:
    study = of_study(study=["s"], changes=["REF", "1-2"], task=["pos", "ner"], seed=[0], when=["before", "after"])
    assert study.labels == ["model", "changes", "task", "when"]
    table = study.table("cka")
    assert table.columns == ["model", "changes", "task", "when", "source", "target", "0", "1", "2", "3"]
    assert len(table) == 2 * 2 * 2 * 2
    row = table.filter(changes="1-2", task="ner", when="before", target="ru")
    assert row["1"].item() == pytest.approx(math.sin(1) / 2 + 6)
    means = study.mean().filter(index="cka", layer=1)
    assert len(means) == 8
    assert set(means["pairs"]) == {2}
    assert means.filter(changes="REF", task="pos", when="after")["mean"].item() == pytest.approx(math.sin(1) * 0.75 + 1)
    for pairs, lines in ((True, 16), (False, 8)):
        chart = json.loads(study.plot("cka", pairs=pairs).to_json())
        name = "changes and task and when" + " and pair" * pairs
        (points,) = chart["datasets"].values()
        assert len(points) == lines * 4
        assert len({point[name] for point in points}) == lines


def test_several_seeds_are_curves_of_their_own() -> None:
    study = of_study(seed=[0, 1])
    assert study.table("anc")["seed"].to_list() == [0, 0, 1, 1]
    assert set(study.mean()["pairs"]) == {2}


def test_what_cannot_be_told_apart_is_refused() -> None:
    study = of_study(run=["a", "b"], task=["pos"])
    for look in (lambda: study.table("cka"), study.mean, study.plot):
        with pytest.raises(UsageError, match="two values of cka of m, en-fr, layer 0: select the rows of one run"):
            look()
    assert len(Curves(study.frame.filter(run="a")).table("cka")) == 2


def _values(panel: dict, layer: dict) -> list[dict]:
    return (layer.get("data") or panel["data"])["values"]


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet", ".json"])
def test_rows_are_written_and_read_back(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"rows{suffix}"
    curves().write(path)
    read = {".csv": pl.read_csv, ".tsv": lambda p: pl.read_csv(p, separator="\t"), ".parquet": pl.read_parquet}
    frame = read.get(suffix, pl.read_json)(path)
    assert frame["value"].to_list() == pytest.approx(curves().frame["value"].to_list())


def test_charts_are_written_as_pictures_and_as_a_page_that_needs_no_network(tmp_path: Path) -> None:
    for suffix, start in ((".svg", b"<svg"), (".png", b"\x89PNG"), (".pdf", b"%PDF")):
        curves().write(tmp_path / f"chart{suffix}")
        assert (tmp_path / f"chart{suffix}").read_bytes().startswith(start)
    curves().write(tmp_path / "chart.html")
    page = (tmp_path / "chart.html").read_text()
    assert 'src="http' not in page
    assert "en–fr" in page


def test_an_unknown_suffix_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"expected one of \.csv"):
        curves().write(tmp_path / "rows.xlsx")


def test_neurons_must_have_been_measured() -> None:
    with pytest.raises(UsageError, match="'anc'"):
        curves().language_neutral()
