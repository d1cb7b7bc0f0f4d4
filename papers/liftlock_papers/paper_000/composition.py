"""What several releases leak together: published bounds, a tight one, and the exact leakage."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

import numpy as np

import liftlock as ll
from liftlock.accounting import account, account_independent
from liftlock_papers.points import Point
from liftlock_papers.setting import Setting

PRIORS: Mapping[str, tuple[int, ...]] = {
    "P1": (25, 25, 25, 25),
    "P2": (10, 10, 10, 70),
    "P3": (1, 33, 33, 33),
}
"""In percent."""
SETS: Mapping[str, tuple[str, str]] = {
    "set 1": ("P1", "P2"),
    "set 2": ("P1", "P3"),
    "set 3": ("P2", "P3"),
}
ORDERS: Mapping[str, tuple[str, ...]] = {
    "X1, X2, X3": ("P1", "P2", "P3"),
    "X2, X3, X1": ("P2", "P3", "P1"),
    "X3, X2, X1": ("P3", "P2", "P1"),
}
EPSILONS = (2, 5)


def composition(setting: Setting) -> Iterator[Point]:
    """Compute the figure: one prior (a), a set of priors (b), a sequence of data (c)."""
    most = setting.choose(full=10, quick=3)
    for epsilon in setting.each(EPSILONS, "budgets"):
        for name, counts in PRIORS.items():
            least = min(counts) / 100
            panel = f"a{epsilon}"
            yield from _repeated(panel, name, prior_of(name), epsilon, most, least, least)
        for name, members in SETS.items():
            family = ll.Family.of(prior_of(member) for member in members)
            lows = [min(PRIORS[member]) / 100 for member in members]
            yield from _repeated(f"b{epsilon}", name, family, epsilon, most, min(lows), max(lows))
        yield from _sequences(epsilon)


def _repeated(
    panel: str,
    name: str,
    context: ll.Prior | ll.Family,
    epsilon: int,
    most: int,
    least: float,
    largest: float,
) -> Iterator[Point]:
    """Release the same value again and again through the certified optimum."""
    made = ll.design(context, ll.LIP(str(epsilon)))
    for number in range(1, most + 1):
        bound = published_bound([epsilon] * number, [largest] * number, least)
        yield Point(panel, f"{name}, published bound", number, bound)
        tight = tight_bound([epsilon] * number, [largest] * number, least)
        yield Point(panel, f"{name}, tight bound", number, tight)
        found = account([made] * number, context)
        if not found.is_exact("lip"):
            raise AssertionError("the product of so few releases is small")
        yield Point(panel, f"{name}, exact", number, float(found["lip"].value))


def _sequences(epsilon: int) -> Iterator[Point]:
    """Release different data one after the other, each through its own optimum."""
    panel = f"c{epsilon}"
    for order, names in ORDERS.items():
        for number in range(1, len(names) + 1):
            chosen = names[:number]
            lows = [min(PRIORS[name]) / 100 for name in chosen]
            bound = published_bound([epsilon] * number, lows, math.prod(lows))
            yield Point(panel, f"{order}: published bound", number, bound)
            pairs = [(optimum(name, epsilon).channel, prior_of(name)) for name in chosen]
            exact = float(account_independent(pairs)["lip"].value)
            yield Point(panel, f"{order}: exact, independent", number, exact)
            linked = correlated_leakage(tuple(sorted(chosen)), epsilon)
            yield Point(panel, f"{order}: exact, correlated", number, linked)


def prior_of(name: str) -> ll.Prior:
    """Return a prior of the paper."""
    return ll.Prior.from_counts(dict(enumerate(PRIORS[name])))


@functools.cache
def optimum(name: str, epsilon: int) -> ll.Mechanism:
    """Return the certified mechanism with the most mutual information."""
    return ll.design(prior_of(name), ll.LIP(str(epsilon)))


def published_bound(epsilons: Sequence[float], rarest: Sequence[float], least: float) -> float:
    """Return the bound of 000 Thm 4, Cor 4 and Cor 5.

        ln(least + exp(sum_k min{2 eps_k, ln((e^eps_k - 1 + P_k) / P_k)}) (1 - least))

    with P_k the smallest probability for release k (Cor 4: the largest of those of the set).

    >>> [round(published_bound([2.0], [p], p), 4) for p in (0.25, 0.01)]
    [3.0041, 3.9901]
    """
    total = sum(_ratios(epsilons, rarest))
    return float(np.logaddexp(math.log(least), total + math.log1p(-least)))


def tight_bound(epsilons: Sequence[float], rarest: Sequence[float], least: float) -> float:
    """Return the same bound with one release counted by its lifts, the best choice of the one.

        min_j ln(least + (e^eps_j - least) exp(sum_{k != j} omega_k))

    >>> tight_bound([2.0], [0.25], 0.25)
    2.0
    """
    ratios = _ratios(epsilons, rarest)
    total = sum(ratios)
    return min(
        float(np.logaddexp(math.log(least), total - own + _log_less(epsilon, least)))
        for epsilon, own in zip(epsilons, ratios, strict=True)
    )


def _ratios(epsilons: Sequence[float], rarest: Sequence[float]) -> list[float]:
    """Return omega_k, the LDP that each release has at most."""
    return [
        min(2 * epsilon, math.log1p(math.expm1(epsilon) / p))
        for epsilon, p in zip(epsilons, rarest, strict=True)
    ]


def _log_less(epsilon: float, least: float) -> float:
    """Return ln(e^epsilon - least)."""
    return epsilon + math.log1p(-least * math.exp(-epsilon))


@functools.cache
def correlated_leakage(names: tuple[str, ...], epsilon: int) -> float:
    """Return what is learnt of all data together; their order does not matter for it."""
    if len(names) == 1:
        audit = ll.audit(optimum(names[0], epsilon).channel, prior_of(names[0]))
        return float(audit["lip"].value)
    joint = correlated(names)
    releases = []
    for place, name in enumerate(names):
        table = optimum(name, epsilon).table
        # Every datum is released by itself: its channel reads one part of the tuple.
        rows = {
            label: {y: table.probability(label[place], y) for y in table.outputs.labels}
            for label in joint.labels
            if isinstance(label, tuple)
        }
        releases.append(ll.Channel.from_rows(rows))
    return float(account(releases, joint)["lip"].value)


def correlated(names: Sequence[str]) -> ll.Prior:
    """Return a joint prior of the data: half independent, half all at the same quantile.

    >>> correlated(["P1", "P2"])[(3, 3)]
    Fraction(17, 80)
    """
    shares = {name: [Fraction(count, 100) for count in PRIORS[name]] for name in names}
    joint = {
        values: math.prod(shares[name][value] for name, value in zip(names, values, strict=True))
        / 2
        for values in itertools.product(range(4), repeat=len(names))
    }
    edges = {name: list(itertools.accumulate(shares[name])) for name in names}
    cuts = sorted({edge for name in names for edge in edges[name]})
    below = Fraction(0)
    for cut in cuts:
        middle = (below + cut) / 2
        values = tuple(sum(edge < middle for edge in edges[name]) for name in names)
        joint[values] += (cut - below) / 2
        below = cut
    return ll.Prior.from_probabilities(joint)
