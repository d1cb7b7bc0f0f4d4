"""Sets of priors for each user: the largest keep probability, exact lifts, witnesses, refusals."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from liftlock import Ball, Family, Intervals, PerUserPriors, Prior, design
from liftlock.errors import CountError, InputError, NotDefined
from liftlock.exact.budget import Budget
from liftlock.model.per_user import read_limits
from liftlock.model.structured import SafeChannel
from liftlock.model.structured.user_blocks import UserBlock, set_bounds
from liftlock.model.structured.user_distributions import SafeDistribution
from liftlock.notions import ALIP, LIP, lift_range
from liftlock.sampling import prior_counts
from tests.unit.per_user.distributions import keep_in_set
from tests.unit.per_user.worlds import POINTS

NOTIONS: list[LIP | ALIP] = [LIP("1"), ALIP(lower="2.5", upper="0.3"), ALIP(lower="0.2", upper="3")]


def lifts_at(
    distribution: SafeDistribution, keep: int, p: int, a: int, b: int
) -> tuple[Fraction, Fraction]:
    """The smallest lift off the diagonal and the largest on it, at a symbol of p points."""
    points = distribution.points
    drawn = (points - keep) * p
    low = Fraction(drawn, drawn + keep * b) if drawn + keep * b else Fraction(1)
    high = Fraction(drawn + keep * points, drawn + keep * a) if drawn + keep * a else Fraction(1)
    return low, high


def allowed(distribution: SafeDistribution, keep: int, rows: list[tuple[int, int, int]]) -> bool:
    for p, a, b in rows:
        if not b or a == distribution.points:
            continue
        if keep and not p:
            return False
        low, high = lifts_at(distribution, keep, p, a, b)
        if low < distribution.smallest or high > distribution.largest:
            return False
    return True


@pytest.mark.parametrize("notion", NOTIONS, ids=str)
def test_the_largest_keep_probability_by_trying_all(notion: LIP | ALIP) -> None:
    """On a circle of 16 points, every centre and every interval around it."""
    lower, upper = notion.lift_limits()
    assert lower is not None
    assert upper is not None
    distribution = SafeDistribution.of(lower, upper, point_bits=4)
    for p, down, up in product(range(1, 16), range(4), range(4)):
        rows = [
            (p, max(p - down, 0), min(p + up, 16)),
            (16 - p, max(16 - p - up, 0), min(16 - p + down, 16)),
        ]
        best = max(
            keep
            for keep in range(17)
            if keep <= distribution.most and allowed(distribution, keep, rows)
        )
        assert keep_in_set(distribution, *(list(row) for row in zip(*rows, strict=True))) == best


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_the_compiled_loop_is_the_integer_formula(data: st.DataObject) -> None:
    epsilon = data.draw(st.sampled_from(["0.01", "0.5", "1", "3", "20", "40"]))
    upper = data.draw(st.sampled_from(["0.001", "0.7", "2", "22", "60"]))
    channel = SafeChannel.of("abc", [read_limits((epsilon, upper))])
    first = data.draw(st.integers(0, POINTS))
    second = data.draw(st.integers(0, POINTS - first))
    counts = [first, second, POINTS - first - second]
    lowest = [data.draw(st.integers(0, count)) for count in counts]
    highest = [data.draw(st.integers(count, POINTS)) for count in counts]
    if data.draw(st.booleans()):
        lowest = highest = counts
    tables = [np.array([row], dtype=np.int64) for row in (counts, lowest, highest)]
    block = UserBlock(slice(0, 1), tables[0], (tables[1], tables[2]))
    distribution = channel.distributions[0]
    keep = int(channel.keeps(block)[0])
    assert keep == keep_in_set(distribution, counts, lowest, highest)
    rows = list(zip(counts, lowest, highest, strict=True))
    assert allowed(distribution, keep, rows)
    assert keep == distribution.most or not allowed(distribution, keep + 1, rows)


def test_a_set_of_one_prior_is_that_prior() -> None:
    masses = np.random.default_rng(1).dirichlet(np.ones(4), 300)
    channel = SafeChannel.of(range(4), [read_limits("1")])
    one = PerUserPriors.of(range(4), masses)
    same = PerUserPriors.families(range(4), masses[:, None, :])
    for alone, family in zip(channel.blocks(one), channel.blocks(same), strict=True):
        assert np.array_equal(alone.counts, family.counts)
        assert np.array_equal(channel.keeps(alone), channel.keeps(family))
    near = one.within(0)
    for alone, ball in zip(channel.blocks(one), channel.blocks(near), strict=True):
        assert np.array_equal(channel.keeps(alone), channel.keeps(ball))


def table_of(counts: list[int], keep: int) -> list[list[Fraction]]:
    """P(y | x) of a user."""
    drawn = [Fraction((POINTS - keep) * count, POINTS**2) for count in counts]
    return [
        [drawn[y] + (Fraction(keep, POINTS) if x == y else 0) for y in range(len(counts))]
        for x in range(len(counts))
    ]


def exact_range(context: Any, counts: list[int], keep: int) -> tuple[Fraction, Fraction]:
    """The extreme lifts over a set of priors, by the library's own exact audit of a table."""
    from liftlock import Channel

    labels = context.inputs.labels
    rows = {
        x: dict(zip(labels, row, strict=True))
        for x, row in zip(labels, table_of(counts, keep), strict=True)
    }
    found = lift_range(Channel.from_rows(rows), context)
    assert found.largest.lift is not None
    assert found.smallest.lift is not None
    return found.largest.lift, found.smallest.lift


@pytest.mark.parametrize("notion", NOTIONS, ids=str)
def test_families_against_the_audit_of_each_table(notion: LIP | ALIP) -> None:
    rng = np.random.default_rng(2)
    members = rng.dirichlet(np.full(3, 2.0), (12, 4))
    priors = PerUserPriors.families("abc", members)
    made = design("abc", notion, method="safe-response")
    audit = made.audit(priors)
    assert audit.holds
    assert "each under a set of priors of their own" in str(audit)
    assert isinstance(made.channel, SafeChannel)
    (block,) = made.channel.blocks(priors)
    keeps = made.channel.keeps(block).tolist()
    each = []
    for user, keep in enumerate(keeps):
        inside = prior_counts(members[user]).tolist()
        context = Family.of(
            [Prior.from_counts(dict(zip("abc", row, strict=True))) for row in inside]
        )
        each.append(exact_range(context, block.counts[user].tolist(), keep))
        limits = made.channel.distributions[0]
        assert limits.smallest <= each[-1][1] <= each[-1][0] <= limits.largest
    assert audit.largest == max(top for top, _ in each)
    assert audit.smallest == min(bottom for _, bottom in each)
    assert each[audit.largest_user - 1][0] == audit.largest
    assert each[audit.smallest_user - 1][1] == audit.smallest
    # The witness is a prior of the family of that user, and has the lift.
    for claim, user in zip(audit.claims, (audit.largest_user, audit.smallest_user), strict=True):
        witness = claim.witness
        assert witness is not None
        assert witness.prior is not None
        assert list(witness.prior.counts) in prior_counts(members[user - 1]).tolist()
        table = table_of(block.counts[user - 1].tolist(), keeps[user - 1])
        x, y = "abc".index(str(witness.secret)), "abc".index(str(witness.output))
        mass = sum(
            share * row[y] for share, row in zip(witness.prior.fractions, table, strict=True)
        )
        assert table[x][y] / mass in (audit.largest, audit.smallest)


@pytest.mark.parametrize("notion", NOTIONS, ids=str)
def test_intervals_against_the_audit_of_each_table(notion: LIP | ALIP) -> None:
    """Ends that are multiples of 2^-32 are not rounded, so the box is the very same."""
    rng = np.random.default_rng(3)
    masses = prior_counts(rng.dirichlet(np.full(3, 2.0), 10)) / POINTS
    width = rng.integers(0, 2**28, masses.shape) / POINTS
    lowest, highest = np.maximum(masses - width, 0), np.minimum(masses + width, 1)
    priors = PerUserPriors.intervals("abc", lowest, highest)
    made = design("abc", notion, method="safe-response")
    audit = made.audit(priors)
    assert audit.holds
    assert isinstance(made.channel, SafeChannel)
    (block,) = made.channel.blocks(priors)
    keeps = made.channel.keeps(block).tolist()
    each = []
    for user, keep in enumerate(keeps):
        ends = zip(lowest[user], highest[user], strict=True)
        box = Intervals.of(
            {x: (Fraction(a), Fraction(b)) for x, (a, b) in zip("abc", ends, strict=True)}
        )
        each.append(exact_range(box, block.counts[user].tolist(), keep))
    assert audit.largest == max(top for top, _ in each)
    assert audit.smallest == min(bottom for _, bottom in each)
    claim = audit.claims[0]
    assert claim.witness is not None
    assert claim.witness.prior is not None
    inside = [float(share) for share in claim.witness.prior.fractions]
    user = audit.largest_user - 1
    assert (np.array(inside) >= lowest[user] - 1e-12).all()
    assert (np.array(inside) <= highest[user] + 1e-12).all()


def test_balls() -> None:
    masses = np.array([[0.5, 0.3, 0.2], [0.6, 0.3, 0.1]])
    priors = PerUserPriors.of("abc", masses).within("0.05")
    made = design("abc", LIP("1"), method="safe-response")
    audit = made.audit(priors)
    assert audit.holds
    witness = audit.claims[0].witness
    assert witness is not None
    assert witness.prior is not None
    # The witness is in the ball that was named, but for the points that rounding outwards adds.
    stated = [Fraction(mass) for mass in masses[audit.largest_user - 1].tolist()]
    assert sum(witness.prior.counts) == POINTS
    inside = zip(witness.prior.fractions, stated, strict=True)
    apart = sum(abs(share - mass / sum(stated)) for share, mass in inside) / 2
    assert apart <= Fraction(1, 20) + Fraction(3, POINTS)
    alone = made.audit(PerUserPriors.of("abc", masses))
    assert isinstance(made.channel, SafeChannel)
    kept = [
        made.channel.keeps(next(made.channel.blocks(given)))
        for given in (PerUserPriors.of("abc", masses), priors)
    ]
    assert (kept[1] < kept[0]).all()
    assert alone.holds


def stated_rows(kind: str, symbols: int, rng: np.random.Generator) -> npt.NDArray[Any]:
    """Rows as people have them: masses, float32, counts, sparse and skewed rows, powers of two."""
    if kind == "counts":
        return rng.integers(0, 10**9, (60, symbols)) * rng.integers(1, 4 * 10**9, (60, 1))
    if kind == "powers of two":
        return np.tile(np.r_[0.5 ** np.arange(1, symbols), 0.5 ** (symbols - 1)], (3, 1))
    rows = rng.dirichlet(np.full(symbols, 0.05 if kind == "skewed" else 1.0), 60)
    if kind == "sparse":
        rows[:, 1:] *= rng.random((60, symbols - 1)) < 0.7
        rows /= rows.sum(axis=1, keepdims=True)
    return rows.astype(np.float32) if kind == "float32" else rows


@pytest.mark.parametrize(
    "kind", ["masses", "float32", "counts", "skewed", "sparse", "powers of two"]
)
@pytest.mark.parametrize("symbols", [2, 3, 40])
@pytest.mark.parametrize("distance", ["1/3000000000", "0.001", "0.25", "1"])
def test_a_ball_holds_every_prior_that_was_named(kind: str, symbols: int, distance: str) -> None:
    """All priors within the distance of the row itself, as fractions, not of its integers."""
    rows = stated_rows(kind, symbols, np.random.default_rng(symbols))
    priors = PerUserPriors.of(range(symbols), rows).within(distance)
    channel = SafeChannel.of(range(symbols), [read_limits("1")])
    radius = Fraction(distance)
    (block,) = channel.blocks(priors)
    for row, low, high in zip(
        rows.tolist(), block.lowest.tolist(), block.highest.tolist(), strict=True
    ):
        total = sum(map(Fraction, row))
        for mass, fewest, most in zip(row, low, high, strict=True):
            share = Fraction(mass) / total
            least, greatest = max(share - radius, Fraction(0)), min(share + radius, Fraction(1))
            assert Fraction(fewest, POINTS) <= least
            assert greatest <= Fraction(most, POINTS)
            # No more is given away than the points that rounding moved.
            assert least - Fraction(fewest, POINTS) <= Fraction(symbols + 2, POINTS)
            assert Fraction(most, POINTS) - greatest <= Fraction(symbols + 2, POINTS)


@pytest.mark.parametrize("notion", NOTIONS, ids=str)
def test_balls_keep_the_budget_under_every_prior_that_was_named(notion: LIP | ALIP) -> None:
    """The exact audit of each user's table, over the ball around the row as it was written."""
    rows = np.random.default_rng(11).dirichlet(np.ones(3), 40)
    made = design("abc", notion, method="safe-response")
    assert isinstance(made.channel, SafeChannel)
    distribution = made.channel.distributions[0]
    for distance in ("1e-9", "0.03"):
        (block,) = made.channel.blocks(PerUserPriors.of("abc", rows).within(distance))
        for row, counts, keep in zip(
            rows.tolist(), block.counts.tolist(), made.channel.keeps(block).tolist(), strict=True
        ):
            centre = Prior.from_counts(dict(zip("abc", map(Fraction, row), strict=True)))
            most, least = exact_range(Ball.of(centre, distance), counts, keep)
            assert distribution.smallest <= least <= most <= distribution.largest


def test_wider_sets_never_keep_more() -> None:
    masses = np.random.default_rng(4).dirichlet(np.ones(5), 200)
    made = design(range(5), LIP("1.5"), method="safe-response")
    assert isinstance(made.channel, SafeChannel)
    before: npt.NDArray[Any] | None = None
    for distance in ("0", "0.001", "0.01", "0.1", "1"):
        (block,) = made.channel.blocks(PerUserPriors.of(range(5), masses).within(distance))
        keeps = made.channel.keeps(block)
        if before is not None:
            assert (keeps <= before).all()
        before = keeps


def test_intervals_are_rounded_outwards() -> None:
    low, high = np.array([[0.1, 0.2, 0.3]]), np.array([[0.4, 0.5, 0.6]])
    priors = PerUserPriors.intervals("abc", low, high)
    (start, rows) = next(priors.blocks())
    assert start == 0
    found = set_bounds(priors, 0, rows, prior_counts(rows))
    assert found is not None
    for k in range(3):
        least = max(Fraction(low[0, k]), 1 - sum(Fraction(high[0, j]) for j in range(3) if j != k))
        most = min(Fraction(high[0, k]), 1 - sum(Fraction(low[0, j]) for j in range(3) if j != k))
        assert Fraction(int(found[0][0, k]), POINTS) <= least
        assert least - Fraction(int(found[0][0, k]), POINTS) <= Fraction(3, POINTS)
        assert Fraction(int(found[1][0, k]), POINTS) >= most


def test_order_estimates_and_refusals() -> None:
    members = np.array([[[0.2, 0.8], [0.4, 0.6]], [[0.5, 0.5], [0.7, 0.3]]])
    priors = PerUserPriors.families(["no", "yes"], members)
    turned = PerUserPriors.families(["yes", "no"], members[:, :, ::-1])
    made = design(["no", "yes"], LIP("1"), method="safe-response")
    reports = made.simulate(["no", "yes"], priors, seed=1)
    assert reports == made.simulate(["no", "yes"], turned, seed=1)
    assert made.estimate(reports, priors=priors) == made.estimate(reports, priors=turned)
    assert made.audit(priors).largest == made.audit(turned).largest
    assert str(priors) == "sets of priors of 2 users on 2 symbols"
    ragged = PerUserPriors.families(["no", "yes"], [members[0], members[1, :1]])
    assert ragged.rows(0, 2).round(9).tolist() == [[0.3, 0.7], [0.5, 0.5]]
    counts = PerUserPriors.families(["no", "yes"], [np.array([[1, 4], [2, 3]])])
    assert counts.rows(0, 1).round(9).tolist() == [[0.3, 0.7]]
    with pytest.raises(NotDefined, match="arc"):
        design(["no", "yes"], LIP("1"), method="arc").release(["no", "yes"], priors)
    with pytest.raises(NotDefined, match="smoothing"):
        priors.smoothed(1)
    with pytest.raises(NotDefined, match="a distance"):
        priors.within("0.1")
    with pytest.raises(CountError, match="no prior lies within"):
        PerUserPriors.intervals("ab", [[0.6, 0.6]], [[0.7, 0.7]])
    with pytest.raises(CountError, match="no prior lies within"):
        PerUserPriors.intervals("ab", [[0.6, 0.1]], [[0.5, 0.7]])
    with pytest.raises(CountError, match="different shapes"):
        PerUserPriors.intervals("ab", [[0.6, 0.1]], [[0.5, 0.7], [1.0, 1.0]])
    with pytest.raises(CountError, match="a user has no prior"):
        PerUserPriors.families("ab", [np.empty((0, 2))])
    with pytest.raises(CountError, match="not a distribution at user 2"):
        PerUserPriors.families("ab", [[[0.5, 0.5]], [[0.5, 0.4]]])
    with pytest.raises(InputError, match="distance"):
        PerUserPriors.of("ab", [[0.5, 0.5]]).within("1.5")
    assert Budget.of("1").allows(made.audit(priors).largest)
