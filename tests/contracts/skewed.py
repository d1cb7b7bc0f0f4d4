"""Designs for contexts as skewed as they come: each ends with a proved gap, or a refusal in words.

    python -m tests.contracts.skewed 3000 [SEED]

draws so many, in processes of their own: a crash of compiled code would end the process, and says
which case it was.
"""

from __future__ import annotations

import math
import random
import subprocess
import sys
from collections import Counter
from fractions import Fraction
from typing import Any, get_args

from liftlock import Ball, Context, Family, Intervals, Joint, Prior
from liftlock.designs import DESIGNS, design
from liftlock.errors import LiftlockError
from liftlock.model import Kind
from liftlock.notions import REGISTRY, Notion

UTILITIES = ("mutual-information", "histogram", "mean", "guess", "hamming", "absolute", "squared")
SECONDS = 1.0
BATCH = 100


def counts(size: int, source: random.Random) -> list[int]:
    """Return counts of very different sizes, up to 10^15, some of them equal or 0."""
    found = [int(10 ** source.uniform(0, source.choice((1, 4, 9, 15)))) for _ in range(size)]
    if size > 2 and source.random() < 0.3:
        found[source.randrange(size)] = 0
    if size > 1 and source.random() < 0.3:
        found[1] = found[0]
    return found if any(found) else [1] * size


def context(source: random.Random) -> Context:
    """Return a context of any kind, of 1 to 60 symbols, mostly few."""
    kind = source.choice(get_args(Kind))
    size = source.choice((1, 2, 2, 3, 3, 4, 5, 6, 8, 12, 20, 33, 60))
    if kind == "joint":
        rows = {f"s{s}": dict(enumerate(counts(size, source))) for s in range(source.randint(1, 6))}
        return Joint.from_counts(rows)
    centre = Prior.from_counts(dict(enumerate(counts(size, source))))
    if kind == "family":
        others = [Prior.from_counts(dict(enumerate(counts(size, source)))) for _ in range(2)]
        return Family.of([centre, *others])
    if kind == "ball":
        return Ball.of(centre, Fraction(1, 10 ** source.randint(1, 9)))
    if kind == "intervals":
        width = Fraction(1, source.randint(2, 50))
        return Intervals.of(
            {
                label: (mass * (1 - width), min(Fraction(1), mass * (1 + width)))
                for label, mass in zip(centre.labels, centre.fractions, strict=True)
            }
        )
    return centre


def notion(name: str, source: random.Random) -> Notion:
    """Return a notion with budgets from 1e-9 to 30."""

    def budget() -> str:
        return f"{10 ** source.uniform(-9, 1.5):.6g}"

    if "alpha" in REGISTRY[name].parameters:
        return REGISTRY[name].make("2", 1 + Fraction(budget()))
    values = {"delta": f"{10 ** source.uniform(-9, -0.1):.6g}"}
    return REGISTRY[name].make(*(values.get(key, budget()) for key in REGISTRY[name].parameters))


def run(seed: int) -> str:
    """Design for one context; return how it ended."""
    source = random.Random(f"skewed {seed}")
    try:
        given = context(source)
    except LiftlockError:
        return "no context"
    fitting = [entry for entry in DESIGNS.values() if given.kind in entry.contexts]
    # Half of the cases are for the optimum, in both of its ways.
    entry = DESIGNS["optimal"] if source.random() < 0.5 else source.choice(fitting)
    asked = notion(source.choice(entry.notions), source)
    options: dict[str, Any] = {"seconds": SECONDS} if entry.accepts("seconds") else {}
    if entry.accepts("how"):
        options["how"] = source.choice(("auto", "auto", "generation"))
    try:
        made = design(given, asked, utility=source.choice(UTILITIES), method=entry.key, **options)
    except LiftlockError:
        return "refused"
    assert made.certificate.holds, seed
    assert made.origin is not None
    gap = made.origin.gap
    if entry.key == "optimal":
        assert gap is None or 0 <= gap <= 1, (seed, gap)
        assert gap is not None or made.origin.bound is None, seed
    assert math.isfinite(made.origin.objective), seed
    return "no gap" if gap is None else "proved" if gap <= 1e-6 else "open"


def main(arguments: list[str]) -> int:
    """Run cases in batches, each in a process of its own; return 1 if one crashed."""
    if arguments[:1] == ["--batch"]:
        for seed in range(int(arguments[1]), int(arguments[2])):
            print(seed, end=" ", flush=True)
            print(run(seed), flush=True)
        return 0
    count, first = int(arguments[0]), int(arguments[1]) if len(arguments) > 1 else 0
    ends: Counter[str] = Counter()
    crashed = 0
    begin = first
    while begin < first + count:
        end = min(begin + BATCH, first + count)
        command = [sys.executable, "-m", "tests.contracts.skewed", "--batch", str(begin), str(end)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        lines = done.stdout.splitlines()
        ends.update(line.split(" ", 1)[1] for line in lines if " " in line.strip())
        begin = end
        if done.returncode:
            crashed += 1
            seed = int(lines[-1].split()[0])
            last = done.stderr.strip().splitlines()[-1:] or [f"exit {done.returncode}"]
            print(f"case {seed}: {last[0]}", flush=True)
            begin = seed + 1
        print(f"{begin - first:,} of {count:,}: {dict(ends)}, {crashed} crashed", flush=True)
    return int(crashed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
