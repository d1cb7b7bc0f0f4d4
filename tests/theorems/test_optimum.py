"""True optima where the published response is not one, and where it is.

Source: 000 eq. (19); 001 Thm 2, Thm 3, Thm 5.
"""

from __future__ import annotations

import math

import pytest

import liftlock as ll
from liftlock.designs import optimal
from liftlock.utility import make_utility

RARE = ll.Prior.from_probabilities({1: "0.1", 2: "0.2", 3: "0.7"})


def optimum(prior: ll.Prior, epsilon: str, name: str, *, ldp: bool = False) -> float:
    utility = make_utility(name, prior.alphabet)
    notion = ll.LDP(epsilon) if ldp else ll.LIP(epsilon)
    draft = optimal(prior, notion, utility=utility, gap=1e-10)
    assert draft.optimality is not None
    assert ll.lock(draft, notion, prior).certificate.holds
    return utility.objective(draft.optimality.cost, prior.floats())


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("mean", 0.2904695421),
        ("histogram", 0.3287611726),
        ("mutual-information", 0.1977374041),
        ("guess", 0.2230448981),
        ("hamming", 0.2230448981),
    ],
)
def test_the_rare_symbol(name: str, expected: float) -> None:
    assert optimum(RARE, "1", name) == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("mean", 0.3706608022), ("histogram", 0.3993282019), ("mutual-information", 0.0937612460)],
)
def test_the_rare_symbol_under_ldp(name: str, expected: float) -> None:
    assert optimum(RARE, "1", name, ldp=True) == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("symbols", [2, 3, 5, 8, 21])
@pytest.mark.parametrize("epsilon", ["0.5", "1", "2"])
def test_uniform_prior_in_closed_form(symbols: int, epsilon: str) -> None:
    """Every extreme posterior is a permutation of k lifts E, one lift f, and lifts 1/E."""
    E = math.exp(float(epsilon))
    k = math.floor(symbols / (E + 1))
    f = symbols - k * E - (symbols - k - 1) / E
    lifts = [E] * k + [f] + [1 / E] * (symbols - k - 1)
    prior = ll.Prior.uniform(range(symbols))
    for name, expected in (
        ("mutual-information", sum(x * math.log(x) for x in lifts) / symbols),
        ("histogram", 1 - sum(x * x for x in lifts) / symbols**2),
        ("guess", 1 - max(lifts) / symbols),
    ):
        assert optimum(prior, epsilon, name) == pytest.approx(expected, abs=1e-9)


def test_published_values_for_twenty_one_symbols() -> None:
    prior = ll.Prior.uniform(range(21))
    assert optimum(prior, "1", "histogram") == pytest.approx(0.9035171904, abs=1e-9)
    assert optimum(prior, "1", "guess") == pytest.approx(0.8705580082, abs=1e-9)


@pytest.mark.parametrize("epsilon", ["1.5", "2"])
def test_the_published_response_is_optimal_when_it_is_allowed(epsilon: str) -> None:
    """P_min >= 1 / (E + 1): then, and only then, it is the best for every utility at once."""
    prior = ll.Prior.from_probabilities({1: "0.3", 2: "0.3", 3: "0.4"})
    E = math.exp(float(epsilon))
    assert 1 / (E + 1) <= 0.3
    keep = 1 - 1 / E
    p = [0.3, 0.3, 0.4]
    joint = [[p[x] * (keep * (x == y) + (1 - keep) * p[y]) for y in range(3)] for x in range(3)]
    masses = [sum(joint[x][y] for x in range(3)) for y in range(3)]
    squares = sum(joint[x][y] ** 2 / masses[y] for x in range(3) for y in range(3))
    information = sum(
        joint[x][y] * math.log(joint[x][y] / (p[x] * masses[y])) for x in range(3) for y in range(3)
    )
    assert optimum(prior, epsilon, "histogram") == pytest.approx(1 - squares, abs=1e-9)
    assert optimum(prior, epsilon, "mutual-information") == pytest.approx(information, abs=1e-9)
