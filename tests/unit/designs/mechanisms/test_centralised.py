"""Centralised information privacy: the closed form against linear programmes and the paper."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from liftlock import Alphabet, Joint, Prior
from liftlock.designs import centralised, centralised_error, lock, survey, survey_of
from liftlock.designs.mechanisms.centralised import posterior_range
from liftlock.errors import InputError, NotDefined
from liftlock.notions import ALIP, LDP, LIP, MaxLift, MinLift, Notion
from liftlock.utility import Mean, mean_cost

NOTIONS: list[Notion] = [
    LIP("0.01"),
    LIP("0.5"),
    LIP("1"),
    LIP("3"),
    ALIP(lower="2", upper="0.2"),
    ALIP(lower="0.1", upper="1"),
    LDP("0.8"),
    MaxLift("0.4"),
    MinLift("0.4"),
]


def largest_variance(masses: np.ndarray, means: np.ndarray, low: float, high: float) -> float:
    """Maximise Var E[r | Y] by brute force: a linear programme over a fine grid of means.

    Y is its own posterior mean on a grid of [low, high]; the joint P(x, y) must have the marginal
    of x and the right mean at each y.
    """
    grid = np.unique(
        np.concatenate([np.linspace(low, high, 101), means[(means >= low) & (means <= high)]])
    )
    rows = np.kron(np.eye(len(masses)), np.ones(len(grid)))
    balance = np.concatenate(
        [np.diag(means[x] - grid) for x in range(len(masses))], axis=1
    )  # sum_x P(x, y) (r(x) - y) = 0
    solved: Any = linprog(
        -np.tile(grid**2, len(masses)),
        A_eq=np.vstack([rows, balance]),
        b_eq=np.concatenate([masses, np.zeros(len(grid))]),
        method="highs",
    )
    assert solved.status == 0
    return float(-solved.fun - (masses @ means) ** 2)


@pytest.mark.parametrize("notion", NOTIONS, ids=str)
def test_no_mechanism_is_better(notion: Notion) -> None:
    rng = np.random.default_rng(14)
    for number in range(6):
        size = int(rng.integers(2, 6))
        cells = rng.integers(number % 2, 6, (2, size)) + np.array([[0], [1]])
        cells[0, 0] += 1
        joint = Joint.from_rows(Alphabet.of("nj"), Alphabet.of(range(size)), cells.tolist())
        draft = centralised(joint, notion)
        assert lock(draft, notion, joint).certificate.holds
        masses = cells.sum(axis=0) / cells.sum()
        means = cells[1] / cells.sum(axis=0)
        low, high = posterior_range(float(cells[1].sum() / cells.sum()), notion)
        variance = float(masses @ (means - masses @ means) ** 2)
        error = mean_cost(Mean(tuple(means)), draft.matrix, masses)
        assert variance - error == pytest.approx(
            largest_variance(masses, means, low, high), abs=1e-9
        )


def test_the_posterior_range_is_where_the_exact_audit_draws_the_line() -> None:
    for notion in NOTIONS:
        low, high = posterior_range(0.3, notion)
        for end, inwards in ((low, 1), (high, -1)):
            if end in (0.0, 1.0):
                continue
            for step, expected in ((1e-6 * inwards, True), (-1e-6 * inwards, False)):
                posterior = Fraction(end + step)
                mass = Fraction(1, 100)  # the output in question is rare, so the other is harmless
                given = [
                    mass * (1 - posterior) / Fraction("0.7"),
                    mass * posterior / Fraction("0.3"),
                ]
                from liftlock import Channel

                channel = Channel.from_rows(
                    {s: {"y": q, "rest": 1 - q} for s, q in enumerate(given)}
                )
                prior = Prior.from_probabilities({0: "0.7", 1: "0.3"})
                assert notion.certify(channel, prior).holds is expected


def test_figures_of_the_papers_proposition() -> None:
    """N = 5, p = 0.1, epsilon = 1: what is published leaks 1.90048 and is too good to be true."""
    published = centralised_error(5, "0.1", 1, as_published=True)
    assert published.leakage == pytest.approx(1.90048, abs=5e-6)
    assert published.error == pytest.approx(0.1089, abs=5e-5)
    true = centralised_error(5, "0.1", 1)
    assert true.error == pytest.approx(0.1856, abs=5e-5)
    assert true.leakage == pytest.approx(1, abs=1e-12)
    assert (true.lowest, true.highest) == pytest.approx((0.5 / np.e, 0.5 * np.e))


@pytest.mark.parametrize(
    ("people", "share", "epsilon"), [(5, "0.1", "1"), (9, "1/2", "0.2"), (40, "0.3", "0.05")]
)
def test_the_error_is_that_of_the_mechanism(people: int, share: str, epsilon: str) -> None:
    joint = survey(people, share)
    draft = centralised(joint, LIP(epsilon))
    locked = lock(draft, LIP(epsilon), joint)
    figures = centralised_error(people, share, epsilon)
    utility = Mean(tuple(range(people + 1)))
    masses = joint.prior.floats()
    assert mean_cost(utility, draft.matrix, masses) == pytest.approx(figures.error, abs=1e-9)
    audited = LIP.measure(locked.channel, joint).value
    assert float(audited) == pytest.approx(figures.leakage, abs=1e-9)


def test_a_curator_beats_local_noise() -> None:
    """The error of the sum under the best local mechanism is N times that of one bit."""
    p, e = 0.3, np.e
    low, high = max(p / e, 1 - e * (1 - p)), min(e * p, 1 - (1 - p) / e)
    local = p * (1 - p) - (high - p) * (p - low)
    for people in (1, 2, 10, 100):
        central = centralised_error(people, "0.3", 1).error
        assert central <= people * local + 1e-12
        assert people > 1 or central == pytest.approx(local, abs=1e-12)


def test_everybody_is_protected_alike_whatever_the_law() -> None:
    """Exact: given the count, each person is as likely as any other to be among the yeses."""
    distribution = Prior.from_counts({0: 3, 1: 1, 2: 0, 3: 4})
    joint = survey_of(distribution)
    for s in range(4):
        total = joint.counts[0][s] + joint.counts[1][s]
        assert not total or Fraction(joint.counts[1][s], total) == Fraction(s, 3)
    kept = joint.restrict([0, 1, 3])
    assert lock(centralised(kept, LIP("0.3")), LIP("0.3"), kept).certificate.holds


def test_long_surveys_and_tiny_tails() -> None:
    joint = survey(300, "0.01")
    locked = lock(centralised(joint, LIP("0.5")), LIP("0.5"), joint)
    assert locked.certificate.holds
    rare = Joint.from_counts({0: {0: 10**12, 1: 0, 2: 7}, 1: {0: 0, 1: 1, 2: 7}})
    for epsilon in ("0.01", "1", "8"):
        assert lock(centralised(rare, LIP(epsilon)), LIP(epsilon), rare).certificate.holds


def test_bad_input_is_refused() -> None:
    with pytest.raises(NotDefined, match="two values"):
        centralised(Prior.uniform("ab"), LIP("1"))
    with pytest.raises(InputError, match="without people"):
        survey(0, "0.5")
    with pytest.raises(InputError, match=r"0, 1, \.\.\., N"):
        survey_of(Prior.uniform([1, 2]))
