"""The view of each route.

Studies and runs are named in the query and looked up in the records of the store: no part of a request becomes a path.
Templates escape every value.
"""

from __future__ import annotations

import contextlib
import itertools
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter

from flask import Response, abort, jsonify, render_template, request, url_for

from isogloss.core.errors import UsageError
from isogloss.core.registry import check_name
from isogloss.explorer import comparison, downloads, runs, sentences
from isogloss.explorer.snapshot import Snapshot
from isogloss.explorer.store_index import StoreIndex
from isogloss.report.chart_data import chart_data
from isogloss.report.export import file_name
from isogloss.report.inputs import ReportInputs
from isogloss.report.page import charts
from isogloss.results.rows.files import encode_rows
from isogloss.results.rows.study_results import StudyResults
from isogloss.results.tables.cell_colours import legend
from isogloss.store.running_jobs import running
from isogloss.store.study_records import Record, Run

RunList = tuple[list[runs.RunRow], Counter[str], dict[str, list[str]]]  # rows, number by state, facets
Values = dict[str, object]  # of the variables of a template
NO_CHARTS: Values = {"data": {"examples": []}, "specs": {}}
POOLED = "pooled"
MAX_CACHED_TESTS = 4096  # cells


@dataclass(frozen=True)
class TestedTable:
    """What the tests of a comparison page depend on; `version` of the store: results change when a run finishes."""

    runs: tuple[str, ...]
    metric: str
    conditions: tuple[comparison.Condition, ...]
    targets: tuple[str, ...]
    version: int


class Views:
    def __init__(self, index: StoreIndex):
        self.index = index
        self._cached_runs = lru_cache(maxsize=64)(self._list_runs)
        self._cached_tests = lru_cache(maxsize=MAX_CACHED_TESTS)(self._significance)

    def studies(self) -> Response:
        records = self.index.now().records.values()
        listed = [(record, *self._runs(record.name)[1:]) for record in records]
        return render_page("studies.html", studies=listed, **self._progress(), **NO_CHARTS)

    def study(self) -> Response:
        record = self.index.now().record(_argument("study"))
        rows, counts, facets = self._runs(record.name)
        selected = {name: request.args[name] for name in facets if request.args.get(name)}
        find, column, descending = _argument("find", ""), _argument("sort", ""), "down" in request.args
        matching = runs.sort_rows(runs.filter_rows(rows, selected, find), column, descending)
        page = _positive_integer("page")
        return render_page(
            "study.html", record=record, counts=counts, facets=facets, selected=selected, find=find, column=column,
            descending=descending, shown=matching[runs.RUNS_PER_PAGE * (page - 1) : runs.RUNS_PER_PAGE * page],
            matching=len(matching), page=page, pages=_pages(len(matching), runs.RUNS_PER_PAGE),
            metrics=sorted({row.metric for row in rows if row.metric}),
            study=json.dumps(record.study, indent=1, ensure_ascii=False),
            has_curves=any(run.similarity for run in record.runs), **self._progress(), **NO_CHARTS,
        )  # fmt: skip

    def scores(self) -> Response:
        snapshot = self.index.now()
        record = snapshot.record(_argument("study"))
        rows, *_ = self._runs(record.name)
        tasks = runs.task_metrics(snapshot, rows)
        if not tasks:
            raise UsageError("no run of this study has scores yet")
        task = check_name(_argument("task", next(iter(tasks))), tasks, "task of this study")
        metric = _argument("metric", "")
        metric = metric if metric in tasks[task] else tasks[task][0]
        page = _positive_integer("page")
        overview = runs.overview(snapshot, rows, task, metric, page)
        return render_page(
            "scores.html", record=record, tasks=list(tasks), task=task, metrics=tasks[task], metric=metric,
            overview=overview, page=page, pages=_pages(overview.total, runs.EXPERIMENTS_PER_PAGE), **NO_CHARTS,
        )  # fmt: skip

    def run(self) -> Response:
        snapshot = self.index.now()
        record, run = snapshot.run(_argument("run"))
        results = self.index.results([run.name])
        entries = [self.index.store.get(id) for id in run.goals if id in snapshot.done]
        return render_page(
            "run.html", record=record, run=run, state=snapshot.state(record, run, self._running_jobs()),
            reason=record.failed.get(run.label, ""), rows=results.gaps().to_dicts(),
            entries=[entry for entry in entries if entry], other_seeds=_other_seeds(record.runs, run),
            reference=_reference(record, run), has_predictions=_has_predictions(results), **self._progress(),
            **_charts(results, [run.name]),
        )  # fmt: skip

    def compare(self) -> Response:
        names = list(dict.fromkeys(request.args.getlist("run")))
        results = self.index.results(names)
        pooled = _argument("seeds", POOLED) == POOLED
        metrics = comparison.metrics(results)
        metric = _argument("metric", "")
        metric = metric if metric in metrics else next(iter(metrics), "")
        compared = comparison.conditions(results, metric, pooled)
        labels = {shade: label.replace("REF", "reference") for shade, label in legend().items()}
        return render_page(
            "compare.html", conditions=compared, metrics=metrics, metric=metric, pooled=pooled, names=names,
            table=comparison.compare_scores(results, compared, metric) if metric else {}, legend=labels,
            seeds={name: self.index.now().run(name)[1].seed for name in names},
            scorers=comparison.scorers(results, metric), has_predictions=_has_predictions(results),
            **_charts(results, names),
        )  # fmt: skip

    def chart_data(self) -> Response:
        """The data of the charts of a page, which requests them after it is shown."""
        results = self.index.results(request.args.getlist("run"))
        data = {**chart_data(_report_inputs(results), results.table()), "examples": []}
        return Response(json.dumps(data, allow_nan=False).encode(), mimetype="application/json")

    def test(self) -> Response:
        """The significance of one difference on the comparison page, or the reason why it cannot be tested."""
        compared = self._tested_table()
        number = _positive_integer("condition")
        if number >= len(compared.conditions):
            raise UsageError(f"condition: expected at most {len(compared.conditions) - 1}, got {number}")
        target = check_name(_argument("target"), compared.targets, "target of these runs")
        answer: Response
        try:
            answer = jsonify(self._cached_tests(compared, number, target))
        except UsageError as error:
            answer = jsonify({"reason": str(error)})
        return answer

    def marks(self) -> Response:
        """The stars of the comparison page, corrected for all its tests."""
        compared = self._tested_table()
        tested = {}
        for target, number in itertools.product(compared.targets, range(1, len(compared.conditions))):
            with contextlib.suppress(UsageError):  # not scored, or without predictions
                tested[target, number] = self._cached_tests(compared, number, target)
        answer: Response = jsonify(comparison.marks(tested))
        return answer

    def _tested_table(self) -> TestedTable:
        """The table of the comparison page that a request names."""
        names = tuple(request.args.getlist("run"))
        results = self.index.results(names)
        metric = check_name(_argument("metric"), comparison.metrics(results), "metric of these runs")
        compared = comparison.conditions(results, metric, _argument("seeds", POOLED) == POOLED)
        targets = tuple(results.tests.filter(metric=metric)["target"].unique(maintain_order=True))
        return TestedTable(names, metric, tuple(compared), targets, self.index.now().version)

    def _significance(self, table: TestedTable, number: int, target: str) -> comparison.Significance:
        results = self.index.results(table.runs)
        return comparison.significance(results, table.conditions[0], table.conditions[number], table.metric, target)

    def sentences(self) -> Response:
        names = list(dict.fromkeys(request.args.getlist("run")))
        if len(names) > 2:
            raise UsageError(f"sentences are shown for one or two runs, got {len(names)}")
        results = self.index.results(names)
        if not _has_predictions(results):
            raise UsageError("no sentences are stored for this run")
        metrics, targets = comparison.metrics(results), sentences.targets(results)
        query = sentences.SentenceQuery(
            check_name(_argument("target", targets[0]), targets, "target of this run"),
            check_name(_argument("metric", metrics[0]), metrics, "metric of this run"),
            _argument("show", "wrong"), _argument("order", "score"), _argument("find", ""), _argument("mistake", ""),
            _positive_integer("page"),
        )  # fmt: skip
        shown = sentences.find_sentences(results, names, query)
        compared = comparison.conditions(results, query.metric, pool_seeds=False)
        labels = [condition.label for condition in compared] if names[1:] else ["predicted"]
        return render_page(
            "sentences.html", runs=[self.index.now().run(name)[1] for name in names], labels=labels, targets=targets,
            metrics=metrics, query=query, sentences=shown, pages=_pages(shown.matching, sentences.SENTENCES_PER_PAGE),
            orders=sentences.ORDERS, filters=sentences.filters_for(names),
            items={"items": shown.items, "conditions": labels, "metric": query.metric}, **NO_CHARTS,
        )  # fmt: skip

    def progress(self) -> Response:
        """The running jobs; the version tells the page whether anything else has to be reloaded."""
        return render_page("progress.html", **self._progress())

    def download(self, table: str, suffix: str) -> Response:
        if table not in downloads.TABLES or suffix not in downloads.CONTENT_TYPES:
            abort(404)
        study = request.args.get("study")
        frame = downloads.download_frame(self.index, table, study, request.args.getlist("run"))
        name = f"{table}.{suffix}" if study is None else f"{file_name(study)}-{table}.{suffix}"
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        content = encode_rows(frame, f".{suffix}")
        return Response(content, content_type=downloads.CONTENT_TYPES[suffix], headers=headers)

    def _runs(self, study: str) -> RunList:
        return self._cached_runs(self.index.now(), study, self._running_jobs())

    def _list_runs(self, snapshot: Snapshot, study: str, jobs: frozenset[str]) -> RunList:
        rows = runs.run_rows(snapshot, snapshot.record(study), jobs)
        return rows, runs.count_states(rows), runs.facets(rows)

    def _running_jobs(self) -> frozenset[str]:
        return frozenset(str(notice.get("job", "")) for notice in running(self.index.store))

    def _progress(self) -> Values:
        """The running jobs of the requested study or run; jobs that belong to no run are always listed."""
        snapshot, jobs = self.index.now(), {str(notice.get("job", "")): notice for notice in running(self.index.store)}
        recorded = snapshot.runs.values() if jobs else ()
        owners = {job: (record, run) for record, run in recorded for job in run.jobs if job in jobs}
        for job, (record, run) in owners.items():
            if record.name != request.args.get("study", record.name) or run.name != request.args.get("run", run.name):
                del jobs[job]
        run_names = {job: run.name for job, (_, run) in owners.items()}
        return {"jobs": jobs, "run_names": run_names, "store_version": snapshot.version}


def render_page(template: str, **values: object) -> Response:
    page = render_template(template, **values)
    return Response(page.encode("utf-8", "replace"), mimetype="text/html")  # lone surrogates cannot be encoded


def _argument(name: str, default: str | None = None) -> str:
    value = request.args.get(name, default)
    if value is None:
        raise UsageError(f"this address needs '{name}='")
    return value


def _positive_integer(name: str) -> int:
    """The value of a query argument; 1 without it."""
    text = request.args.get(name, "1")
    if not (text.isascii() and text.isdecimal()) or len(text) > 6 or int(text) < 1:
        raise UsageError(f"{name}: expected a number from 1")
    return int(text)


def _pages(items: int, per_page: int) -> int:
    return max(1, -(-items // per_page))


def _has_predictions(results: StudyResults) -> bool:
    return "gold" in results.predictions.collect_schema().names() and len(results.frame) > 0


def _other_seeds(recorded: Sequence[Run], run: Run) -> list[Run]:
    """The runs of the same experiment with other seeds."""
    key = attrgetter("model", "changes", "continual", "text", "task", "source")
    return [other for other in recorded if key(other) == key(run) and other.name != run.name]


def _reference(record: Record, run: Run) -> Run | None:
    """The run that this one is compared with: the reference condition, all else equal."""
    key = attrgetter("model", "continual", "text", "task", "source", "seed")
    references = (other for other in record.runs if other.changes == record.reference != run.changes)
    return next((other for other in references if key(other) == key(run)), None)


def _charts(results: StudyResults, names: list[str]) -> Values:
    """The specifications of the charts of these runs, and the URL of their data."""
    specs = dict(charts(_report_inputs(results), results.table()))
    if not specs:
        return NO_CHARTS
    return {"data": {"from": url_for("chart_data", run=names), "examples": []}, "specs": specs}


def _report_inputs(results: StudyResults) -> ReportInputs:
    return ReportInputs("", results, distances=results.distances.labelled())
