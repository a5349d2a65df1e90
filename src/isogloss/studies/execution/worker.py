"""A worker process of the local backend: `python -m isogloss.studies.execution.worker STORE DEVICE`.

It reads jobs from standard input and writes outcomes to standard output, as pickles. When the input ends, the process
that started the worker is gone: the worker stops as on Ctrl-C, so that training saves a checkpoint.
"""

from __future__ import annotations

import _thread
import contextlib
import os
import pickle
import queue
import signal
import sys
import threading
from typing import BinaryIO

from isogloss.studies.execution.run_job import run_job
from isogloss.studies.planning.job import Job


def main(store: str, device: str) -> None:
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # output of libraries must not be mistaken for an outcome
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have disabled it
    for name in {"SIGTERM", "SIGUSR2"} & set(signal.Signals.__members__):  # Slurm sends them to all processes;
        signal.signal(signal.Signals[name], signal.SIG_IGN)  # the parent process decides when this one stops
    inbox: queue.Queue[Job] = queue.Queue()
    threading.Thread(target=_receive, args=(sys.stdin.buffer, inbox), daemon=True).start()
    try:
        while True:
            pickle.dump(run_job(_next(inbox), store, device or None), out)
            out.flush()
    except (KeyboardInterrupt, BrokenPipeError):
        os._exit(130)


def _next(inbox: queue.Queue[Job]) -> Job:
    """Waits with a timeout: a Ctrl-C just before an endless wait would only be handled after it."""
    while True:
        with contextlib.suppress(queue.Empty):
            return inbox.get(timeout=0.2)


def _receive(stream: BinaryIO, inbox: queue.Queue[Job]) -> None:
    try:
        while True:
            inbox.put(pickle.load(stream))
    except (EOFError, pickle.UnpicklingError):
        if sys.platform == "win32":
            _thread.interrupt_main()
        else:
            os.kill(os.getpid(), signal.SIGINT)


if __name__ == "__main__":
    main(*sys.argv[1:])
