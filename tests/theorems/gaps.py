"""Optima of small problems to 50 digits, found by brute force, and whether what is printed holds.

    python -m tests.theorems.gaps 50000 [seed]

draws so many skewed problems (counts up to 10^15, budgets from 1e-9 to 30), designs a mechanism for
each, and compares its gap and its bound with the true optimum and the true cost of its integers.
Nothing here comes from the designs: extreme posteriors are found by trying every set of active
limits, and the linear programme over them is solved in decimal numbers.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal, getcontext
from itertools import combinations, product
from typing import Any

import liftlock as ll
from liftlock.errors import LiftlockError
from liftlock.notions import MaxLift, MinLift

getcontext().prec = 90

Vector = list[Decimal]
ZERO, ONE = Decimal(0), Decimal(1)
TINY = Decimal("1e-55")
UTILITIES = ("mutual-information", "histogram", "mean", "guess", "hamming", "absolute", "squared")
ASKED = 1e-6
"""The gap that a design asks for unless it is told otherwise."""


@dataclass(frozen=True)
class World:
    """One problem: counts of each secret (one row if X itself is the secret), notion, utility."""

    counts: tuple[tuple[int, ...], ...]
    kind: str
    budgets: tuple[str, ...]
    utility: str
    how: str = "auto"

    @property
    def own(self) -> bool:
        """Whether X itself is the secret."""
        return len(self.counts) == 1

    def context(self) -> Any:
        """The context, as a user would give it."""
        rows = [dict(zip(self.labels, row, strict=True)) for row in self.counts]
        if self.own:
            return ll.Prior.from_counts(rows[0])
        return ll.Joint.from_counts({f"s{k}": row for k, row in enumerate(rows)})

    @property
    def labels(self) -> list[int]:
        """Labels that are numbers, all different."""
        return [x * x - 2 * x if x != 0 else 7000 for x in range(len(self.counts[0]))]

    def notion(self) -> Any:
        """The notion, as a user would give it."""
        makes: dict[str, Callable[..., Any]] = {
            "lip": ll.LIP,
            "alip": lambda low, high: ll.ALIP(lower=low, upper=high),
            "eps_upper": MaxLift,
            "eps_lower": MinLift,
            "ldp": ll.LDP,
        }
        return makes[self.kind](*self.budgets)

    def design(self) -> Any:
        """The mechanism that liftlock makes."""
        options: dict[str, Any] = {} if self.how == "auto" else {"how": self.how}
        return ll.design(
            self.context(), self.notion(), utility=self.utility, method="optimal", **options
        )

    # ------------------------------------------------------------------------------ exact numbers

    @property
    def masses(self) -> Vector:
        """P_X."""
        total = Decimal(sum(map(sum, self.counts)))
        return [sum(map(Decimal, column)) / total for column in zip(*self.counts, strict=True)]

    def limits(self) -> tuple[Decimal, Decimal | None]:
        """The smallest and the largest lift (None if any); for LDP 0 and the ratio."""
        first = Decimal(self.budgets[0]).exp()
        if self.kind == "lip":
            return ONE / first, first
        if self.kind == "alip":
            return ONE / first, Decimal(self.budgets[1]).exp()
        return (ONE / first, None) if self.kind == "eps_lower" else (ZERO, first)

    def cost(self, v: Vector) -> Decimal:
        """What a posterior costs."""
        if self.utility == "mutual-information":
            return -sum((p * p.ln() for p in v if p > 0), ZERO)
        if self.utility == "histogram":
            return sum((p * (1 - p) for p in v), ZERO)
        if self.utility in ("guess", "hamming"):
            return 1 - max(v)
        points = [Decimal(label) for label in self.labels]
        if self.utility == "mean":
            mean = sum((p * t for p, t in zip(v, points, strict=True)), ZERO)
            return sum((p * (t - mean) ** 2 for p, t in zip(v, points, strict=True)), ZERO)
        power = 1 if self.utility == "absolute" else 2
        return min(
            sum((p * abs(t - z) ** power for p, t in zip(v, points, strict=True)), ZERO)
            for z in points
        )

    def posteriors(self) -> list[Vector]:
        """All extreme posteriors, or more of those allowed."""
        if self.own and self.kind == "ldp":
            return _staircases(self.masses, self.limits()[1] or ONE)
        return _box(self) if self.own else _active(self)

    def optimum(self) -> Decimal:
        """The least mean cost of all mechanisms that keep the notion."""
        found = self.posteriors()
        return least_mixture(self.masses, found, [self.cost(v) for v in found], self.cost)

    def true_cost(self, mechanism: Any) -> Decimal:
        """The mean cost of the integers of a mechanism."""
        weights = mechanism.channel.weights.tolist()
        total = ZERO
        for y in range(len(weights[0])):
            joint = [
                p * int(row[y]) / sum(map(int, row))
                for p, row in zip(self.masses, weights, strict=True)
            ]
            mass = sum(joint, ZERO)
            if mass:
                total += mass * self.cost([value / mass for value in joint])
        return total


def _staircases(masses: Vector, ratio: Decimal) -> list[Vector]:
    found = []
    for raised in product((ONE, ratio), repeat=len(masses)):
        weights = [p * level for p, level in zip(masses, raised, strict=True)]
        total = sum(weights, ZERO)
        found.append([value / total for value in weights])
    return found


def _box(world: World) -> list[Vector]:
    """Every symbol but one is at an end of its own."""
    lower, upper = world.limits()
    low = [p * lower for p in world.masses]
    high = [ONE if upper is None else min(p * upper, ONE) for p in world.masses]
    found = []
    n = len(low)
    for between in range(n):
        others = [x for x in range(n) if x != between]
        for ends in product((False, True), repeat=n - 1):
            v = [ZERO] * n
            for x, raised in zip(others, ends, strict=True):
                v[x] = high[x] if raised else low[x]
            v[between] = ONE - sum(v, ZERO)
            if low[between] - TINY <= v[between] <= high[between] + TINY:
                found.append(v)
    return found


def _active(world: World) -> list[Vector]:
    """Every set of as many active limits as there are free coordinates, solved."""
    masses, n = world.masses, len(world.masses)
    total = Decimal(sum(map(sum, world.counts)))
    rows: list[Vector] = []
    for row in world.counts:
        distribution = Decimal(sum(row)) / total
        rows.append(
            [Decimal(c) / total / p / distribution for c, p in zip(row, masses, strict=True)]
        )  # the lift of this secret
    lower, upper = world.limits()
    cuts: list[Vector] = [[-ONE if y == x else ZERO for y in range(n)] for x in range(n)]
    if world.kind == "ldp":
        assert upper is not None
        pairs = [(a, b) for a in rows for b in rows if a is not b]
        cuts += [[p - upper * q for p, q in zip(a, b, strict=True)] for a, b in pairs]
    else:
        cuts += [[entry - upper for entry in row] for row in rows] if upper is not None else []
        cuts += [[lower - entry for entry in row] for row in rows] if lower else []
    return corners(cuts)


def corners(cuts: list[Vector]) -> list[Vector]:
    """Return the vertices of {v : sum v = 1, cut . v <= 0}."""
    n = len(cuts[0])
    found = []
    for chosen in combinations(cuts, n - 1):
        v = solved([[ONE] * n, *chosen], [ONE] + [ZERO] * (n - 1))
        if v is not None and all(_dot(cut, v) <= TINY * max(map(abs, cut)) for cut in cuts):
            found.append([max(p, ZERO) for p in v])
    return found


def solved(rows: list[Vector], right: Vector) -> Vector | None:
    """Solve equations by elimination; None if they are dependent."""
    system = [[*row, end] for row, end in zip(rows, right, strict=True)]
    n = len(system)
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: abs(system[i][k]) / max(map(abs, system[i][:-1])))
        if abs(system[pivot][k]) <= TINY * max(map(abs, rows[0])):
            return None
        system[k], system[pivot] = system[pivot], system[k]
        for i in range(n):
            if i != k and system[i][k]:
                share = system[i][k] / system[k][k]
                system[i] = [a - share * b for a, b in zip(system[i], system[k], strict=True)]
                if not any(system[i][:-1]):
                    return None
    return [system[k][n] / system[k][k] for k in range(n)]


def _dot(left: Vector, right: Vector) -> Decimal:
    return sum((a * b for a, b in zip(left, right, strict=True)), ZERO)


def least_mixture(
    masses: Vector, posteriors: list[Vector], costs: Vector, cost: Callable[[Vector], Decimal]
) -> Decimal:
    """Return the least mean cost of posteriors whose mean is the prior: the simplex method."""
    n = len(masses)
    whole = cost(masses)
    columns = [[p / q for p, q in zip(v, masses, strict=True)] for v in posteriors]
    # Releasing nothing fills the first place of the basis; the others are too dear to stay.
    columns.append([ONE] * n)
    scaled = [*(c / whole for c in costs), ONE]
    for x in range(1, n):
        columns.append([ONE if y == x else ZERO for y in range(n)])
        scaled.append(Decimal(10) ** 20)
    basis = [len(posteriors) + k for k in range(n)]
    inverse = [[ONE if i == j else ZERO for j in range(n)] for i in range(n)]
    for i in range(1, n):
        inverse[i][0] = -ONE
    values = [ONE] + [ZERO] * (n - 1)
    for turn in range(10_000):
        prices = [sum((scaled[basis[i]] * inverse[i][j] for i in range(n)), ZERO) for j in range(n)]
        reduced = [
            c - _dot(prices, column)
            for c, column in zip(scaled[: len(posteriors)], columns, strict=False)
        ]
        if turn < 300:
            entering = min(range(len(reduced)), key=reduced.__getitem__)
        else:  # the first one: that cannot go in circles
            entering = next((k for k, c in enumerate(reduced) if c < -TINY), 0)
        if reduced[entering] >= -TINY:
            return whole * sum((scaled[k] * v for k, v in zip(basis, values, strict=True)), ZERO)
        moved = [_dot(row, columns[entering]) for row in inverse]
        out = min(
            (i for i in range(n) if moved[i] > TINY),
            key=lambda i: (values[i] / moved[i], basis[i]),
        )
        step = values[out] / moved[out]
        values = [v - step * m for v, m in zip(values, moved, strict=True)]
        values[out] = step
        inverse[out] = [entry / moved[out] for entry in inverse[out]]
        for i in range(n):
            if i != out:
                inverse[i] = [
                    a - moved[i] * b for a, b in zip(inverse[i], inverse[out], strict=True)
                ]
        basis[out] = entering
    raise AssertionError("the simplex method does not end")


# ------------------------------------------------------------------------------------------ judging


@dataclass(frozen=True)
class Verdict:
    """What was claimed of a mechanism, and what is true."""

    claimed: float | None
    true: Decimal
    """How far its integers are from the optimum, relative to releasing nothing."""
    complaints: tuple[str, ...]


def judged(world: World) -> Verdict:
    """Design a mechanism, and hold what is said of it against the truth."""
    mechanism = world.design()
    origin = mechanism.origin
    nothing, best, cost = world.cost(world.masses), world.optimum(), world.true_cost(mechanism)
    said: list[str] = []
    true = (cost - best) / nothing
    objective = Decimal(origin.objective)
    information = world.utility == "mutual-information"
    shown = nothing - objective if information else objective
    if abs(shown - cost) > nothing * Decimal("1e-12"):
        said.append(f"objective {objective}, truly {nothing - cost if information else cost}")
    if origin.gap is not None:
        gap, bound = Decimal(origin.gap), Decimal(origin.bound)
        if not 0 <= gap <= 1:
            said.append(f"gap {gap}")
        if max(true, (shown - best) / nothing) > gap:
            said.append(f"gap {gap:.3g}, truly {true:.3g}")
        if (bound < nothing - best) if information else (bound > best):
            said.append(f"bound {bound} beyond {nothing - best if information else best}")
    for remark in origin.remarks:
        if remark.startswith("nothing that the budget allows is better than no release"):
            by = remark.split("by more than ")[1].split(" of")[0] if "by more" in remark else "0"
            if (nothing - best) / nothing > Decimal(by):
                said.append(f"better than no release by {(nothing - best) / nothing:.3g}: {remark}")
    return Verdict(origin.gap, true, tuple(said))


# ------------------------------------------------------------------------------------------ drawing


def drawn(generator: random.Random, inputs: int, secrets: int = 1) -> World:
    """Draw a skewed problem."""
    top = generator.uniform(0.0, 15.0)
    counts = tuple(
        tuple(int(10 ** generator.uniform(0.0, top)) for _ in range(inputs)) for _ in range(secrets)
    )
    kind = generator.choice(["lip", "lip", "alip", "eps_upper", "eps_lower", "ldp"])
    budgets = tuple(_budget(generator) for _ in range(2 if kind == "alip" else 1))
    how = generator.choice(["auto", "auto", "auto", "generation"]) if inputs > 2 else "auto"
    return World(counts, kind, budgets, generator.choice(UTILITIES), how)


def _budget(generator: random.Random) -> str:
    if generator.random() < 0.5:
        return f"{10 ** generator.uniform(-9.0, 1.4771):.6g}"
    return f"{generator.uniform(0.01, 30.0):.4f}"


def problems(count: int, seed: int, *, two: float = 0.8) -> Iterator[World]:
    """Draw problems: a share of two values, the rest of three to five symbols, or small joints."""
    generator = random.Random(seed)
    for _ in range(count):
        if generator.random() < two:
            yield drawn(generator, 2)
        elif generator.random() < 0.5:
            yield drawn(generator, generator.choice([3, 3, 4, 5]))
        else:
            yield drawn(generator, generator.choice([2, 3, 3, 4]), generator.choice([2, 2, 3]))


def main() -> None:
    """Judge as many problems as are asked for; the exit code says whether a claim was untrue."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 17
    tally: Counter[str] = Counter()
    worst, worst_world = ZERO, None
    for number, world in enumerate(problems(count, seed)):
        try:
            verdict = judged(world)
        except LiftlockError as error:
            tally[f"refused: {type(error).__name__}"] += 1
            continue
        kind = "two values" if world.own and len(world.counts[0]) == 2 else world.how
        tally[f"judged, {kind}"] += 1
        if verdict.complaints:
            tally["untrue"] += 1
            print(number, world, *verdict.complaints, sep="\n    ", flush=True)
        if verdict.claimed is None:
            tally["without a gap"] += 1
        else:
            tally[f"not within {ASKED}, {kind}"] += verdict.claimed > ASKED
            if verdict.claimed and verdict.true / Decimal(verdict.claimed) > worst:
                worst, worst_world = verdict.true / Decimal(verdict.claimed), world
    for name, times in sorted(tally.items()):
        print(f"{times:8} {name}")
    print(f"largest true / claimed: {worst:.6f} of {worst_world}")
    sys.exit(bool(tally["untrue"]))


if __name__ == "__main__":
    main()
