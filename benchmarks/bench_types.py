"""Symbols of one type are one symbol: 2,230 kinds of people of Adult, hiding sex or relationship.

X is work class, education, marital status and occupation together. Information at LIP 0.5, as a
share of H(X), with the gap that was proved. "without" is column generation on all symbols, as many
seconds as given.
"""

from __future__ import annotations

import gzip
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

from rich.table import Table as Grid

from liftlock._runtime.clock import Clock
from liftlock._solver.outputs import finish_solution
from liftlock._solver.problem import Problem, Solution, Task
from liftlock._solver.reductions import Types
from liftlock._solver.strategies import STRATEGIES, solve
from liftlock.designs.mechanisms.optimal import start_by_merging
from liftlock.model import Joint
from liftlock.model.alphabet import Alphabet
from liftlock.notions.lip import LIP
from liftlock.utility import MutualInformation

ADULT = Path(__file__).parents[2] / "shared/data/adult/adult.data.gz"
KINDS = (1, 3, 5, 6)
SECRETS = {"sex": 9, "relationship": 7}
FIELDS = 15
SECONDS = 60.0


def rows() -> list[list[str]] | None:
    """Return the people of Adult; None if the data is not there."""
    if not ADULT.is_file():
        return None
    with gzip.open(ADULT, "rt", encoding="utf-8") as file:
        lines = [[field.strip() for field in line.split(",")] for line in file]
    return [line for line in lines if len(line) == FIELDS]


def joint_of(people: list[list[str]], secret: int) -> Joint:
    """Count a secret and the kind of person."""
    found = Counter((each[secret], " / ".join(each[k] for k in KINDS)) for each in people)
    secrets, kinds = (sorted({pair[side] for pair in found}) for side in (0, 1))
    counts = [[found[each, kind] for kind in kinds] for each in secrets]
    return Joint.from_rows(Alphabet.of(secrets), Alphabet.of(kinds), counts)


def solved(task: Task, *, types: bool) -> tuple[Solution, float]:
    """Solve with or without merging types; return the solution and the seconds."""
    begun = time.perf_counter()
    if types:
        return solve(task), time.perf_counter() - begun
    generation = next(each for each in STRATEGIES if each.name == "generation")
    found = generation.solve(task)
    assert found is not None
    return finish_solution(task, found), time.perf_counter() - begun


def run() -> Grid | str:
    """Return the table."""
    people = rows()
    if people is None:
        return f"types: the data is not there: {ADULT.name}"
    grid = Grid("hidden", "symbols", "types", "solved as", "I(X; Y) / H(X)", "gap", "seconds")
    for name, place in SECRETS.items():
        joint = joint_of(people, place)
        task = Task(Problem.of(joint, LIP("0.5")), MutualInformation(), begin=start_by_merging)
        for types in (False, True):
            clock = Clock(seconds=SECONDS)
            found, seconds = solved(replace(task, clock=clock), types=types)
            proof = found.proof
            grid.add_row(
                name,
                f"{len(joint.inputs):,}",
                f"{len(Types.of(joint)):,}",
                "types" if types else "symbols",
                f"{1 - proof.cost / proof.reference:.4f}",
                f"{proof.gap:.1e}",
                f"{seconds:.1f}",
            )
    return grid
