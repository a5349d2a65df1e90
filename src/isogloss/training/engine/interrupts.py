"""Ctrl-C is deferred to the end of a step, so that the saved state is consistent; a second Ctrl-C is not."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType


@contextlib.contextmanager
def deferred_interrupts() -> Iterator[Callable[[], bool]]:
    """A function that returns whether Ctrl-C was pressed; outside the main thread signals cannot be handled."""
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    interrupted = False
    before = signal.getsignal(signal.SIGINT)

    def defer(number: int, frame: FrameType | None) -> None:
        nonlocal interrupted
        interrupted = True
        signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, defer)
    try:
        yield lambda: interrupted
    finally:
        signal.signal(signal.SIGINT, before)
