"""Running HiGHS so that Ctrl-C is heard, which its own loop would not hear until it ends."""

from __future__ import annotations

import atexit
import threading
from typing import Any

_PATIENCE = 5.0
"""Seconds that a solver which was told to stop is waited for."""


def run(highs: Any) -> None:
    """Solve in a thread of its own; an interruption tells the solver to stop and goes on up.

    A solver that was interrupted is not to be run again.
    """
    if threading.current_thread() is not threading.main_thread():
        highs.run()  # other threads get no signals
        return
    if not highs.HandleUserInterrupt:
        highs.HandleUserInterrupt = True
    done = threading.Event()

    def work() -> None:
        try:
            highs.run()
        finally:
            done.set()

    # An event, as joining a thread that was interrupted while it was joined does not wait.
    threading.Thread(target=work, daemon=True).start()
    try:
        while not done.wait(0.2):
            pass
    except KeyboardInterrupt:
        highs.cancelSolve()
        # A second interruption does not wait here, and leaving under a running solver would crash.
        atexit.register(done.wait, _PATIENCE)
        done.wait(_PATIENCE)
        raise
