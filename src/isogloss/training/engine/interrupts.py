"""Ctrl-C that waits for the end of a step, so that what is saved is whole; a second one does not wait."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType


@contextlib.contextmanager
def deferred_interrupts() -> Iterator[Callable[[], bool]]:
    """A function that tells whether Ctrl-C was pressed since. Outside the main thread Python allows no such thing."""
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
