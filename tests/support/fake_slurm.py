"""Enough of Slurm to run what submitit hands in: `fake_slurm.py COMMAND STATE-FOLDER ARGUMENTS…`.

sbatch starts every task of an array at once, in a session of its own; sacct tells their states; scancel sends SIGTERM
to all processes of a task, as Slurm does. A task's pid stands in STATE/JOB_TASK.pid and its exit code in .code.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path


def install(folder: Path) -> Path:
    """A folder for the PATH with the four commands; the state lies beneath it."""
    state = folder / "state"
    state.mkdir(parents=True)
    for command in ("sbatch", "srun", "sacct", "scancel"):
        words = [sys.executable, __file__, command, str(state)]
        (folder / command).write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
        (folder / command).chmod(0o755)
    return state


def sbatch(state: Path, script: str) -> None:
    text = Path(script).read_text()
    job = 100 + len(list(state.glob("*.sbatch")))
    (state / f"{job}.sbatch").write_text(text)
    array = re.search(r"--array=0-(\d+)", text)
    for task in range(int(array[1]) + 1) if array else [None]:
        name = str(job) if task is None else f"{job}_{task}"
        told = {"SLURM_JOB_ID": name, "SLURM_PROCID": "0", "SLURM_NTASKS": "1"}
        if task is not None:
            told |= {"SLURM_ARRAY_JOB_ID": str(job), "SLURM_ARRAY_TASK_ID": str(task)}
        command = f"bash {shlex.quote(str(state / f'{job}.sbatch'))}; echo $? > {shlex.quote(str(state / name))}.code"
        process = subprocess.Popen(
            ["sh", "-c", command],
            env={**os.environ, **told},
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        (state / f"{name}.pid").write_text(str(process.pid))
    sys.stdout.write(f"Submitted batch job {job}\n")


def srun(state: Path, *words: str) -> None:
    """The command after the options, with its output in files."""
    given, rest = {}, list(words)
    while rest[0].startswith("--"):
        option = rest.pop(0)
        given[option] = rest.pop(0) if option in ("--output", "--error") else ""
    name = os.environ["SLURM_JOB_ID"]
    job, _, task = name.partition("_")
    for number, option in ((1, "--output"), (2, "--error")):
        path = given[option].replace("%j", name).replace("%A", job).replace("%a", task).replace("%t", "0")
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND), number)
    os.execvp(rest[0], rest)


def sacct(state: Path, *_: str) -> None:
    lines = ["JobID|State|NodeList"]
    for pid in sorted(state.glob("*.pid")):
        code = pid.with_suffix(".code")
        over = code.exists() or not Path(f"/proc/{pid.read_text()}").exists()
        done = "COMPLETED" if code.exists() and code.read_text().strip() == "0" else "NODE_FAIL"
        lines.append(f"{pid.stem}|{done if over else 'RUNNING'}|here")
    sys.stdout.write("\n".join(lines) + "\n")


def scancel(state: Path, name: str) -> None:
    for pid in members(state, name):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)


def members(state: Path, name: str) -> list[int]:
    """The Python processes of a task: its own and its workers', which are in sessions of their own."""
    found, new = set[int](), {int((state / f"{name}.pid").read_text())}
    while new:
        found |= new
        new = {child for pid in new for child in _children(pid)} - found
    return [pid for pid in found if b"python" in _command(pid)]


def _children(pid: int) -> list[int]:
    with contextlib.suppress(OSError):
        return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []


def _command(pid: int) -> bytes:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().partition(b"\0")[0]
    return b""


if __name__ == "__main__":
    {"sbatch": sbatch, "srun": srun, "sacct": sacct, "scancel": scancel}[sys.argv[1]](Path(sys.argv[2]), *sys.argv[3:])
