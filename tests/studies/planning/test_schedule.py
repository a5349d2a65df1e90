"""Schedules on paper against theory, against a simulator that counts second by second, and against a real cluster."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toy_driver import STUDY
from toy_makers import square

from isogloss.core.errors import UsageError
from isogloss.store.entries import Store
from isogloss.studies.execution.backends import Outcome
from isogloss.studies.execution.backends.ray import RayBackend
from isogloss.studies.execution.run_study import planned, run_study
from isogloss.studies.planning import cost
from isogloss.studies.planning.cost import Cost, estimate, schedules, weighed_jobs
from isogloss.studies.planning.explain import explain
from isogloss.studies.planning.job import Job
from isogloss.studies.planning.planner import plan_study
from isogloss.studies.planning.schedule import critical_path, simulate
from isogloss.studies.schema.study_file import study_of


def job(name: str, *needs: str) -> Job:
    return Job(name, name, (), needs)


def weighed(jobs: Sequence[Job], times: Mapping[str, float]) -> list[Job]:
    return [replace(one, seconds=times[one.name]) for one in jobs]


# the jobs of Graham (1969), on which more workers take longer
GRAHAM = [job("1"), job("2"), job("3"), job("4"), *(job(n, "4") for n in "5678"), job("9", "1")]
TIMES = dict(zip("123456789", map(float, (3, 2, 2, 2, 4, 4, 4, 4, 9)), strict=True))


def test_the_anomaly_of_list_scheduling() -> None:
    assert [simulate(GRAHAM, TIMES, workers).makespan for workers in (1, 2, 3, 4)] == [34, 17, 12, 15]
    assert simulate(GRAHAM, TIMES, 3).utilisation == 34 / 36
    assert simulate(GRAHAM, TIMES, 100).makespan == critical_path(GRAHAM, TIMES) == 12


def test_the_longest_job_is_not_left_for_the_end() -> None:
    times = {"a": 1.0, "b": 1.0, "c": 1.0, "d": 1.0, "e": 4.0}
    jobs = [job(name) for name in times]
    assert simulate(jobs, times, 2).makespan == 6
    assert simulate(weighed(jobs, times), times, 2).makespan == 4


def test_what_much_waits_for_is_done_first() -> None:
    """It is not long itself: the longest first would take 9."""
    times = {"b": 3.0, "c": 3.0, "a": 1.0, "d": 5.0}
    jobs = [job("b"), job("c"), job("a"), job("d", "a")]
    assert simulate(jobs, times, 2).makespan == 9
    assert simulate(weighed(jobs, times), times, 2).makespan == 6


@given(st.lists(st.integers(1, 9), min_size=1, max_size=6), st.integers(2, 3))
def test_the_longest_first_is_within_a_third_of_the_best(lengths: list[int], workers: int) -> None:
    """Graham (1969), for jobs that need nothing; the best by trying all."""
    times = {str(n): float(length) for n, length in enumerate(lengths)}
    best = min(
        max(sum(length for length, place in zip(lengths, places, strict=True) if place == one) for one in places)
        for places in itertools.product(range(workers), repeat=len(lengths))
    )
    found = simulate(weighed([job(name) for name in times], times), times, workers).makespan
    assert best <= found <= (4 / 3 - 1 / (3 * workers)) * best + 1e-9


def test_the_price_counts_waiting_workers() -> None:
    times = {"a": 2.0, "b": 2.0, "c": 2.0}
    done = simulate([job("a"), job("b"), job("c")], times, 2)
    assert (done.makespan, done.busy, done.critical_path) == (4, 6, 2)
    assert done.hours == 2 * 4 / 3600
    assert simulate([], {}, 4).makespan == 0


def test_a_chain_longer_than_the_interpreter_could_follow() -> None:
    jobs = [job("0"), *(job(str(n), str(n - 1)) for n in range(1, 5000))]
    assert simulate(jobs[::-1], dict.fromkeys(map(str, range(5000)), 1.0), 8).makespan == 5000


def test_no_worker_is_no_schedule() -> None:
    with pytest.raises(UsageError, match="at least one worker"):
        simulate([], {}, 0)


@st.composite
def studies(draw: st.DrawFn) -> tuple[list[Job], dict[str, float]]:
    """Jobs with whole seconds, each in need of some before it; what they were thought to take is right, or not said."""
    size = draw(st.integers(1, 9))
    needs = [st.sets(st.integers(0, max(0, n - 1)), max_size=min(3, n)) for n in range(size)]
    jobs = [job(str(n), *map(str, sorted(draw(some)))) for n, some in enumerate(needs)]
    times = {one.name: float(draw(st.integers(1, 6))) for one in jobs}
    return weighed(jobs, times) if draw(st.booleans()) else jobs, times


@given(studies(), st.integers(1, 4))
def test_within_the_bounds_of_theory(study: tuple[list[Job], dict[str, float]], workers: int) -> None:
    jobs, times = study
    done = simulate(jobs, times, workers)
    chain, total = critical_path(jobs, times), sum(times.values())
    assert chain == max(sum(times[name] for name in path) for path in paths(jobs))
    assert done.makespan >= max(chain, total / workers)
    assert done.makespan <= total / workers + (1 - 1 / workers) * chain + 1e-9  # Graham's bound
    assert simulate(jobs, times, 1).makespan == total
    assert simulate(jobs, times, len(jobs)).makespan == chain


@given(studies(), st.integers(1, 4))
def test_second_by_second(study: tuple[list[Job], dict[str, float]], workers: int) -> None:
    jobs, times = study
    assert simulate(jobs, times, workers).makespan == by_the_clock(jobs, times, workers)


def paths(jobs: Sequence[Job]) -> Iterator[list[str]]:
    """Every chain of jobs that need each other, from its end backwards."""
    needs = {one.name: one.needs for one in jobs}
    found = [[name] for name in needs]
    while found:
        yield from found
        found = [[*path, before] for path in found for before in needs[path[-1]]]


def by_the_clock(jobs: Sequence[Job], times: Mapping[str, float], workers: int) -> float:
    """Each second: what ends makes others ready; whoever is free takes the first of those with the longest way."""
    left = {one.name: set(one.needs) for one in jobs}
    said = {one.name: one.seconds for one in jobs}
    chains = list(paths(jobs))
    ways = {name: max(sum(said[one] for one in chain) for chain in chains if chain[-1] == name) for name in left}
    ready = [name for name, needs in left.items() if not needs]
    working: dict[str, float] = {}

    def begin(now: int) -> None:
        while ready and len(working) < workers:
            name = min(ready, key=lambda name: (-ways[name], int(name)))
            ready.remove(name)
            working[name] = now + times[name]

    begin(0)
    for now in itertools.count(1):
        for name in [name for name, end in working.items() if end == now]:
            del working[name], left[name]
            for other, needs in left.items():
                if name in needs:
                    needs.discard(name)
                    if not needs:
                        ready.append(other)
            begin(now)
        if not left:
            return float(now)
    raise AssertionError


def test_times_are_unknown_until_measured() -> None:
    plan = plan_study(study_of({**STUDY, "model": "laboratory", "seeds": 4}), device="cuda")
    assert weighed_jobs(plan, None) == plan.jobs(())
    assert estimate(plan, list(plan.stages.values()), None) == Cost(0.0, 0, len(plan.stages))
    assert schedules(plan, None, [1, 64]) == []
    rows = dict(explain(plan, None, [1, 64]))
    unknown = "unknown until a run of each kind is done in this store"
    assert rows["cost"] == rows["on 1 GPU"] == rows["on 64 GPUs"] == unknown
    assert "on 1 GPU" not in dict(explain(plan, None))


def test_a_study_with_measured_times(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = plan_study(study_of({**STUDY, "model": "laboratory", "seeds": 4}), device="cuda")
    times = {stage.time_key: {"finetuned": 30.0, "evaluation": 2.0}[stage.kind] for stage in plan.stages.values()}
    monkeypatch.setattr(cost, "measured_times", lambda plan, store: times)
    jobs = weighed_jobs(plan, None)
    assert [replace(job, seconds=0.0) for job in jobs] == plan.jobs(())
    assert {job.seconds for job in jobs} == {32.0}
    one, two, many = schedules(plan, None, [1, 2, 64])
    assert (one.makespan, two.makespan, many.makespan) == (8 * 32, 4 * 32, many.critical_path) == (256, 128, 32)
    assert schedules(plan, None, [1], stack=4)[0].makespan == one.makespan
    rows = dict(explain(plan, None, [1, 64]))
    assert "busy" in rows["on 1 GPU"]
    assert "on any number" in rows["on 64 GPUs"]
    del times[next(key for key in times if key[0] == "evaluation")]
    assert estimate(plan, list(plan.stages.values()), None) == Cost(8 * 30.0, 8, 8)
    rows = dict(explain(plan, None, [1]))
    assert rows["cost"].startswith("about 4 min of one worker")
    assert "for 8 stages; 8 stages: unknown until" in rows["cost"]
    assert rows["on 1 GPU"].startswith("unknown")


@pytest.mark.parametrize("tasks", [["pos", "parse"], ["parse", "pos"]])
def test_long_runs_of_a_study_are_done_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tasks: list[str]) -> None:
    """Those whose kind took longer before, wherever they are in the file."""
    monkeypatch.setattr("isogloss.studies.planning.job.STAGE_FUNCTIONS_MODULE", "toy_makers")
    study = {**STUDY, "task": tasks, "seeds": 2}
    plan = planned(study, device="cpu")
    labels = [job.label for job in plan.jobs(())]
    times = {stage.time_key: 90.0 if "parse" in stage.time_key else 6.0 for stage in plan.stages.values()}
    monkeypatch.setattr(cost, "measured_times", lambda plan, store: times)
    done: list[str] = []

    def watch(job: Job, outcome: Outcome, total: int) -> None:
        done.extend([job.label] if outcome.state == "done" else [])

    run_study(study, store=tmp_path, workers=0, device="cpu", watch=watch)
    assert done == [label for task in ("parse", "pos") for label in labels if f" {task} " in label]
    assert len(done) == 8


def test_what_was_measured_is_what_is_projected(tmp_path: Path, bert: Path) -> None:
    """One seed is done; all seeds are projected with its times."""
    study = {**STUDY, "model": str(bert), "networks": "keep"}
    run_study(study, store=tmp_path, workers=0, device="cpu", set={"seeds": 1})
    store = Store(tmp_path)
    plan = planned(study, store, set={"seeds": 10}, device="cpu")
    done = schedules(plan, store, [1])[0]
    seconds = [store.need(id).manifest["seconds"] for id in store.ids() if id.startswith(("finetuned", "evaluation"))]
    jobs = plan.jobs(store.ids())
    assert done.makespan == pytest.approx(len(jobs) * sum(seconds) / len(seconds) * 2, rel=0.3)
    assert dict(explain(plan, store))["cost"].endswith("(measured on runs of this study that are done)")
    assert (
        dict(explain(planned(study, store, set={"seeds": 1}, device="cpu"), store))["cost"] == "nothing is left to do"
    )


@pytest.mark.slow
def test_a_real_cluster_takes_as_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two workers of Ray: the time that passes between the first start and the last end."""
    pytest.importorskip("ray", reason="needs ray")
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    needs: dict[int, tuple[str, ...]] = {4: ("1",), 5: ("1", "2"), 6: ("4",), 7: ("3",)}
    times = {1: 2.0, 2: 3.0, 3: 1.5, 4: 2.5, 5: 1.0, 6: 2.0, 7: 3.5}
    jobs = [replace(square(n, needs.get(n, ()), seconds=time), seconds=time) for n, time in times.items()]
    seen: list[tuple[float, Outcome]] = []

    def tell(outcome: Outcome) -> None:
        seen.append((time.monotonic(), outcome))

    RayBackend(workers=2, device="cpu").run(jobs, str(tmp_path), tell)
    begun = {one.job: at for at, one in reversed(seen) if one.state == "started"}
    done = {one.job: at for at, one in seen if one.state == "done"}
    assert set(done) == {one.name for one in jobs}
    first = min(begun, key=lambda name: begun[name])
    startup = done[first] - begun[first] - times[int(first.removeprefix("toy-"))]
    real = max(done.values()) - min(begun.values())
    paper = simulate(jobs, {f"toy-{n}": seconds for n, seconds in times.items()}, 2)
    assert real == pytest.approx(paper.makespan + max(startup, 0.0), rel=0.15)


def test_numbers_of_gpus_that_make_no_sense(capsys: pytest.CaptureFixture[str]) -> None:
    from isogloss.cli import main

    table: Any = Path(__file__).parents[3] / "studies/lab/table-1-pos.yaml"
    for wrong in ("0", "many", "1,-8"):
        with pytest.raises(SystemExit) as leave:
            main.run(["validate", str(table), "--gpus", wrong])
        assert leave.value.code == 2
        assert "expected numbers such as 1,8,64" in capsys.readouterr().err
    with pytest.raises(SystemExit) as leave:
        main.run(["validate", str(table), "--gpus", "8,1"])
    assert leave.value.code == 0
    said = capsys.readouterr().out
    assert said.index("on 1 GPU ") < said.index("on 8 GPUs")
