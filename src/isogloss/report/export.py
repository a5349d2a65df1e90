"""Every table of a report as LaTeX, Markdown and CSV, every figure as SVG, PNG and PDF."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from isogloss.analysis.gap_similarity import gaps_beside_similarity
from isogloss.core.errors import MissingExtra
from isogloss.core.files import atomic_write, atomic_write_binary
from isogloss.report.chart_data import CURVE_SCALE, LONGEST, SCORE_SCALE, chart_data
from isogloss.report.chart_images import ChartImage
from isogloss.report.charts import Spec, curve_spec, gap_spec, histogram_spec, score_spec
from isogloss.report.inputs import ReportInputs
from isogloss.report.sections import Section
from isogloss.report.statistics import ReportStatistics
from isogloss.report.tables import NamedTable, tables
from isogloss.results.tables.formats import latex, write_table
from isogloss.results.tables.tables import POINTS_PER_UNIT

Progress = Callable[[str, int, int], None]  # what, done, of how many
Rows = list[dict[str, Any]]
WIDTH = 560


def export(
    inputs: ReportInputs,
    statistics: ReportStatistics,
    folder: str | os.PathLike[str],
    progress: Progress | None = None,
    sections: Sequence[Section] = (),
) -> list[Path]:
    """The files that were written, in `folder`/tables and `folder`/figures; first those of the sections."""
    parts = [(f"part-{number}", one) for number, one in enumerate(sections, 1)]
    own = [NamedTable(name, one.title, " ".join(one.sentences[:1]), one.table) for name, one in parts if one.table]
    drawn: list[tuple[str, ChartImage | Spec]] = [(name, one.image) for name, one in parts if one.image]
    shown, drawn = [*own, *tables(inputs, statistics)], [*drawn, *figures(inputs, statistics)]
    written = []
    for number, (stem, table) in enumerate(zip(_stems(folder, "tables", [one.name for one in shown]), shown), 1):
        written += _write_table(stem, table)
        if progress:
            progress("tables", number, len(shown))
    for number, (stem, (_, one)) in enumerate(zip(_stems(folder, "figures", [name for name, _ in drawn]), drawn), 1):
        written += _write_figure(stem, one)
        if progress:
            progress("figures", number, len(drawn))
    return written


def _stems(folder: str | os.PathLike[str], kind: str, names: Sequence[str]) -> Iterator[Path]:
    """A file for each name; of names that are alike but for what no file is called, all but the first have a number."""
    times = Counter[str]()
    for name in map(file_name, names):
        times[name] += 1
        yield Path(folder) / kind / (name if times[name] == 1 else f"{name}-{times[name]}")


def _write_table(stem: Path, one: NamedTable) -> list[Path]:
    with atomic_write(stem.with_suffix(".tex")) as file:
        title = one.title if one.title.endswith("?") else f"{one.title}."
        file.write(latex(one.table, caption=f"{title} {one.note}", label=f"tab:{stem.name}"))
    for suffix in (".md", ".csv"):
        write_table(one.table, stem.with_suffix(suffix))
    return [stem.with_suffix(suffix) for suffix in (".tex", ".md", ".csv")]


def _write_figure(stem: Path, drawn: ChartImage | Spec) -> list[Path]:
    written = []
    for suffix, content in _pictures(drawn):
        written.append(stem.with_suffix(suffix))
        with atomic_write_binary(written[-1]) as file:
            file.write(content)
    return written


def file_name(name: str) -> str:
    """A name that is safe in any folder.

    >>> file_name("similarity-svcca(20)"), file_name("../../x")
    ('similarity-svcca-20', 'x')
    """
    return re.sub(r"[^\w]+", "-", name, flags=re.ASCII).strip("-")[:100] or "unnamed"


def figures(inputs: ReportInputs, statistics: ReportStatistics) -> Iterator[tuple[str, Spec]]:
    """The charts of the page, one for each experiment that it lets one choose."""
    data = chart_data(inputs, statistics.scores)
    names, groups = data["targets"], dict[str, Rows]()
    for one in data["scores"]:
        group = "-".join(
            ["scores", *_telling(one, data["scores"], ("study", "model", "source")), one["task"], one["metric"]]
        )
        groups.setdefault(group, []).extend(_score_rows(one, names))
    yield from ((name, _filled(score_spec(), rows)) for name, rows in groups.items())
    for one in data["curves"]:
        told = _telling(one, data["curves"], ("study", "model", "source", "changes", "task"))
        yield "-".join(["similarity", one["index"], *told, one["when"]]), _filled(curve_spec(), _curve_rows(one, names))
    yield from _gaps(inputs, statistics)
    for series_name in dict.fromkeys(row["series"] for row in data["histograms"]):
        rows = [row for row in data["histograms"] if row["series"] == series_name]
        yield f"histogram-{series_name}", _filled(histogram_spec(), rows)


def _telling(one: dict[str, Any], every: Rows, columns: tuple[str, ...]) -> list[str]:
    return [str(one[name]) for name in columns if one[name] and len({str(other[name]) for other in every}) > 1]


def _score_rows(one: dict[str, Any], names: list[str]) -> Rows:
    rows = []
    for target, mean, sd in zip(one["target"], one["mean"], one["sd"], strict=True):
        score, spread = POINTS_PER_UNIT * mean / SCORE_SCALE, POINTS_PER_UNIT * (sd or 0) / SCORE_SCALE
        facts = {"target": names[target], "change": one["changes"] or "no change", "experiment": one["task"]}
        rows.append({**facts, "score": score, "low": score - spread, "high": score + spread})
    return rows


def _curve_rows(one: dict[str, Any], names: list[str]) -> Rows:
    rows = []
    for number, target in enumerate(one["target"]):
        lists = [one.get(name, one["value"])[number] for name in ("value", "low", "high")]
        for layer, stage, *numbers in zip(one["layer"], one["stage"], *lists, strict=True):
            if None not in numbers:
                value, low, high = (number / CURVE_SCALE for number in numbers)
                facts = {"target": names[target], "experiment": one["when"], "layer": layer, "stage": stage or "block"}
                rows.append({**facts, "value": value, "low": low, "high": high})
    return rows


def _gaps(inputs: ReportInputs, statistics: ReportStatistics) -> Iterator[tuple[str, Spec]]:
    """The gap of each target against its similarity, mean over layers."""
    if statistics.correlations.is_empty():
        return
    curves = inputs.results.curves.frame.with_columns(pl.col("when").fill_null("before"))
    beside = gaps_beside_similarity(inputs.results.frame, curves).filter(pl.col("layer").is_null())
    beside = beside.filter(pl.col("metric") == pl.col("task").replace_strict(statistics.main_metrics))
    key = ["study", "model", "changes", "source", "task", "metric", "index", "when"]
    told = [name for name in key if beside[name].n_unique() > 1]
    for values, rows in beside.group_by(key, maintain_order=True):
        named = dict(zip(key, map(str, values), strict=True))
        shown = rows.select(
            pl.col("target").str.slice(0, LONGEST), "similarity", gap=pl.col("gap") * POINTS_PER_UNIT
        ).with_columns(experiment=pl.lit(""), name="target")
        yield "-".join(["gap", *(named[name] for name in told)]), _filled(gap_spec(), shown.to_dicts())


def _filled(spec: Spec, rows: Rows) -> Spec:
    """The chart with its rows. Only a page has several experiments in one chart: no legend tells them apart."""
    layers = [_without_experiments(layer) for layer in spec.get("layer", ())]
    return {**spec, **({"layer": layers} if layers else {}), "width": WIDTH, "datasets": {"rows": rows}}


def _without_experiments(layer: Spec) -> Spec:
    encoding = layer["encoding"]
    return {**layer, "encoding": {name: one for name, one in encoding.items() if one.get("field") != "experiment"}}


def _pictures(drawn: ChartImage | Spec) -> Iterator[tuple[str, bytes]]:
    try:
        import vl_convert
    except ImportError:
        raise MissingExtra("vl-convert-python", "figures") from None
    convert: Any = vl_convert
    svg = drawn.svg if isinstance(drawn, ChartImage) else convert.vegalite_to_svg(drawn)
    yield ".svg", svg.encode()
    yield ".png", convert.svg_to_png(svg, scale=2)
    yield ".pdf", convert.svg_to_pdf(svg)
