"""The report as one self-contained HTML file: no network, no server.

Its content security policy allows only the inlined scripts, identified by their hashes, and no requests, so that even
markup that escaped escaping could not do anything.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence

import polars as pl

from isogloss import __version__
from isogloss.report.assets import content_policy, page_script, page_style, vega_script
from isogloss.report.chart_data import chart_data
from isogloss.report.charts import VegaSpec, curve_spec, gap_spec, histogram_spec, score_spec
from isogloss.report.examples import examples
from isogloss.report.findings import findings
from isogloss.report.inputs import ReportInputs
from isogloss.report.sections import Section
from isogloss.report.statistics import ReportStatistics, compute_statistics
from isogloss.report.tables import tables
from isogloss.report.templating import render

MAX_PAGE_CELLS = 12_000  # table cells on the page, which the browser has to lay out
MIN_TABLE_CELLS = 300
MAX_LISTED_SEEDS = 50
NOUNS = {"model": "model", "changes": "condition", "task": "task", "source": "source"}


def page(inputs: ReportInputs, statistics: ReportStatistics | None = None, sections: Sequence[Section] = ()) -> str:
    """The HTML of the page; `sections` come before the findings."""
    statistics = statistics or compute_statistics(inputs)
    specs = dict(charts(inputs, statistics.scores))
    data = {**chart_data(inputs, statistics.scores), "examples": examples(inputs, statistics)}
    listed = tables(inputs, statistics)
    shown = {"tables": bool(listed), "charts": bool(specs), "errors": bool(data["examples"])}
    titles = {"findings": "Findings", "tables": "Tables", "charts": "Charts", "errors": "Errors"}
    parts = [
        *((f"part-{number}", section.title, section) for number, section in enumerate(sections, 1)),
        *((id, title, None) for id, title in titles.items() if shown.get(id, True)),
        ("provenance", "Provenance", None),
    ]
    scripts = [*([vega_script()] if specs else []), page_script()]
    seeds = sorted(inputs.results.frame["seed"].unique().to_list())[:MAX_LISTED_SEEDS]
    return render(
        "report.html", title=inputs.title, inputs=inputs, statistics=statistics, parts=parts, tables=listed,
        findings=findings(inputs, statistics), facts=facts_line(inputs), specs=specs, data=data, scripts=scripts,
        max_cells=max(MIN_TABLE_CELLS, MAX_PAGE_CELLS // max(1, len(listed))), seeds=", ".join(map(str, seeds)),
        study=json.dumps(inputs.study, indent=1, ensure_ascii=False) if inputs.study else "",
        policy=content_policy(scripts), style=page_style(), version=__version__,
        written=time.strftime("%Y-%m-%d %H:%M", time.localtime()),
    )  # fmt: skip


def facts_line(inputs: ReportInputs) -> str:
    """How many runs, models, conditions, tasks, sources, targets and seeds there are."""
    frame, curves = inputs.results.frame, inputs.results.curves.frame
    rows = frame if len(frame) else curves  # some studies only measure similarity
    done = rows["run"].drop_nulls().n_unique()
    facts = [f"{done:,} runs"] if done else []
    if inputs.planned is not None and inputs.planned > done:
        facts = [f"{done:,} of {inputs.planned:,} runs"]
    for column, noun in NOUNS.items():
        missing = {None, ""} if column == "task" else {None}  # the unchanged model may be called ""
        number = len(set(rows[column]) - missing)
        facts += [_counted(number, noun)] if number else []
    facts.append(_counted((inputs.results.tests if len(frame) else curves)["target"].n_unique(), "target"))
    if len(frame):
        facts.append(_counted(frame["seed"].n_unique(), "seed"))
    return " · ".join(facts)


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"


def charts(inputs: ReportInputs, scores: pl.DataFrame) -> Iterator[tuple[str, VegaSpec]]:
    """The charts that have data; `scores` as returned by `Results.table`."""
    curves = len(inputs.results.curves.frame)
    if len(scores):
        yield "scores", score_spec()
    if curves:
        yield "curves", curve_spec()
    if curves and len(scores):
        yield "gaps", gap_spec()
    if len(inputs.distances.frame):
        yield "histograms", histogram_spec()
