from __future__ import annotations

import json
import math
from pathlib import Path

import polars as pl
import pytest

from isogloss.core.errors import UnknownName, UsageError
from isogloss.results.curves import CURVE_COLUMNS, Curves


def curves(model: str = "m", targets: tuple[str, ...] = ("fr", "ru")) -> Curves:
    rows = [
        (model, "en", target, index, layer, "block" if layer else "embedding", value, value - 0.1, value + 0.1, 9, "")
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
