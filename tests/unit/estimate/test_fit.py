"""The test of the prior: p-values against exact enumeration, false alarms, and the direction."""

from __future__ import annotations

import itertools
import json
import math

import mpmath
import numpy as np
import pytest
from scipy import stats
from scipy.stats import chisquare, multinomial

from liftlock import Channel, Prior
from liftlock.errors import NotDefined
from liftlock.estimate import Aggregate, Question
from liftlock.estimate import fit as fitting
from liftlock.estimate.models import Dense
from tests.unit.estimate.worlds import (
    ILL,
    ILL_PRIOR,
    NARROW,
    WIDE,
    WIDE_PRIOR,
    counted,
    model_of,
    response,
)

ILL_MODEL = Dense.of(ILL, ILL_PRIOR)


def plain(counts: object) -> Aggregate:
    """Return an aggregate of a model that has no exact channel."""
    numbers = tuple(int(count) for count in np.asarray(counts))
    return Aggregate("", numbers, sum(numbers))


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 7, 10, 51, 200, 1001])
@pytest.mark.parametrize("share", [0.01, 0.5, 1.0, 1.3, 3.0, 20.0])
def test_the_tail_of_chi_square(freedom: int, share: float) -> None:
    statistic = freedom * share
    truth = float(mpmath.gammainc(freedom / 2, statistic / 2, regularized=True))
    found = fitting.chi_square_tail(statistic, freedom)
    assert found == pytest.approx(truth, rel=1e-11, abs=1e-290)


def test_the_tail_of_chi_square_at_its_ends() -> None:
    ends = [fitting.chi_square_tail(s, f) for s, f in ((0.0, 3), (1.0, 0), (math.inf, 3))]
    assert ends == [1.0, 1.0, 0.0]
    assert math.isnan(fitting.chi_square_tail(math.nan, 2))


def test_chi_square_where_reports_are_many() -> None:
    counts = [600, 230, 170]
    found = fitting.prior_fit(ILL_MODEL, counted(ILL, counts))
    distribution = [float(value) for value in ILL.output(ILL_PRIOR).fractions]
    expected = chisquare(counts, 1000 * np.array(distribution))
    assert found.p_value == pytest.approx(float(expected.pvalue))
    assert found.statistic == pytest.approx(float(expected.statistic))
    assert found.freedom == 2


@pytest.mark.parametrize("counts", [(9, 2, 1), (4, 4, 4), (3, 1, 8)])
def test_few_reports_against_all_that_could_be(counts: tuple[int, int, int]) -> None:
    """All 91 counts of 12 reports, with exact probabilities; within 4 standard errors."""
    distribution = np.array([float(value) for value in ILL.output(ILL_PRIOR).fractions])

    def statistic(numbers: tuple[int, ...]) -> float:
        return float(((np.array(numbers) - 12 * distribution) ** 2 / (12 * distribution)).sum())

    exact = sum(
        float(multinomial.pmf((a, b, 12 - a - b), 12, distribution))
        for a, b in itertools.product(range(13), repeat=2)
        if a + b <= 12 and statistic((a, b, 12 - a - b)) >= statistic(counts) - 1e-9
    )
    found = fitting.prior_fit(ILL_MODEL, counted(ILL, counts))
    assert found.freedom is None
    assert "simulations" in found.note
    # Two of the three outputs are merged where that leaves two with 5 expected reports each.
    if "merged" not in found.note:
        assert abs(found.p_value - exact) < 4 * math.sqrt(exact / fitting.DRAWS) + 1e-3
    assert fitting.prior_fit(ILL_MODEL, counted(ILL, counts)) == found


@pytest.mark.parametrize(
    ("rows", "masses", "number"),
    [
        (response(3, 1.0), np.array([0.7, 0.2, 0.1]), 60),
        (response(12, 3.0), np.array([0.9] + [0.1 / 11] * 11), 400),
        (WIDE.floats(), np.array([0.5, 0.3, 0.2]), 5000),
    ],
)
def test_false_alarms(rows: np.ndarray, masses: np.ndarray, number: int) -> None:
    """Of 200 sets of reports from the prior, 5 % are doubted: 1 to 23, wrong once in 10,000."""
    model = model_of(rows, masses)
    many = np.random.default_rng(11).multinomial(number, masses @ rows, size=200)
    doubted = sum(fitting.prior_fit(model, plain(counts)).p_value < 0.05 for counts in many)
    assert 1 <= doubted <= 23


def test_scores_are_standardised_by_their_exact_variance() -> None:
    """Unbiased shares have the prior for their mean, and this variance over one report from it."""
    distribution = np.array([float(value) for value in ILL.output(ILL_PRIOR).fractions])
    shares = np.linalg.inv(ILL.floats())
    counts = np.array([500, 300, 200])
    found = {d.name: d for d in fitting.prior_fit(ILL_MODEL, counted(ILL, counts)).drifts}
    for place, symbol in enumerate(ILL.inputs.labels):
        mass = float(ILL_PRIOR[symbol])
        assert distribution @ shares[:, place] == pytest.approx(mass)
        spread = math.sqrt((distribution @ shares[:, place] ** 2 - mass**2) / 1000)
        share = counts @ shares[:, place] / 1000
        assert found[symbol].found == pytest.approx(share)
        assert found[symbol].score == pytest.approx((share - mass) / spread)


def test_mean_lifts_are_standardised_by_their_exact_variance() -> None:
    """Where the reports determine no shares: mean 0 and the stated variance over one report."""
    prior = Prior.uniform("abc")
    distribution = NARROW.output(prior)
    counts = [700, 300]
    drifts = fitting.prior_fit(Dense.of(NARROW, prior), counted(NARROW, counts)).drifts
    found = {drift.name: drift.score for drift in drifts}
    for symbol in NARROW.inputs.labels:
        lifts = [NARROW.probability(symbol, y) / distribution[y] for y in NARROW.outputs.labels]
        mean = sum(
            distribution[y] * lift for y, lift in zip(NARROW.outputs.labels, lifts, strict=True)
        )
        square = sum(
            distribution[y] * lift**2 for y, lift in zip(NARROW.outputs.labels, lifts, strict=True)
        )
        assert mean == 1
        drift = (sum(c * float(v) for c, v in zip(counts, lifts, strict=True)) / 1000) - 1
        if square > 1:
            assert found[symbol] == pytest.approx(drift / math.sqrt(float(square - 1) / 1000))


def test_many_outputs_do_not_hide_a_wrong_prior() -> None:
    """Three inputs and 240 outputs: Pearson's statistic would be nearly all noise.

    Another share of a tenth is found in at least 95 of 100 collections; the true prior is doubted
    in at most 14 of 100, which happens by chance once in 5,000.
    """
    rows = np.repeat(response(3, 1.0), 80, axis=1) / 80
    masses, other = np.array([0.7, 0.2, 0.1]), np.array([0.6, 0.2, 0.2])
    model = model_of(rows, masses)
    generator = np.random.default_rng(3)
    for truth, least, most in ((masses, 0, 14), (other, 95, 100)):
        many = generator.multinomial(2000, truth @ rows, size=100)
        doubted = sum(fitting.prior_fit(model, plain(row)).p_value < 0.05 for row in many)
        assert least <= doubted <= most
        if truth is other:
            pearson = chisquare(many, 2000 * (masses @ rows), axis=1).pvalue
            assert (pearson < 0.05).sum() < doubted / 1.2


def test_the_direction_is_that_of_the_shares_that_are_shown() -> None:
    """A mean lift may rise while the share falls: what is said must not contradict itself."""
    generator = np.random.default_rng(8)
    for _ in range(50):
        rows = generator.dirichlet(np.ones(4), size=3)
        model = model_of(rows, generator.dirichlet(np.ones(3)))
        counts = generator.multinomial(3000, generator.dirichlet(np.ones(3)) @ rows)
        for drift in fitting.prior_fit(model, plain(counts)).drifts:
            assert drift.found is not None
            assert (drift.found > drift.expected) == (drift.score > 0)


def test_the_direction_of_a_wrong_prior() -> None:
    truth = np.array([0.60, 0.21, 0.19]) @ ILL.floats()
    found = fitting.prior_fit(ILL_MODEL, counted(ILL, np.rint(100_000 * truth)))
    assert found.p_value < 1e-10
    assert found.drifts[0].name == "flu"
    assert str(found.drifts[0]) == "more 'flu' (19 % instead of 10 %)"
    less = next(drift for drift in found.drifts if drift.name == "none")
    assert less.score < 0
    assert less.found == pytest.approx(0.6, abs=1e-4)
    assert [abs(d.score) for d in found.drifts] == sorted(
        (abs(d.score) for d in found.drifts), reverse=True
    )


def test_shares_that_reports_do_not_determine_are_left_out() -> None:
    model = Dense.of(NARROW, Prior.uniform("abc"))
    found = fitting.prior_fit(model, counted(NARROW, [900, 100]))
    assert all(drift.found is None for drift in found.drifts)
    assert str(found.drifts[0]) in ("more 'a' than 33.3 %", "less 'c' than 33.3 %")


def test_a_report_that_the_prior_calls_impossible() -> None:
    channel = Channel.from_rows({0: {"l": 1, "r": 0}, 1: {"l": "1/2", "r": "1/2"}})
    model = Dense.of(channel, Prior.from_counts({0: 1, 1: 0}))
    found = fitting.prior_fit(model, counted(channel, [99, 1]))
    assert found.p_value == 0
    assert found.note == "the prior says that 'r' is never reported, and it was"
    assert found.drifts[0].name == 1
    assert found.drifts[0].score > 0
    assert json.loads(json.dumps(found.to_data(), allow_nan=False))["statistic"] is None
    clean = fitting.prior_fit(model, counted(channel, [99, 0]))
    assert clean.p_value == 1


def test_reports_of_another_mechanism() -> None:
    """No shares of three values give four outputs these probabilities."""
    model = Dense.of(WIDE, WIDE_PRIOR)
    foreign = fitting.channel_fit(model, counted(WIDE, [200, 500, 100, 200]))
    assert foreign is not None
    assert foreign.p_value < 1e-6
    own = fitting.channel_fit(model, counted(WIDE, np.rint(1000 * WIDE.floats().mean(axis=0))))
    assert own is not None
    assert own.p_value > 0.5
    # Fewer of an output than everybody who does not have it would give.
    few = fitting.channel_fit(model_of(response(3, 1.0)), plain([600, 390, 10]))
    assert few is not None
    assert few.p_value < 1e-6
    assert fitting.channel_fit(model_of(response(3, 1.0)), plain([400, 300, 300])) is None


@pytest.mark.parametrize("shares", [(0.5, 0.3, 0.2), (1.0, 0.0, 0.0)])
def test_false_alarms_about_the_mechanism(shares: tuple[float, ...]) -> None:
    """At most 5 % of 120, also on the boundary: more than 17 happens once in 10,000."""
    model = Dense.of(WIDE, None)
    distribution = np.array(shares) @ WIDE.floats()
    many = np.random.default_rng(5).multinomial(800, distribution, size=120)
    found = [fitting.channel_fit(model, plain(counts)) for counts in many]
    assert sum(fit is not None and fit.p_value < 0.05 for fit in found) <= 17


def test_no_prior() -> None:
    with pytest.raises(NotDefined, match="give the prior to be tested"):
        fitting.prior_fit(Dense.of(ILL), counted(ILL, [1, 1, 1]))


def test_the_number_that_is_asked_for_is_tested_by_itself() -> None:
    """Twenty values and a shift of all of them: together hardly seen, in the mean clearly.

    Under the prior at most 14 of 100 collections are doubted: by chance once in 5,000.
    """
    size = 20
    rows = response(size, 1.0)
    masses = np.full(size, 1 / size)
    tilted = masses * (1 + 0.5 * np.linspace(-1, 1, size))
    model = model_of(rows, masses)
    values = np.arange(size, dtype=float)
    scores = model.posteriors @ values
    generator = np.random.default_rng(12)
    for truth, least, most in ((masses, 0, 14), (tilted, 60, 100)):
        both = alone = 0
        for counts in generator.multinomial(20_000, truth @ rows, size=100):
            whole = fitting.prior_fit(model, plain(counts))
            found = fitting.add_score_test(whole, scores, masses @ rows, plain(counts), size)
            score = (counts @ scores / 20_000 - masses @ values) / math.sqrt(
                (masses @ rows) @ (scores - masses @ values) ** 2 / 20_000
            )
            assert found.shift == pytest.approx(score)
            both += found.p_value < 0.05
            alone += whole.p_value < 0.05
        assert least <= both <= most
        if truth is tilted:
            assert alone < both
    assert fitting.add_score_test(whole, scores, masses @ rows, plain([1] * size), size) is whole


def test_for_two_values_there_is_one_test_of_the_prior() -> None:
    """Doubled once, as it has two sides: 5 % of collections are below 5 %, by exact sums."""
    rows, masses, number = response(2, 1.0), np.array([0.8, 0.2]), 400
    model = model_of(rows, masses)
    question = Question.survey(model.inputs, [1])
    law = stats.binom(number, (masses @ rows)[1])
    doubted = sum(
        law.pmf(ones)
        for ones in range(number + 1)
        if law.pmf(ones) > 1e-12
        and model.fit(question, plain([number - ones, ones])).p_value < 0.05  # type: ignore[union-attr]
    )
    assert doubted == pytest.approx(0.05, abs=0.01)


def test_rare_outputs_share_a_group_until_enough_are_expected() -> None:
    """Five are enough, and what is left over joins the last group."""
    merged = fitting._group_rare_outputs
    assert merged(np.array([5.0, 5.0, 5.0])).tolist() == [0, 1, 2]
    assert merged(np.array([4.9, 5.1, 30.0])).tolist() == [0, 0, 1]
    assert merged(np.array([30.0, 1.0, 2.0, 2.0])).tolist() == [1, 0, 0, 0]
    assert merged(np.array([1.0, 2.0])).tolist() == [0, 0]
    assert merged(np.array([0.0, 6.0])).tolist() == [0, 0]
