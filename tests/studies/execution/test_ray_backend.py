"""What the driver and the actors do is tested without Ray; slowly, two real nodes, of which one is killed."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from toy_driver import STUDY
from toy_makers import square

from isogloss import __version__
from isogloss.core.errors import MissingExtra, UnknownName, UsageError
from isogloss.store.entries import Store, StoreFull
from isogloss.store.running_jobs import running
from isogloss.studies.execution.backends import MAX_RETRIES, Outcome
from isogloss.studies.execution.backends.ray import RayActor, RayBackend, _beacon, _capacity, _resources
from isogloss.studies.execution.run_study import run_study
from isogloss.studies.planning import job as planned_job
from isogloss.studies.planning.job import Job


@pytest.mark.parametrize("options", [{"workers": 0}, {"per_gpu": 0}, {"workers": "all"}])
def test_numbers_that_make_no_sense(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="at least 1"):
        RayBackend(**options)


def test_ray_chooses_the_gpu() -> None:
    with pytest.raises(UnknownName, match="device of the backend 'ray'"):
        RayBackend(device="cuda:1")


def test_without_ray_it_is_said_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtra, match=r"pip install 'isogloss\[ray\]'"):
        RayBackend(device="cpu").run([square(1)], str(tmp_path), lambda outcome: None)


def test_nothing_to_do_needs_no_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    RayBackend(device="cpu").run([], str(tmp_path), lambda outcome: None)


def test_a_cluster_that_cannot_be_reached(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="needs ray")
    with pytest.raises(UsageError, match=r"Ray cannot be reached at 'localhost:1': .*refused"):
        run([square(4)], tmp_path, "localhost:1")


@pytest.mark.parametrize(
    ("device", "threads", "per_gpu", "room"),
    [("cpu", 1, 1, 11), ("cpu", 4, 1, 2), ("cpu", 9, 1, 0), ("cuda", 4, 1, 2), ("cuda", 1, 3, 6)],
)
def test_room_in_a_cluster(device: str, threads: int, per_gpu: int, room: int) -> None:
    nodes = [
        {"Alive": True, "Resources": {"CPU": 8.0, "GPU": 2.0}},
        {"Alive": True, "Resources": {"CPU": 3.0}},
        {"Alive": False, "Resources": {"CPU": 64.0, "GPU": 8.0}},
    ]
    assert _capacity(nodes, device, threads, per_gpu) == room


@pytest.mark.parametrize("per_gpu", range(1, 33))
def test_shares_of_a_gpu_fit_it(per_gpu: int) -> None:
    share = _resources("cuda", 1, per_gpu)["num_gpus"]
    assert share * per_gpu <= 1 < share * (per_gpu + 1)


def test_a_foreman_does_jobs_and_tells_of_a_death(tmp_path: Path) -> None:
    Store(tmp_path)
    actor = RayActor(str(tmp_path), "cpu", 1, os.getcwd())
    first = actor.run(square(3))
    assert isinstance(first, Outcome)
    assert first.state == "done"
    died = actor.run(square(4, trouble={"killed": 0}))
    assert isinstance(died, str)
    assert "SIGKILL" in died
    assert Store(tmp_path).ids() == {"toy-3"}


def test_a_foreman_passes_an_interrupt_on(tmp_path: Path) -> None:
    Store(tmp_path)
    actor = RayActor(str(tmp_path), "cpu", 1, os.getcwd())
    actor.interrupt()  # no worker yet: nothing happens
    told: list[Any] = []
    thread = threading.Thread(target=lambda: told.append(actor.run(square(1, seconds=60))))
    thread.start()
    until(lambda: list((tmp_path / "locks").iterdir()))
    actor.interrupt()
    thread.join(30)
    assert told == ["exit code 130"]
    assert not list((tmp_path / "locks").iterdir())


def test_a_foreman_complains_of_another_store_or_version(tmp_path: Path) -> None:
    actor = RayActor(str(tmp_path), "cpu", 1, os.getcwd())
    with _beacon(str(tmp_path)) as beacon:
        assert actor.check_node(beacon, __version__)[1] == ""
        assert "expected 0.0.0" in actor.check_node(beacon, "0.0.0")[1]
    assert "does not see the store" in actor.check_node(beacon, __version__)[1]


def until(true: Callable[[], Any], seconds: float = 60) -> Any:
    end = time.monotonic() + seconds
    while not (value := true()):
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.05)
    return value


# From here on with Ray.


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Two nodes with room for one worker each."""
    pytest.importorskip("ray", reason="needs ray")
    from ray.cluster_utils import Cluster

    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    monkeypatch.setenv("TOY_SECONDS", "0.7")  # nodes have their own environment, as it was when they were started
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    size = {"num_cpus": 1, "object_store_memory": 80_000_000}
    nodes = Cluster(initialize_head=True, head_node_args={**size, "include_dashboard": False})
    nodes.add_node(**size)
    nodes.wait_for_nodes()
    yield nodes
    nodes.shutdown()


def run(jobs: Sequence[Job], store: Path, address: str, **options: Any) -> dict[str, list[Outcome]]:
    told: dict[str, list[Outcome]] = {job.name: [] for job in jobs}
    backend = RayBackend(address=address, device="cpu", **options)
    backend.run(jobs, str(store), lambda outcome: told[outcome.job].append(outcome))
    return told


def hashes(store: Path) -> dict[str, dict[str, str]]:
    """Of every file of every entry."""
    kept = Store(store)
    return {id: {name: f["hash"] for name, f in kept.need(id).manifest["files"].items()} for id in kept.ids()}


@pytest.mark.slow
def test_same_bytes_as_the_local_backend(cluster: Any, bert: Path, tmp_path: Path) -> None:
    study = {
        **STUDY,
        "model": str(bert),
        "sources": {"qla": {"train": "lab:qla/train/24", "dev": "lab:qla/dev/8"}},
        "settings": {"epochs": 2, "batch": 8, "learning_rate": 3e-3},
        "seeds": 2,
    }
    ray = run_study(study, store=tmp_path / "ray", backend="ray", address=cluster.address, device="cpu")
    local = run_study(study, store=tmp_path / "local", device="cpu", workers=1)
    assert not ray.failed
    assert len(ray.frame) == 4 * 3
    assert ray.frame.equals(local.frame)
    assert ray.predictions.collect().equals(local.predictions.collect())
    assert len(weights(tmp_path / "local")) == 4
    assert weights(tmp_path / "ray") == weights(tmp_path / "local")


def weights(store: Path) -> dict[str, str]:
    """Hashes of the fine-tuned models."""
    return {id: files["model/model.safetensors"] for id, files in hashes(store).items() if id.startswith("finetuned")}


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds the actors through Linux's /proc")
def test_a_worker_an_actor_and_a_node_are_killed(cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the middle of a study: a worker process, then an actor's, then a whole node."""
    monkeypatch.setattr(planned_job, "STAGE_FUNCTIONS_MODULE", "toy_makers")
    study, store = {**STUDY, "seeds": 12}, tmp_path / "ray"
    killed: list[str] = []
    lost: list[str] = []

    def workers() -> list[int]:
        return [one["pid"] for one in running(Store(store))]

    def kill() -> None:
        os.kill(until(workers)[0], signal.SIGKILL)
        killed.append("worker")
        until(lambda: len(lost) == 1)
        os.kill(parent(until(workers)[0]), signal.SIGKILL)
        killed.append("actor")
        until(lambda: len(lost) == 2 and len(workers()) == 2)
        cluster.remove_node(next(iter(cluster.worker_nodes)), allow_graceful=False)
        killed.append("node")

    def watch(job: Job, outcome: Outcome, total: int) -> None:
        if outcome.state == "lost":
            lost.append(outcome.reason)

    thread = threading.Thread(target=kill, daemon=True)
    thread.start()
    results = run_study(study, store=store, backend="ray", address=cluster.address, device="cpu", watch=watch)
    thread.join(1)
    assert killed == ["worker", "actor", "node"]
    assert len(lost) == 3, lost
    assert "SIGKILL" in lost[0]
    assert not results.failed
    monkeypatch.delenv("TOY_SECONDS")
    whole = run_study(study, store=tmp_path / "local", device="cpu", workers=0)
    assert len(results.frame) == 12 * 2 * 2
    assert results.frame.equals(whole.frame)
    assert hashes(store) == hashes(tmp_path / "local")


def parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


@pytest.mark.slow
def test_an_interrupt_stops_the_workers(cluster: Any, tmp_path: Path) -> None:
    jobs = [square(n, seconds=60) for n in range(4)]

    def press() -> None:
        until(lambda: len(running(Store(tmp_path))) == 2)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=press, daemon=True).start()
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        run(jobs, tmp_path, cluster.address)
    assert time.monotonic() - begun < 30
    assert list((tmp_path / "locks").iterdir()) == []
    assert list((tmp_path / "temporary").iterdir()) == []
    assert running(Store(tmp_path)) == []


@pytest.mark.slow
def test_errors_and_a_job_that_kills_every_worker(cluster: Any, tmp_path: Path) -> None:
    jobs = [square(1, trouble={"killed": 0}), square(2, trouble={"failed": 0}), square(3, ("2",)), square(4)]
    told = run(jobs, tmp_path, cluster.address)
    assert {name: outcomes[-1].state for name, outcomes in told.items()} == {
        "toy-1": "failed",
        "toy-2": "failed",
        "toy-3": "failed",
        "toy-4": "done",
    }
    assert f"died {MAX_RETRIES + 1} times" in told["toy-1"][-1].reason
    assert "no such square" in told["toy-2"][-1].reason
    assert told["toy-3"][-1].reason.startswith("needs 'square of 2', which failed")
    with pytest.raises(StoreFull):
        run([square(5, log="/dev/full"), square(6)], tmp_path, cluster.address)


@pytest.mark.slow
def test_a_cluster_that_has_no_room_is_told(cluster: Any, tmp_path: Path) -> None:
    wide = replace(square(1), threads=8)
    with pytest.raises(UsageError, match="no node of the Ray cluster has 8 processors"):
        run([wide], tmp_path, cluster.address)
    with pytest.raises(UsageError, match="no node of the Ray cluster has a GPU"):
        RayBackend(address=cluster.address, device="cuda").run([square(1)], str(tmp_path), lambda outcome: None)


@pytest.mark.slow
def test_a_cluster_is_started_where_there_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ray = pytest.importorskip("ray", reason="needs ray")
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    told = run([square(3, ("2",)), square(2)], tmp_path, "local", workers=1)
    assert {outcomes[-1].state for outcomes in told.values()} == {"done"}
    assert not ray.is_initialized()
