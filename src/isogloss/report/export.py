"""Every table of a report as LaTeX, Markdown and CSV, every figure as SVG, PNG and PDF."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import polars as pl

from isogloss.analysis.gap_similarity import gaps_beside_similarity
from isogloss.core.files import atomic_write, atomic_write_binary
from isogloss.report.chart_data import (
    CURVE_SCALE,
    MAX_TARGET_CHARACTERS,
    SCORE_SCALE,
    CurveSeries,
    ScoreSeries,
    chart_data,
)
from isogloss.report.chart_images import ChartImage
from isogloss.report.charts import curve_spec, gap_spec, histogram_spec, score_spec
from isogloss.report.inputs import ReportInputs
from isogloss.report.sections import Section
from isogloss.report.statistics import ReportStatistics
from isogloss.report.tables import NamedTable, tables
from isogloss.results.figures.vega import VegaSpec, vega_converter
from isogloss.results.rows.results import NO_INTERVENTION
from isogloss.results.tables.formats import latex, write_table
from isogloss.results.tables.points import POINTS_PER_UNIT

Progress = Callable[[str, int, int], None]  # what is written, number done, total
ChartRow = Mapping[str, object]
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
    written = []
    table_paths = _unique_paths(Path(folder) / "tables", [table.name for table in exported_tables])
    for number, (path, table) in enumerate(zip(table_paths, exported_tables), 1):
        written += _write_table(path, table)
        if progress:
            progress("tables", number, len(exported_tables))
    figure_paths = _unique_paths(Path(folder) / "figures", [name for name, _ in exported_figures])
    for number, (path, (_, figure)) in enumerate(zip(figure_paths, exported_figures), 1):
        written += _write_figure(path, figure)
        if progress:
            progress("figures", number, len(exported_figures))
    return written


def _unique_paths(folder: Path, names: Sequence[str]) -> Iterator[Path]:
    """A path without suffix for each name; names that give the same file name are numbered."""
    times = Counter[str]()
    for name in map(file_name, names):
        times[name] += 1
        yield folder / (name if times[name] == 1 else f"{name}-{times[name]}")


def _write_table(path: Path, table: NamedTable) -> list[Path]:
    with atomic_write(path.with_suffix(".tex")) as file:
        file.write(latex(table.table, caption=f"{table.title}. {table.note}", label=f"tab:{path.name}"))
    for suffix in (".md", ".csv"):
        write_table(table.table, path.with_suffix(suffix))
    return [path.with_suffix(suffix) for suffix in (".tex", ".md", ".csv")]


def _write_figure(path: Path, figure: ChartImage | VegaSpec) -> list[Path]:
    convert = vega_converter()
    svg = figure.svg if isinstance(figure, ChartImage) else convert.vegalite_to_svg(figure)
    images = {".svg": svg.encode(), ".png": convert.svg_to_png(svg, scale=PNG_SCALE), ".pdf": convert.svg_to_pdf(svg)}
    for suffix, content in images.items():
        with atomic_write_binary(path.with_suffix(suffix)) as file:
            file.write(content)
    return [path.with_suffix(suffix) for suffix in images]


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
        groups.setdefault(group, []).extend(_score_rows(scores, data["targets"]))
    yield from ((name, _with_rows(score_spec(), rows)) for name, rows in groups.items())
    for curve in data["curves"]:
        names = _distinct_values(curve, data["curves"], ("study", "model", "source", "changes", "task"))
        name = "-".join(["similarity", curve["index"], *names, curve["when"]])
        yield name, _with_rows(curve_spec(), _curve_rows(curve, data["targets"]))
    yield from _gap_figures(inputs, statistics)
    for series in dict.fromkeys(row["series"] for row in data["histograms"]):
        rows = [row for row in data["histograms"] if row["series"] == series]
        yield f"histogram-{series}", _with_rows(histogram_spec(), rows)


def _distinct_values(
    series: Mapping[str, object], all_series: Sequence[Mapping[str, object]], names: tuple[str, ...]
) -> list[str]:
    """The values of a series by which it differs from others."""
    return [str(series[name]) for name in names if series[name] and len({str(other[name]) for other in all_series}) > 1]


def _score_rows(series: ScoreSeries, targets: list[str]) -> list[ChartRow]:
    rows: list[ChartRow] = []
    for target, mean, sd in zip(series["target"], series["mean"], series["sd"], strict=True):
        score, spread = (POINTS_PER_UNIT * (value or 0) / SCORE_SCALE for value in (mean, sd))
        labels = {"target": targets[target], "interventions": series["changes"] or NO_INTERVENTION}
        numbers = {"score": score, "low": score - spread, "high": score + spread}
        rows.append({**labels, "experiment": series["task"], **numbers})
    return rows


def _curve_rows(series: CurveSeries, targets: list[str]) -> list[ChartRow]:
    rows: list[ChartRow] = []
    lists = (series["value"], series.get("low", series["value"]), series.get("high", series["value"]))
    for target, *values in zip(series["target"], *lists, strict=True):
        for layer, stage, *numbers in zip(series["layer"], series["stage"], *values, strict=True):
            known = [number / CURVE_SCALE for number in numbers if number is not None]
            if len(known) == len(numbers):
                labels = {"target": targets[target], "experiment": series["when"], "stage": stage or "block"}
                rows.append({**labels, "layer": layer, **dict(zip(("value", "low", "high"), known, strict=True))})
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
        target, gap = pl.col("target").str.slice(0, MAX_TARGET_CHARACTERS), pl.col("gap") * POINTS_PER_UNIT
        points = rows.select(target, "similarity", gap=gap).with_columns(experiment=pl.lit(""), name="target")
        name = "-".join(["gap", *(properties[name] for name in distinct)])
        yield name, _with_rows(gap_spec(), points.to_dicts())


def _with_rows(spec: VegaSpec, rows: Sequence[ChartRow]) -> VegaSpec:
    """The chart with its data. Only a page compares experiments in one chart, so their legend is removed."""
    layers = [_without_experiments(layer) for layer in spec.get("layer", ())]
    return {**spec, **({"layer": layers} if layers else {}), "width": FIGURE_WIDTH, "datasets": {"rows": rows}}


def _without_experiments(layer: VegaSpec) -> VegaSpec:
    encoding = {name: channel for name, channel in layer["encoding"].items() if channel.get("field") != "experiment"}
    return {**layer, "encoding": encoding}
