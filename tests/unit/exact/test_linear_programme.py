"""HiGHS behind one door: Ctrl-C is heard, limits are of work, and its word is checked."""

from __future__ import annotations

import _thread
import threading
import time
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from liftlock._runtime.clock import SPEED, Clock
from liftlock.exact.linear_programme import LARGEST_COST, Highs, run


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


def knapsack(size: int = 60) -> Highs:
    """Return a programme that takes many iterations."""
    from scipy.sparse import csc_matrix

    generator = np.random.default_rng(size)
    rows = generator.random((size, 3 * size))
    highs = Highs()
    highs.pass_columns(
        csc_matrix(rows), -generator.random(3 * size), np.ones(3 * size), np.full(size, -np.inf),
        rows.sum(axis=1) / 4,
    )  # fmt: skip
    return highs


def test_a_limit_is_one_of_work() -> None:
    whole = knapsack().solve(Clock(seconds=1000.0))
    little = 1000.0 * SPEED - 3e5  # operations are left
    clock = Clock(seconds=1000.0, work=little)
    short = knapsack().solve(clock)
    again = knapsack().solve(Clock(seconds=1000.0, work=little))
    assert whole.status == "optimal"
    assert short.status == "limit"
    assert short.cost == again.cost != whole.cost
    assert clock.left == 0
    assert clock.ended == "work"


def test_a_basis_that_does_not_fit_is_not_started_from(monkeypatch: pytest.MonkeyPatch) -> None:
    highs = knapsack()
    right = highs.solve().cost
    answers = iter([False, True, True, True])
    cleared = []
    monkeypatch.setattr(Highs, "_consistent", lambda _: next(answers))
    clear = highs.model.clearSolver
    monkeypatch.setattr(highs.model, "clearSolver", lambda: cleared.append(clear()))
    assert highs.solve().cost == pytest.approx(right, rel=1e-12)
    assert len(cleared) == 1


def test_the_size_of_the_basis_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    highs = knapsack(5)
    highs.solve()
    assert highs._consistent()
    basis = highs.model.getBasis()
    columns, rows = list(basis.col_status), list(basis.row_status)
    place = columns.index(highs._basic)
    columns[place] = next(s for s in columns + rows if s != highs._basic)
    spoilt = SimpleNamespace(valid=True, col_status=columns, row_status=rows)
    monkeypatch.setattr(highs.model, "getBasis", lambda: spoilt)
    assert not highs._consistent()


def test_costs_stay_below_what_the_solver_takes_for_infinite() -> None:
    highs = knapsack(3)
    highs.set_costs(np.full(9, 1e200))
    assert max(highs.model.getLp().col_cost_) == LARGEST_COST
    assert float(highs.model.getOptionValue("infinite_cost")[1]) > LARGEST_COST


def test_no_solution_comes_with_a_reason() -> None:
    from scipy.sparse import csc_matrix

    highs = Highs(presolve=False)
    two = np.full(1, 2.0)
    highs.pass_columns(csc_matrix([[1.0]]), np.ones(1), np.ones(1), two, two)
    assert highs.solve().status == "infeasible"
    assert len(highs.ray()) == 1


def test_a_clock_counts_work_and_stands_still_while_something_is_compiled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.setattr(Clock, "paused", 0.0)
    clock = Clock(seconds=10.0, started=now[0])
    with clock.pause():
        now[0] += 35.0
    assert clock.elapsed == 0.0
    assert clock.left == 10.0
    clock.spend(4 * SPEED)
    assert clock.left == pytest.approx(6.0)
    part = clock.part(0.5)
    assert part.seconds == pytest.approx(3.0)
    clock.spend(6 * SPEED)
    assert (clock.left, clock.ended) == (0.0, "work")
    slow = Clock(seconds=10.0, started=now[0])
    now[0] += 11.5
    assert (slow.left, slow.ended) == (0.0, "clock")
    assert Clock().left == float("inf")
