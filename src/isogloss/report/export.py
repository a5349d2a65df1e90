"""Every table of a report as LaTeX, Markdown and CSV, every figure as SVG, PNG and PDF."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import polars as pl

from isogloss.analysis.gap_similarity import gaps_beside_similarity
from isogloss.core.files import atomic_write_binary
from isogloss.report.chart_data import MAX_NAME_CHARACTERS, ChartData, CurveSeries, Integers, ScoreSeries, chart_data
from isogloss.report.charts import curve_spec, gap_spec, histogram_spec, score_spec
from isogloss.report.inputs import ReportInputs
from isogloss.report.sections import ChartImage, Section
from isogloss.report.statistics import ReportStatistics
from isogloss.report.tables import NamedTable, tables
from isogloss.results.figures.vega import VegaSpec, vega_converter
from isogloss.results.rows.curves import CURVE_VALUES
from isogloss.results.rows.results import NO_INTERVENTION, gap_heading
from isogloss.results.tables.formats import comma_separated, latex, markdown
from isogloss.results.tables.points import POINTS_PER_UNIT

Progress = Callable[[str, int, int], None]  # what is written, number done, total
ChartRow = Mapping[str, object]
FileContents = dict[str, bytes]  # by suffix
T = TypeVar("T")
FIGURE_WIDTH = 560  # pixels
PNG_SCALE = 2


def export(
    inputs: ReportInputs,
    statistics: ReportStatistics,
    folder: str | os.PathLike[str],
    progress: Progress | None = None,
    sections: Sequence[Section] = (),
) -> list[Path]:
    """Write `folder`/tables and `folder`/figures, those of the sections first; returns the paths."""
    parts = [(f"part-{number}", section) for number, section in enumerate(sections, 1)]
    exported_tables = [
        *(NamedTable(name, part.title, " ".join(part.sentences[:1]), part.table) for name, part in parts if part.table),
        *tables(inputs, statistics),
    ]
    exported_figures: list[tuple[str, ChartImage | VegaSpec]] = [
        *((name, part.image) for name, part in parts if part.image),
        *figures(inputs, statistics),
    ]
    named_tables = [(table.name, table) for table in exported_tables]
    return [
        *_write_all(Path(folder) / "tables", named_tables, _table_files, progress),
        *_write_all(Path(folder) / "figures", exported_figures, _figure_files, progress),
    ]


def _write_all(
    folder: Path, items: Sequence[tuple[str, T]], encode: Callable[[T, str], FileContents], progress: Progress | None
) -> list[Path]:
    """Write the files of each named item; names that give the same file name are numbered."""
    times, written = Counter[str](), []
    for number, (name, item) in enumerate(items, 1):
        stem = file_name(name)
        times[stem] += 1
        stem += f"-{times[stem]}" if times[stem] > 1 else ""
        for suffix, content in encode(item, stem).items():
            written.append(folder / f"{stem}{suffix}")
            with atomic_write_binary(written[-1]) as file:
                file.write(content)
        if progress:
            progress(folder.name, number, len(items))
    return written


def _table_files(table: NamedTable, stem: str) -> FileContents:
    tex = latex(table.table, caption=f"{table.title}. {table.note}", label=f"tab:{stem}")
    texts = {".tex": tex, ".md": markdown(table.table), ".csv": comma_separated(table.table)}
    return {suffix: text.encode() for suffix, text in texts.items()}


def _figure_files(figure: ChartImage | VegaSpec, stem: str) -> FileContents:
    convert = vega_converter()
    svg = figure.svg if isinstance(figure, ChartImage) else convert.vegalite_to_svg(figure)
    return {".svg": svg.encode(), ".png": convert.svg_to_png(svg, scale=PNG_SCALE), ".pdf": convert.svg_to_pdf(svg)}


def file_name(name: str) -> str:
    """A name that is safe in any folder.

    >>> file_name("similarity-svcca(20)"), file_name("../../x")
    ('similarity-svcca-20', 'x')
    """
    return re.sub(r"[^\w]+", "-", name, flags=re.ASCII).strip("-")[:100] or "unnamed"


def figures(inputs: ReportInputs, statistics: ReportStatistics) -> Iterator[tuple[str, VegaSpec]]:
    """The charts of the page, one for each experiment that can be selected there."""
    data = chart_data(inputs, statistics.scores)
    groups: dict[str, list[ChartRow]] = {}
    for scores in data["scores"]:
        names = _distinct_values(scores, data["scores"], ("study", "model", "source"))
        group = "-".join(["scores", *names, scores["task"], scores["metric"]])
        groups.setdefault(group, []).extend(_score_rows(scores, data))
    yield from ((name, _with_rows(score_spec(), rows)) for name, rows in groups.items())
    for curve in data["curves"]:
        names = _distinct_values(curve, data["curves"], ("study", "model", "source", "changes", "task"))
        name = "-".join(["similarity", curve["index"], *names, curve["when"]])
        yield name, _with_rows(curve_spec(), _curve_rows(curve, data))
    yield from _gap_figures(inputs, statistics)
    for series in dict.fromkeys(row["series"] for row in data["histograms"]):
        rows = [row for row in data["histograms"] if row["series"] == series]
        yield f"histogram-{series}", _with_rows(histogram_spec(), rows)


def _distinct_values(
    series: Mapping[str, object], all_series: Sequence[Mapping[str, object]], names: tuple[str, ...]
) -> list[str]:
    """The values of a series by which it differs from others."""
    return [str(series[name]) for name in names if series[name] and len({str(other[name]) for other in all_series}) > 1]


def _score_rows(series: ScoreSeries, data: ChartData) -> list[ChartRow]:
    rows: list[ChartRow] = []
    for target, mean, sd in zip(series["target"], series["mean"], series["sd"], strict=True):
        score, spread = (POINTS_PER_UNIT * (value or 0) / data["scales"]["scores"] for value in (mean, sd))
        labels = {"target": data["targets"][target], "interventions": series["changes"] or NO_INTERVENTION}
        numbers = {"score": score} | ({} if sd is None else {"low": score - spread, "high": score + spread})
        rows.append({**labels, "experiment": series["task"], **numbers})
    return rows


def _curve_rows(series: CurveSeries, data: ChartData) -> list[ChartRow]:
    rows: list[ChartRow] = []
    missing: list[Integers] = [[None] * len(series["layer"])] * len(series["target"])
    lists = (series["value"], series.get("low", missing), series.get("high", missing))
    for target, *values in zip(series["target"], *lists, strict=True):
        for layer, stage, *numbers in zip(series["layer"], series["stage"], *values, strict=True):
            named = dict(zip(CURVE_VALUES, numbers, strict=True))
            scaled = {name: number / data["scales"]["curves"] for name, number in named.items() if number is not None}
            if "value" in scaled:
                labels = {"target": data["targets"][target], "experiment": series["when"], "stage": stage or "block"}
                rows.append({**labels, "layer": layer, **scaled})
    return rows


def _gap_figures(inputs: ReportInputs, statistics: ReportStatistics) -> Iterator[tuple[str, VegaSpec]]:
    """The gap of each target against its similarity, averaged over layers."""
    if statistics.correlations.is_empty():
        return
    curves = inputs.results.curves.frame.with_columns(pl.col("when").fill_null("before"))
    gaps = gaps_beside_similarity(inputs.results.frame, curves).filter(pl.col("layer").is_null())
    gaps = gaps.filter(pl.col("metric") == pl.col("task").replace_strict(statistics.main_metrics))
    key = ["study", "model", "changes", "source", "task", "metric", "index", "when"]
    distinct = [name for name in key if gaps[name].n_unique() > 1]
    for values, rows in gaps.group_by(key, maintain_order=True):
        properties = dict(zip(key, map(str, values), strict=True))
        target, gap = pl.col("target").str.slice(0, MAX_NAME_CHARACTERS), pl.col("gap") * POINTS_PER_UNIT
        heading = gap_heading(rows["gap_to"])
        points = rows.select(target, "similarity", gap=gap).with_columns(experiment=pl.lit(""), name="target")
        name = "-".join(["gap", *(properties[name] for name in distinct)])
        yield name, _with_rows(gap_spec(heading), points.to_dicts())


def _with_rows(spec: VegaSpec, rows: Sequence[ChartRow]) -> VegaSpec:
    """The chart with its data. Only a page compares experiments in one chart, so their legend is removed."""
    layers = [_without_experiments(layer) for layer in spec.get("layer", ())]
    if not any("low" in row for row in rows):
        layers = [layer for layer in layers if layer.get("name") != "interval"]
    return {**spec, **({"layer": layers} if layers else {}), "width": FIGURE_WIDTH, "datasets": {"rows": rows}}


def _without_experiments(layer: VegaSpec) -> VegaSpec:
    encoding = {name: channel for name, channel in layer["encoding"].items() if channel.get("field") != "experiment"}
    return {**layer, "encoding": encoding}
