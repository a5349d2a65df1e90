"""What each address answers with.

Studies and runs are named in the query and looked up among those that the store's records name: nothing of a request
becomes a path. Pages are written by templates that escape whatever they are given.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from flask import Response, abort, jsonify, render_template, request, url_for
from markupsafe import Markup

from isogloss.core.errors import UsageError
from isogloss.core.registry import check_name
from isogloss.explorer import comparison, downloads, runs, sentences
from isogloss.explorer.snapshot import Snapshot
from isogloss.explorer.store_index import StoreIndex
from isogloss.report.chart_data import chart_data
from isogloss.report.export import file_name
from isogloss.report.inputs import ReportInputs
from isogloss.report.page import charts, figures
from isogloss.report.templating import json_element
from isogloss.results.rows.study_results import StudyResults
from isogloss.results.tables.cell_colours import legend
from isogloss.store.run_states import run_jobs
from isogloss.store.running_jobs import running
from isogloss.store.study_records import Run

NO_DATA = {"data": Markup(json_element("data", {"examples": []})), "specs": Markup(json_element("specs", {}))}
Lines = tuple[list[runs.Line], Counter[str], dict[str, list[str]]]
NO_CHARTS: dict[str, Any] = {"figures": "", **NO_DATA}


class Views:
    def __init__(self, index: StoreIndex):
        self.index = index
        self._lines = lru_cache(maxsize=64)(self._new_lines)

    def studies(self) -> Response:
        records = self.index.now().records.values()
        rows = [(record, *self.lines(record.name)[1:]) for record in records]
        return _page("studies.html", studies=rows, **self._now(), **NO_CHARTS)

    def study(self) -> Response:
        record = self.index.now().record(_asked("study"))
        every, counts, facets = self.lines(record.name)
        wanted = {name: request.args[name] for name in facets if request.args.get(name)}
        find, by, falling = _asked("find", ""), _asked("sort", ""), "down" in request.args
        kept = runs.sorted_lines(runs.filtered(every, wanted, find), by, falling)
        page = _number("page")
        return _page(
            "study.html", record=record, counts=counts, facets=facets, wanted=wanted, find=find, by=by,
            falling=falling, shown=kept[runs.PAGE * (page - 1) : runs.PAGE * page], found=len(kept), page=page,
            pages=_pages(len(kept), runs.PAGE), metrics=sorted({line.metric for line in every if line.metric}),
            study=json.dumps(record.study, indent=1, ensure_ascii=False),
            measured=any(run.similarity for run in record.runs), **self._now(), **NO_CHARTS,
        )  # fmt: skip

    def scores(self) -> Response:
        snapshot = self.index.now()
        record = snapshot.record(_asked("study"))
        every, *_ = self.lines(record.name)
        tasks = runs.task_metrics(snapshot, every)
        if not tasks:
            raise UsageError("no run of this study is scored yet")
        task = check_name(_asked("task", next(iter(tasks))), tasks, "task of this study")
        metric = _asked("metric", "")
        metric = metric if metric in tasks[task] else tasks[task][0]
        page = _number("page")
        shown = runs.overview(snapshot, every, task, metric, page)
        return _page(
            "scores.html", record=record, tasks=list(tasks), task=task, metrics=tasks[task], metric=metric,
            overview=shown, page=page, pages=_pages(shown.of, runs.EXPERIMENTS), **NO_CHARTS,
        )  # fmt: skip

    def run(self) -> Response:
        snapshot = self.index.now()
        record, run = snapshot.run(_asked("run"))
        state = snapshot.state(record, run, self._jobs())
        results = self.index.results([run.name])
        entries = [self.index.store.get(id) for id in run.goals if id in snapshot.done]
        return _page(
            "run.html", record=record, run=run, state=state, why=record.failed.get(run.label, ""),
            rows=results.gaps().to_dicts(),
            entries=[entry for entry in entries if entry], others=_others(record.runs, run),
            reference=_reference(record.runs, run, record.reference), predicted=_predicted(results),
            **self._now(), **_charts(results, [run.name]),
        )  # fmt: skip

    def compare(self) -> Response:
        names = list(dict.fromkeys(request.args.getlist("run")))
        results = self.index.results(names)
        together = _asked("seeds", "together") == "together"
        metrics = comparison.metrics(results)
        metric = _asked("metric", "")
        metric = metric if metric in metrics else next(iter(metrics), "")
        shown = comparison.columns(results, metric, together)
        return _page(
            "compare.html", columns=shown, metrics=metrics, metric=metric, together=together,
            table=comparison.side_by_side(results, shown, metric) if metric else {}, legend=legend(),
            names=names, seeds={name: self.index.now().run(name)[1].seed for name in names},
            predicted=_predicted(results), **_charts(results, names),
        )  # fmt: skip

    def chart_data(self) -> Response:
        """What the charts of a page draw; the page comes first, and asks for it."""
        results = self.index.results(request.args.getlist("run"))
        drawn = {**chart_data(_subject(results), results.table()), "examples": []}
        return Response(json.dumps(drawn, allow_nan=False).encode(), mimetype="application/json")

    def test(self) -> Response:
        """One difference of the page of comparisons, tested, or the reason why it cannot be."""
        results = self.index.results(request.args.getlist("run"))
        metric = check_name(_asked("metric"), comparison.metrics(results), "metric of these runs")
        shown = comparison.columns(results, metric, _asked("seeds", "together") == "together")
        place = _number("column")
        if place >= len(shown):
            raise UsageError(f"these runs make {len(shown)} columns")
        target = check_name(_asked("target"), sentences.targets(results), "target of these runs")
        try:
            found = comparison.significance(results, shown[0], shown[place], metric, target)
        except UsageError as error:
            found = {"reason": str(error)}
        answer: Response = jsonify(found)
        return answer

    def sentences(self) -> Response:
        names = list(dict.fromkeys(request.args.getlist("run")))
        if len(names) > 2:
            raise UsageError("sentences are shown for one run, or for two beside each other")
        results = self.index.results(names)
        if not _predicted(results):
            raise UsageError("no sentences are kept of this run")
        metrics, targets = comparison.metrics(results), sentences.targets(results)
        wanted = sentences.Wanted(
            check_name(_asked("target", targets[0]), targets, "target of this run"),
            check_name(_asked("metric", metrics[0]), metrics, "metric of this run"),
            _asked("show", "wrong"), _asked("order", "score"), _asked("find", ""), _asked("mistake", ""),
            _number("page"),
        )  # fmt: skip
        found = sentences.sentences(results, names, wanted)
        columns = comparison.columns(results, wanted.metric, together=False)
        labels = [column.label for column in columns] if names[1:] else ["predicted"]
        shown = {"items": found.items, "columns": labels, "metric": wanted.metric}
        runs_ = [self.index.now().run(name)[1] for name in names]
        return _page(
            "sentences.html", runs=runs_, labels=labels, targets=targets, metrics=metrics, wanted=wanted, found=found,
            pages=_pages(found.found, sentences.PAGE), orders=sentences.ORDER,
            shows=dict(list(sentences.SHOW.items())[: None if names[1:] else 3]),
            items=Markup(json_element("items", shown)), **NO_CHARTS,
        )  # fmt: skip

    def now(self) -> Response:
        """What is being done at this moment, for the page to put in place; the version tells whether all is new."""
        return _page("now.html", **self._now())

    def download(self, what: str, form: str) -> Response:
        if what not in downloads.WHAT or form not in downloads.FORMS:
            abort(404)
        study = request.args.get("study")
        frame = downloads.rows_of(self.index, what, study, request.args.getlist("run"))
        name = f"{file_name(study)}-{what}.{form}" if study is not None else f"{what}.{form}"
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        return Response(downloads.written(frame, form), content_type=downloads.FORMS[form], headers=headers)

    def lines(self, study: str) -> Lines:
        return self._lines(self.index.now(), study, self._jobs())

    def _new_lines(self, snapshot: Snapshot, study: str, jobs: frozenset[str]) -> Lines:
        every = runs.lines(snapshot, snapshot.record(study), jobs)
        return every, runs.counts(every), runs.facets(every)

    def _jobs(self) -> frozenset[str]:
        return frozenset(str(one.get("job", "")) for one in running(self.index.store))

    def _now(self) -> dict[str, Any]:
        """What is being done for the study or the run that is asked for; jobs of no run may be for any."""
        snapshot, doing = self.index.now(), {str(one.get("job", "")): one for one in running(self.index.store)}
        every = snapshot.runs.values() if doing else ()
        known = {job: (record, run) for record, run in every for job in run_jobs(run) if job in doing}
        for job, (record, run) in known.items():
            if record.name != request.args.get("study", record.name) or run.name != request.args.get("run", run.name):
                del doing[job]
        names = {job: run.name for job, (_, run) in known.items()}
        return {"doing": doing, "known": names, "state_of_store": snapshot.version}


def _page(template: str, **facts: Any) -> Response:
    page = render_template(template, **facts)
    return Response(page.encode("utf-8", "replace"), mimetype="text/html")  # half a surrogate pair is no character


def _asked(name: str, usual: str | None = None) -> str:
    found = request.args.get(name, usual)
    if found is None:
        raise UsageError(f"this address needs '{name}='")
    return found


def _number(name: str) -> int:
    """A number from 1; the first if it is not said."""
    text = request.args.get(name, "1")
    if not (text.isascii() and text.isdecimal()) or len(text) > 6 or int(text) < 1:
        raise UsageError(f"{name}: expected a number from 1")
    return int(text)


def _pages(found: int, size: int) -> int:
    return max(1, -(-found // size))


def _predicted(results: StudyResults) -> bool:
    return "gold" in results.predictions.collect_schema().names() and len(results.frame) > 0


def _others(every: Sequence[Run], run: Run) -> list[Run]:
    """The same experiment with other seeds."""

    def key(one: Run) -> tuple[str, ...]:
        return one.model, one.changes, one.continual, one.text, one.task, one.source

    return [one for one in every if key(one) == key(run) and one.name != run.name]


def _reference(every: Sequence[Run], run: Run, change: str) -> Run | None:
    """What a run is held against: the reference with the same seed and all else the same."""

    def key(one: Run) -> tuple[Any, ...]:
        return one.model, one.continual, one.text, one.task, one.source, one.seed

    return next((one for one in every if one.changes == change != run.changes and key(one) == key(run)), None)


def _charts(results: StudyResults, names: list[str]) -> dict[str, Any]:
    """The report's charts over these runs: their places and specifications, and where their data are."""
    specs = dict(charts(_subject(results), results.table()))
    if not specs:
        return NO_CHARTS
    source = {"from": url_for("chart_data", run=names), "examples": []}
    return {"figures": Markup(figures(specs)), "data": Markup(json_element("data", source)),
            "specs": Markup(json_element("specs", specs))}  # fmt: skip


def _subject(results: StudyResults) -> ReportInputs:
    return ReportInputs("", results, distances=results.distances.labelled())
