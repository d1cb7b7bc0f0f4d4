"""Measure the house: `make house`, or `python -m tests.house [JOURNEY]`.

How large its rooms are, how many layers, how far one walks for a design or an estimate. With the
name of a journey, the way it takes: each module, and the functions that it enters there first.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
from itertools import groupby

from tests.house.doors import taken_from_inside
from tests.house.journeys import journeys
from tests.house.rooms import layers, lines, modules, sizes, solver_constants, type_tests
from tests.house.tracer import Trace, trace

# What one reads to understand a verb; the rest is arithmetic, checks and vocabulary.
READ = {
    "design": ("designs", "_solver", "mechanism"),
    "estimate": ("estimate",),
    "protect": ("tables/protect", "tables/encoding", "tables/releases"),
}


def walk(wanted: str | None = None) -> dict[str, Trace]:
    """Trace the journeys, or the one that is wanted."""
    with tempfile.TemporaryDirectory() as place, contextlib.chdir(place):
        every = list(journeys())
        return {name: trace(run) for name, run in every if wanted in (None, name)}


def show_rooms() -> None:
    """Print the size of each room."""
    found = sizes()
    print(f"{'room':<20}{'files':>7}{'lines':>8}")
    for name, (files, length) in found.items():
        print(f"{name:<20}{files:>7,}{length:>8,}")
    files, length = (sum(size[part] for size in found.values()) for part in (0, 1))
    print(f"{'sum':<20}{files:>7,}{length:>8,}\n")
    tests = type_tests()
    constants = solver_constants()
    print(f"import layers: {len(layers())}")
    print(f"type tests on notions outside notions/: {sum(tests.values())} in {len(tests)} files")
    print(
        f"tuning constants of the solver: {sum(map(len, constants.values()))} "
        f"in {len(constants)} files"
    )
    inside = taken_from_inside()
    print(
        f"tests take {sum(map(len, inside.values())):,} names from {len(inside)} modules behind a "
        f"door\n"
    )


def processor_time(code: str) -> float:
    """Return the least processor time, in seconds, of five new Pythons that run some code."""

    def once() -> float:
        before = os.times()
        subprocess.run([sys.executable, "-c", code], check=True)
        after = os.times()
        return sum(after[2:4]) - sum(before[2:4])

    return min(once() for _ in range(5))


def show_start() -> None:
    """Print the processor time until one can begin, beside that of Python and numpy alone."""
    wanted = ("pass", "import numpy", "import liftlock", "from liftlock import Mechanism")
    print("processor time: " + ", ".join(f"{code} {processor_time(code):.2f} s" for code in wanted))
    print()


def show_journeys() -> None:
    """Print how far each journey goes."""
    columns = ("modules", "functions", "switches", "of room", "back")
    print(f"{'journey':<22}" + "".join(f"{name:>10}" for name in columns))
    found = walk()
    for name, way in found.items():
        numbers = (len(way.modules), len(way.functions), way.switches, way.room_switches, way.back)
        print(f"{name:<22}" + "".join(f"{number:>10,}" for number in numbers))
    print()
    for name, places in READ.items():
        read = [
            module
            for module in found[name].modules
            if any(f"{module}/".startswith(f"{place}/") for place in places)
        ]
        length = sum(lines(modules()[module]) for module in read)
        print(f"to read for {name}: {len(read)} files, {length:,} lines: {', '.join(read)}")


def show_way(name: str) -> None:
    """Print the way of one journey."""
    for way in walk(name).values():
        for module, functions in groupby(way.functions, key=lambda visit: visit[0]):
            print(f"{module}: {', '.join(function for _, function in functions)}")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        show_way(" ".join(sys.argv[1:]))
    else:
        show_rooms()
        show_start()
        show_journeys()
