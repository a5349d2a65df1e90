"""A worker process of the local backend: `python -m isogloss.studies.execution.worker STORE DEVICE`.

Jobs come in by standard input and outcomes go out by standard output, as pickles. When the input ends, whoever
started the worker is gone: it stops as after Ctrl-C, so that training keeps a checkpoint.
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

from isogloss.studies.execution.backends import Job
from isogloss.studies.execution.jobs import attempt


def main(store: str, device: str) -> None:
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print must not be taken for an outcome
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have had it ignored
    for name in {"SIGTERM", "SIGUSR2"} & set(signal.Signals.__members__):  # Slurm warns all processes of a task, and
        signal.signal(signal.Signals[name], signal.SIG_IGN)  # whoever started this one says when to stop, or is gone
    inbox: queue.Queue[Job] = queue.Queue()
    threading.Thread(target=_listen, args=(sys.stdin.buffer, inbox), daemon=True).start()
    try:
        while True:
            pickle.dump(attempt(_next(inbox), store, device or None), out)
            out.flush()
    except (KeyboardInterrupt, BrokenPipeError):
        os._exit(130)


def _next(inbox: queue.Queue[Job]) -> Job:
    """Looked for again and again: Ctrl-C in the moment before a wait without end would be heard after it."""
    while True:
        with contextlib.suppress(queue.Empty):
            return inbox.get(timeout=0.2)


def _listen(stream: BinaryIO, inbox: queue.Queue[Job]) -> None:
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
