"""One prior per user: the specification word for word, exact distribution, posteriors, refusals."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest

from liftlock.errors import CountError, InputError
from liftlock.model.structured.user_distributions import ArcDistribution
from liftlock.notions import ALIP, LIP
from liftlock.sampling import SimulationBits, prior_counts
from tests.unit.per_user.distributions import arc_weight
from tests.unit.sampling.users import beliefs, distribution_of, release, simulate

POINTS = 1 << 32


def some_priors(users: int, symbols: int, seed: int = 1) -> npt.NDArray[np.float64]:
    return np.random.default_rng(seed).dirichlet(np.full(symbols, 0.5), users)


def window(distribution: ArcDistribution, point: int, unit: int) -> int:
    """The start that a unit of the second word stands for, on Python integers."""
    taller = distribution.extra * (distribution.high + 1)
    inside = distribution.width * distribution.high + distribution.extra
    if unit < taller:
        return (point - unit // (distribution.high + 1)) % POINTS
    if unit < inside:
        return (point - distribution.extra - (unit - taller) // distribution.high) % POINTS
    return (point + 1 + (unit - inside) // distribution.low) % POINTS


def test_reports_are_the_specification() -> None:
    """Word for word, on Python integers; no word of this seed is drawn again."""
    notion = ALIP(lower="1.3", upper="0.7")
    distribution = distribution_of("arc", notion)
    priors = some_priors(500, 7)
    people = np.random.default_rng(2).integers(0, 7, 500)
    counts = prior_counts(priors)
    words = np.empty(1000, dtype=np.uint64)
    SimulationBits(5).fill(words)
    expected = []
    for user, code in enumerate(people.tolist()):
        length = int(counts[user, code])
        product = int(words[2 * user]) * length
        assert product % 2**64 >= 2**64 % length
        point = int(counts[user, :code].sum()) + (product >> 64)
        expected.append(window(distribution, point, int(words[2 * user + 1]) >> 2))
    assert simulate("arc", priors, people, notion, seed=5).tolist() == expected


def test_a_start_has_the_weight_that_the_law_says() -> None:
    """At the first and last unit of places inside and outside, and next to the borders."""
    distribution = distribution_of("arc", LIP("1"))
    point = 12345
    units = {0, distribution.high, distribution.high + 1, (1 << 62) - 1}
    taller, inside = (
        distribution.extra * (distribution.high + 1),
        distribution.width * distribution.high + distribution.extra,
    )
    for edge in (taller, inside):
        units |= {edge - 1, edge, edge + 1}
    for unit in units:
        u = window(distribution, point, unit)
        before = (point - u) % POINTS
        if unit < taller:
            assert before < distribution.extra
            assert arc_weight(distribution, before) == distribution.high + 1
        elif unit < inside:
            assert distribution.extra <= before < distribution.width
            assert arc_weight(distribution, before) == distribution.high
        else:
            assert before >= distribution.width
            assert arc_weight(distribution, before) == distribution.low
    total = (
        distribution.extra * (distribution.high + 1)
        + (distribution.width - distribution.extra) * distribution.high
    )
    assert total + (POINTS - distribution.width) * distribution.low == 1 << 62


class Given:
    """Given words, then others."""

    def __init__(self, *rounds: list[int]) -> None:
        self.rounds = list(rounds)

    def fill(self, buffer: npt.NDArray[np.uint64]) -> None:
        buffer[:] = np.array(self.rounds.pop(0), dtype=np.uint64)


def test_words_that_would_bias_are_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Word 0 gives rest 0, below 2^64 mod n unless n is a power of two: that user is redrawn."""
    from liftlock.sampling import per_user

    counts = np.array([[3, POINTS - 3], [POINTS // 2, POINTS // 2]])
    bits = Given([0, 1 << 63, 0, 1 << 63], [1 << 62, 1 << 63])
    monkeypatch.setattr(per_user, "OperatingSystemBits", lambda: bits)
    reports = release("arc", counts, np.array([0, 0]), LIP("1"))
    distribution = distribution_of("arc", LIP("1"))
    assert not bits.rounds
    assert reports.tolist() == [
        window(distribution, 3 >> 2, 1 << 61),
        window(distribution, 0, 1 << 61),
    ]


def test_counts_are_the_priors_protected() -> None:
    priors = some_priors(300, 21, seed=4)
    priors[0, :] = 0
    priors[0, 3:5] = [1e-15, 1 - 1e-15]
    counts = prior_counts(priors)
    assert (counts.sum(axis=1) == POINTS).all()
    assert ((counts > 0) == (priors > 0)).all()
    assert np.abs(counts / POINTS - priors).max() <= 21 / POINTS
    assert counts[0, 3] == 1
    exact = np.array([[1, 2, POINTS - 3]])
    assert prior_counts(exact).tolist() == exact.tolist()
    assert prior_counts(np.array([[1, 1]])).tolist() == [[POINTS // 2] * 2]
    assert prior_counts(np.ones((1, 1))).tolist() == [[POINTS]]


def test_posterior_is_the_exact_lift() -> None:
    notion = LIP("1")
    distribution = distribution_of("arc", notion)
    priors = some_priors(50, 6)
    counts = prior_counts(priors)
    reports = np.random.default_rng(9).integers(0, POINTS, 50).astype(np.uint32)
    found = beliefs("arc", priors, reports, notion)
    for user in range(50):
        start = 0
        for symbol, length in enumerate(counts[user].tolist()):
            lift = distribution.lift(start, length, int(reports[user]))
            assert distribution.smallest <= lift <= distribution.largest
            exact = Fraction(length, POINTS) * lift
            assert found[user, symbol] == pytest.approx(float(exact), rel=1e-12)
            start += length
    assert found.sum(axis=1) == pytest.approx(1)


def test_values_of_the_mechanism() -> None:
    """Uniform on 21 symbols the histogram error is .9048, for (.1, .2, .7) the information .143.

    Means over 200,000 users: 5 standard errors are below 2e-4 and 2e-3 (false alarm 6e-7 each).
    """
    rng = np.random.default_rng(8)
    uniform = np.full((200_000, 21), 1 / 21)
    reports = simulate("arc", uniform, rng.integers(0, 21, 200_000), LIP("1"), seed=1)
    posterior = beliefs("arc", uniform, reports, LIP("1"))
    assert (1 - (posterior**2).sum(axis=1)).mean() == pytest.approx(0.90483, abs=2e-4)
    skewed = np.tile([0.1, 0.2, 0.7], (200_000, 1))
    people = rng.choice(3, 200_000, p=[0.1, 0.2, 0.7])
    posterior = beliefs("arc", skewed, simulate("arc", skewed, people, LIP("1"), seed=2), LIP("1"))
    information = (posterior * np.log(posterior / skewed)).sum(axis=1).mean()
    assert information == pytest.approx(0.1426, abs=2e-3)


def test_one_prior_is_one_users_business() -> None:
    """A user's report does not depend on the priors of others."""
    priors = some_priors(20, 5)
    people = np.zeros(20, dtype=np.int64)
    first = simulate("arc", priors, people, LIP("1"), seed=3)
    changed = priors.copy()
    changed[1:] = some_priors(19, 5, seed=99)
    assert simulate("arc", changed, people, LIP("1"), seed=3)[0] == first[0]


def test_refusals() -> None:
    good = np.array([[0.5, 0.5]])
    with pytest.raises(CountError, match="do not sum to 1"):
        release("arc", np.array([[0.5, 0.4]]), np.array([0]), LIP("1"))
    with pytest.raises(CountError, match="user 1, symbol 2"):
        release("arc", np.array([[0.5, np.nan]]), np.array([0]), LIP("1"))
    with pytest.raises(CountError, match=r"probability 0 in the user's prior at user 1"):
        release("arc", np.array([[1.0, 0.0]]), np.array([1]), LIP("1"))
    with pytest.raises(CountError, match="without any count"):
        release("arc", np.array([[0, 0]]), np.array([1]), LIP("1"))
    with pytest.raises(CountError, match="table of numbers"):
        release("arc", np.array([0.5, 0.5]), np.array([0]), LIP("1"))
    with pytest.raises(InputError, match="code outside"):
        release("arc", good, np.array([2]), LIP("1"))
    with pytest.raises(InputError, match="1 values for 2 priors"):
        release("arc", np.vstack([good, good]), np.array([0]), LIP("1"))
    with pytest.raises(InputError, match="2 reports for 1 priors"):
        beliefs("arc", good, np.array([1, 2], dtype=np.uint32), LIP("1"))
