"""A solver that runs for long hears Ctrl-C, and other threads solve as ever."""

from __future__ import annotations

import _thread
import threading
import time
from typing import Any

import numpy as np
import pytest

from liftlock.designs.solver.highs import run


class Endless:
    """Stands for a solver in a long loop of its own."""

    HandleUserInterrupt = False

    def __init__(self) -> None:
        self.told = threading.Event()
        self.ended = False

    def run(self) -> None:
        self.told.wait(30)
        self.ended = True

    def cancelSolve(self) -> None:
        self.told.set()


def test_an_interruption_stops_the_solver_and_goes_on_up() -> None:
    solver = Endless()
    timer = threading.Timer(0.3, _thread.interrupt_main)
    timer.start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        run(solver)
    timer.join()
    assert solver.told.is_set()
    assert solver.ended
    assert time.monotonic() - start < 20


def program() -> Any:
    import highspy

    highs = highspy.Highs()  # type: ignore[no-untyped-call]
    highs.setOptionValue("output_flag", False)
    highs.addVars(2, np.zeros(2), np.ones(2))
    highs.changeColsCost(2, np.arange(2, dtype=np.int32), np.array([-1.0, -2.0]))
    highs.addRow(-np.inf, 1.5, 2, np.arange(2, dtype=np.int32), np.ones(2))
    return highs


@pytest.mark.parametrize("elsewhere", [False, True])
def test_it_solves(elsewhere: bool) -> None:
    highs = program()
    if elsewhere:
        thread = threading.Thread(target=run, args=(highs,))
        thread.start()
        thread.join()
    else:
        run(highs)
    assert highs.getInfo().objective_function_value == pytest.approx(-2.5)
