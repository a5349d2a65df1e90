"""Submitit's local executor, and a Slurm that is enough of one for submitit."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import fake_slurm
import pytest
from toy_driver import STUDY
from toy_makers import square

from isogloss.cli import main
from isogloss.core.errors import IsoglossError, MissingExtra, UnknownName, UsageError
from isogloss.store.entries import Store, StoreFull
from isogloss.studies.execution.backends import Outcome, slurm
from isogloss.studies.execution.backends.slurm import SlurmBackend
from isogloss.studies.execution.run_study import run_study
from isogloss.studies.planning import job as planned_job
from isogloss.studies.planning.job import Job

linux = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds processes through Linux's /proc")


@pytest.fixture(autouse=True)
def _hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slurm, "POLL_SECONDS", 0.1)


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The state of a Slurm whose commands are found first."""
    submitit = pytest.importorskip("submitit", reason="needs submitit")
    state = fake_slurm.install(tmp_path / "bin")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    monkeypatch.setattr(submitit.SlurmJob, "_results_timeout_s", 0.2)
    monkeypatch.setattr(submitit.SlurmJob, "watcher", type(submitit.SlurmJob.watcher)(delay_s=1))
    return state


def run(jobs: Sequence[Job], store: Path, **options: Any) -> dict[str, list[Outcome]]:
    told: dict[str, list[Outcome]] = {job.name: [] for job in jobs}
    backend = SlurmBackend(device="cpu", **options)
    backend.run(jobs, str(store), lambda outcome: told[outcome.job].append(outcome))
    return told


def last(told: dict[str, list[Outcome]]) -> dict[str, str]:
    return {name: outcomes[-1].state for name, outcomes in told.items()}


def until(true: Callable[[], Any], seconds: float = 30) -> Any:
    end = time.monotonic() + seconds
    while not (value := true()):
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.05)
    return value


def script(state: Path, job: int = 100) -> list[str]:
    return (state / f"{job}.sbatch").read_text().splitlines()


@pytest.mark.parametrize("option", ["workers", "per_task", "per_gpu", "time"])
@pytest.mark.parametrize("value", [0, "1:30:00"])
def test_numbers_that_make_no_sense(option: str, value: Any) -> None:
    with pytest.raises(UsageError, match=f"{option}: expected a whole number of at least 1, got '{value}'"):
        SlurmBackend(**{option: value})


@pytest.mark.parametrize("options", [{"device": "cuda:1"}, {"cluster": "slrum"}])
def test_names_that_make_no_sense(options: dict[str, str]) -> None:
    with pytest.raises(UnknownName):
        SlurmBackend(**options)


def test_without_submitit_it_is_said_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "submitit", None)
    with pytest.raises(MissingExtra, match=r"pip install 'isogloss\[slurm\]'"):
        run([square(1)], tmp_path)


def test_without_slurm_it_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("submitit", reason="needs submitit")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="are you indeed on a slurm cluster"):
        run([square(1)], tmp_path)


def test_an_option_that_sbatch_does_not_have(tmp_path: Path, fake: Path) -> None:
    with pytest.raises(UsageError, match="Unknown argument 'partiton'"):
        run([square(1)], tmp_path / "store", partiton="gpu")


def test_sbatch_that_refuses_is_told(tmp_path: Path, fake: Path) -> None:
    (tmp_path / "bin" / "sbatch").write_text(
        "#!/bin/sh\necho 'sbatch: error: invalid partition specified: gpux' >&2\nexit 1"
    )
    with pytest.raises(IsoglossError, match=r"Slurm did not accept the jobs: .*invalid partition specified: gpux"):
        run([square(1)], tmp_path / "store", partition="gpux")


def test_submitits_local_executor(tmp_path: Path) -> None:
    pytest.importorskip("submitit", reason="needs submitit")
    jobs = [square(3, ("2",)), square(2), square(5, trouble={"failed": 0})]
    told = run(jobs, tmp_path, cluster="local", per_task=2)
    assert last(told) == {"toy-2": "done", "toy-3": "done", "toy-5": "failed"}
    assert "no such square" in told["toy-5"][-1].reason
    assert Store(tmp_path).ids() == {"toy-2", "toy-3"}
    assert list((tmp_path / "slurm").glob("*/*")) == [], "nothing is left of what went well"


@linux
def test_what_is_said_to_sbatch(tmp_path: Path, fake: Path) -> None:
    jobs = [replace(square(n), threads=2) for n in range(3)]
    asked = {"partition": "gpu", "account": "lang", "mem": "8GB", "constraint": "a100|h100"}
    told = run(jobs, tmp_path / "store", time=90, per_task=2, workers=8, **asked)
    assert set(last(told).values()) == {"done"}
    said = {line.removeprefix("#SBATCH --") for line in script(fake) if line.startswith("#SBATCH")}
    assert {"array=0-1%2", "partition=gpu", "account=lang", "mem=8GB", "time=90", "cpus-per-task=2"} <= said
    assert "job-name=isogloss" in said
    assert "signal=USR2@90" in said
    assert any(line.startswith("constraint=") and "a100|h100" in line for line in said)
    assert not [line for line in said if "gpus" in line]
    assert len(list(fake.glob("*.sbatch"))) == 1


@pytest.mark.parametrize(
    ("options", "gpus"),
    [({}, {"gpus_per_node": 1}), ({"gpus_per_node": 4}, {"gpus_per_node": 4}), ({"gres": "gpu:2"}, {"gres": "gpu:2"})],
)
def test_gpus_are_asked_for(options: dict[str, Any], gpus: dict[str, Any], tmp_path: Path, fake: Path) -> None:
    executor = SlurmBackend(device="cuda", **options)._executor(str(tmp_path), 1)
    parameters = executor._executor.parameters
    assert {name: parameters[name] for name in slurm.GPU_OPTIONS if name in parameters} == gpus


def test_options_from_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("submitit", reason="needs submitit")
    monkeypatch.setattr(planned_job, "STAGE_FUNCTIONS_MODULE", "toy_makers")
    (tmp_path / "study.yaml").write_text(json.dumps(STUDY | {"seeds": 1}))
    words = ["run", tmp_path / "study.yaml", "--backend", "slurm", "--option", "cluster=local", "per_task=2"]
    with pytest.raises(SystemExit) as leave:
        main.run([*map(str, words), "--store", str(tmp_path / "store"), "--device", "cpu"])
    assert leave.value.code == 0
    assert capsys.readouterr().err.count("done: ") == 2


@linux
@pytest.mark.slow
def test_rows_as_the_local_backend(tmp_path: Path, fake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planned_job, "STAGE_FUNCTIONS_MODULE", "toy_makers")
    study = {**STUDY, "seeds": 2}
    rows = run_study(study, store=tmp_path / "slurm", backend="slurm", device="cpu", per_task=2)
    whole = run_study(study, store=tmp_path / "local", device="cpu", workers=0)
    assert not rows.failed
    assert len(rows.frame) == 8
    assert rows.frame.equals(whole.frame)


@linux
@pytest.mark.slow
def test_a_task_that_is_killed_is_handed_in_again(tmp_path: Path, fake: Path) -> None:
    """The whole task with its workers, in the middle of the second of its two jobs: the first is not done again."""
    store, log = tmp_path / "store", tmp_path / "log"
    (tmp_path / "match").touch()
    jobs = [square(1, log=str(log)), square(2, log=str(log), seconds=1.5)]

    def kill() -> None:
        until(lambda: log.exists() and log.read_text().split() == ["1", "2"])
        for pid in fake_slurm.members(fake, "100"):
            os.kill(pid, signal.SIGKILL)

    threading.Thread(target=kill, daemon=True).start()
    told = run(jobs, store, per_task=2, cpus_per_task=1)
    assert last(told) == {"toy-1": "done", "toy-2": "done"}
    (lost,) = [outcome for outcome in told["toy-2"] if outcome.state == "lost"]
    assert lost.reason.startswith("task 100 ended in the state NODE_FAIL")
    assert sorted(log.read_text().split()) == ["1", "2", "2"]
    assert "#SBATCH --array=0-1%2" in script(fake, 101), "each alone now"


@linux
@pytest.mark.slow
def test_a_warning_of_slurm_ends_a_task_in_time(tmp_path: Path, fake: Path) -> None:
    """All processes of a task are warned before the time limit: what was begun is lost, the rest was never begun."""
    store, log = tmp_path / "store", tmp_path / "log"
    jobs = [square(n, log=str(log), seconds=2) for n in range(4)]

    def warn() -> None:
        until(lambda: log.exists() and log.read_text())
        time.sleep(0.2)
        for pid in fake_slurm.members(fake, "100"):
            os.kill(pid, signal.SIGUSR2)

    threading.Thread(target=warn, daemon=True).start()
    told = run(jobs, store, per_task=4)
    assert set(last(told).values()) == {"done"}
    states = [[outcome.state for outcome in outcomes] for outcomes in told.values()]
    lost = [outcome.reason for outcomes in told.values() for outcome in outcomes if outcome.state == "lost"]
    assert 0 < len(lost) <= 2, "as many as were begun on two processors at most"
    assert "time limit" in lost[0]
    assert ["started", "busy", "started", "done"] in states
    assert list((store / "locks").iterdir()) == []


@linux
def test_an_interrupt_cancels_the_tasks(tmp_path: Path, fake: Path) -> None:
    store = tmp_path / "store"

    def press() -> None:
        until(lambda: len(list((store / "locks").iterdir())) == 2 if store.exists() else False)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=press, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        run([square(n, seconds=60) for n in range(2)], store)
    until(lambda: not list((store / "locks").iterdir()))
    assert set(last(run([square(n) for n in range(2)], store)).values()) == {"done"}


@linux
@pytest.mark.slow
def test_what_a_task_of_a_dead_driver_is_doing_is_waited_for(tmp_path: Path, fake: Path) -> None:
    store = Store(tmp_path / "store")
    lock = store.lock("toy-1")
    assert lock

    def finish() -> None:
        with store.making("toy-1", {}) as folder:
            (folder / "square.json").write_text("1")
        lock.release()

    threading.Timer(1, finish).start()
    told = run([square(1), square(2, ("1",))], store.folder)
    assert last(told) == {"toy-1": "done", "toy-2": "done"}
    assert [outcome.state for outcome in told["toy-1"]][:2] == ["busy", "busy"], "and no task waits in its stead"


@linux
@pytest.mark.slow
def test_tasks_that_cannot_start_are_told(tmp_path: Path, fake: Path) -> None:
    (tmp_path / "bin" / "srun").write_text("#!/bin/sh\nexit 1\n")
    with pytest.raises(IsoglossError, match="6 tasks died one after the other"):
        run([square(n) for n in range(9)], tmp_path / "store", workers=2)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a Unix device")
def test_a_full_disk_is_told(tmp_path: Path) -> None:
    pytest.importorskip("submitit", reason="needs submitit")
    with pytest.raises(StoreFull):
        run([square(1, log="/dev/full")], tmp_path, cluster="local")


@pytest.mark.slow
def test_same_weights_as_the_local_backend(bert: Path, tmp_path: Path) -> None:
    pytest.importorskip("submitit", reason="needs submitit")
    sources = {"qla": {"train": "lab:qla/train/24", "dev": "lab:qla/dev/8"}}
    study = {**STUDY, "model": str(bert), "sources": sources, "settings": {"epochs": 2, "batch": 8}, "seeds": 1}
    rows = run_study(study, store=tmp_path / "s", backend="slurm", device="cpu", cluster="local", per_task=2)
    local = run_study(study, store=tmp_path / "l", device="cpu", workers=1)
    assert not rows.failed
    assert rows.frame.equals(local.frame)
    tuned = [id for id in Store(tmp_path / "l").ids() if id.startswith("finetuned")]
    assert len(tuned) == 2
    for id in tuned:
        files = [Store(tmp_path / store).need(id).manifest["files"] for store in "sl"]
        assert files[0]["model/model.safetensors"]["hash"] == files[1]["model/model.safetensors"]["hash"]
