"""Which interval is made, what is refused, and what the remarks say."""

from __future__ import annotations

import numpy as np
import pytest

from liftlock import Alphabet, Channel, Prior
from liftlock.errors import InputError, NotDefined
from liftlock.estimate import Aggregate, Question, intervals
from liftlock.estimate.estimators import Bayes, Consistent, Estimator, Likelihood, Unbiased
from liftlock.estimate.intervals import IntervalEstimate, Kind, make_interval
from liftlock.estimate.models import Dense
from liftlock.estimate.question import ABOUT, ask

COIN = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
PRIOR = Prior.from_counts({0: 1, 1: 1})
THREE = Channel.from_rows(
    {x: {y: "3/5" if x == y else "1/5" for y in (1, 2, 4)} for x in (1, 2, 4)}
)
MERGED = Channel.from_rows(
    {"a": {0: "3/4", 1: "1/4"}, "b": {0: "1/4", 1: "3/4"}, "c": {0: "1/4", 1: "3/4"}}
)
REPORTS = Aggregate.of(COIN, [0] * 60 + [1] * 40)
WEIGHTED = Aggregate.of(COIN, [0] * 60 + [1] * 40, weights=np.linspace(1, 2, 100))
SIGNED = Aggregate.of(COIN, [0] * 60 + [1] * 40, weights=np.linspace(-1, 2, 100))


def ones(of: str = "survey") -> Question:
    return ask(COIN.inputs, of, 1 if of == "survey" else None)


def estimator(key: str, of: str = "survey") -> Estimator[Dense]:
    model = Dense.of(COIN, PRIOR)
    made: dict[str, Estimator[Dense]] = {
        "bayes": Bayes(model, ones(of)),
        "unbiased": Unbiased(model, ones(of)),
        "likelihood": Likelihood(model, ones(of)),
        "consistent": Consistent(model, ones(of)),
    }
    return made[key]


def ends(spread: IntervalEstimate) -> tuple[list[float], list[float]]:
    assert spread.low is not None
    assert spread.high is not None
    assert spread.errors is not None
    assert (spread.low <= spread.high).all()
    assert (spread.errors >= 0).all()
    return spread.low.tolist(), spread.high.tolist()


@pytest.mark.parametrize("key", ["bayes", "unbiased", "likelihood", "consistent"])
@pytest.mark.parametrize("kind", ["auto", "normal", "exact", "credible"])
def test_every_kind_holds_the_estimate(key: str, kind: Kind) -> None:
    spread = make_interval(kind, estimator(key), REPORTS)
    (low,), (high,) = ends(spread)
    assert 0 <= low < float(estimator(key).values(REPORTS.floats())[0]) < high <= 100
    assert spread.kind != "auto"
    wide = make_interval(kind, estimator(key), REPORTS, level=0.99)
    assert ends(wide)[0][0] < low
    assert ends(wide)[1][0] > high


def test_none_and_unknown() -> None:
    assert make_interval("none", estimator("bayes"), REPORTS).low is None
    with pytest.raises(InputError, match="unknown kind of interval"):
        make_interval("magic", estimator("bayes"), REPORTS)  # type: ignore[arg-type]
    for level in (0.0, 1.0, float("nan")):
        with pytest.raises(InputError, match="not between 0 and 1"):
            make_interval("auto", estimator("bayes"), REPORTS, level=level)
    with pytest.raises(InputError, match="ask for credible"):
        make_interval("normal", estimator("bayes"), REPORTS, concentration=1.0)


def test_choices_by_question_and_number() -> None:
    assert make_interval("auto", estimator("unbiased"), REPORTS).kind == "exact"
    assert make_interval("auto", estimator("bayes"), REPORTS).kind == "exact"
    assert make_interval("auto", estimator("unbiased", "mean"), REPORTS).kind == "normal"
    large = Aggregate(REPORTS.channel, (60_000, 40_000), 100_000)
    assert make_interval("auto", estimator("unbiased"), large).kind == "exact"
    with pytest.raises(NotDefined, match="as good there"):
        make_interval("exact", estimator("bayes"), large)
    huge = Aggregate(REPORTS.channel, (6 * 10**11, 4 * 10**11), 10**12)
    spread = make_interval("auto", estimator("unbiased"), huge)
    assert spread.kind == "normal"
    exact = make_interval("exact", estimator("unbiased"), large)
    normal = make_interval("normal", estimator("unbiased"), large)
    assert ends(normal)[0] == pytest.approx(ends(exact)[0], abs=2)
    assert ends(normal)[1] == pytest.approx(ends(exact)[1], abs=2)
    with pytest.raises(NotDefined, match="other numbers than 0 and 1"):
        make_interval("exact", estimator("bayes", "sum"), REPORTS)


def test_population_of_a_prior() -> None:
    spread = make_interval("auto", estimator("bayes"), REPORTS, about="population")
    assert (spread.kind, spread.low) == ("none", None)
    assert "takes the prior for the population" in spread.remarks[0]
    with pytest.raises(NotDefined, match="unbiased estimate"):
        make_interval("normal", estimator("bayes"), REPORTS, about="population")


@pytest.mark.parametrize("kind", ["exact", "credible"])
@pytest.mark.parametrize("key", ["bayes", "unbiased", "likelihood"])
def test_weights_have_normal_intervals_only(kind: Kind, key: str) -> None:
    if (key, kind) == ("bayes", "credible"):
        assert make_interval(kind, estimator(key), WEIGHTED).kind == "normal"
        return
    with pytest.raises(NotDefined, match="normal intervals"):
        make_interval(kind, estimator(key), WEIGHTED)


def test_weights_may_be_negative() -> None:
    for about in ABOUT:
        spread = make_interval("auto", estimator("unbiased", "sum"), SIGNED, about=about)
        assert spread.kind == "normal"
        ends(spread)


def test_simulations_say_where_they_began() -> None:
    three = Unbiased(Dense.of(THREE), Question.mean(THREE.inputs))
    reports = Aggregate.of(THREE, [1] * 30 + [2] * 10 + [4] * 10)
    found = make_interval("credible", three, reports)
    assert any(f"fixed seed {intervals.SEED}" in text for text in found.remarks)
    assert ends(found) == ends(make_interval("credible", three, reports))
    other = make_interval("credible", three, reports, seed=1)
    assert not any("fixed seed" in text for text in other.remarks)
    assert any("0.5 for each value" in text for text in found.remarks)


def test_few_reports_are_remarked() -> None:
    six = make_interval(
        "normal",
        Unbiased(Dense.of(THREE), Question.mean(THREE.inputs)),
        Aggregate.of(THREE, [1, 2, 4] * 2),
    )
    assert any("rough for 6 people" in text for text in six.remarks)
    uneven = np.concatenate([np.ones(95), np.full(5, 100.0)])
    weighted = Aggregate.of(COIN, [0] * 60 + [1] * 40, weights=uneven)
    told = make_interval("auto", estimator("unbiased", "sum"), weighted).remarks
    assert any("rough for weights" in text for text in told)
    assert not make_interval("normal", estimator("unbiased"), REPORTS).remarks


def test_an_estimate_far_outside_is_remarked() -> None:
    none = Aggregate(REPORTS.channel, (100, 0), 100)
    for kind in ("normal", "exact"):
        spread = make_interval(kind, estimator("unbiased"), none)
        assert ends(spread) == ([0.0], [0.0])
        assert any("only the edge is left" in text for text in spread.remarks)
    assert ends(make_interval("credible", estimator("unbiased"), none))[1][0] > 0


def test_estimates_at_the_edge() -> None:
    none = Aggregate(REPORTS.channel, (76, 24), 100)
    chosen = make_interval("auto", estimator("likelihood"), none)
    assert chosen.kind == "exact"
    assert any("unbiased estimate" in text for text in chosen.remarks)


def test_answers_that_reports_do_not_determine() -> None:
    model = Dense.of(MERGED)
    single = Likelihood(model, Question.survey(MERGED.inputs, ["b"]))
    reports = Aggregate.of(MERGED, [0] * 30 + [1] * 30)
    spread = make_interval("auto", single, reports)
    assert spread.kind == "range"
    assert spread.low is not None
    assert spread.high is not None
    assert spread.high[0] - spread.low[0] > 20
    assert make_interval("credible", single, reports).kind == "credible"
    with pytest.raises(NotDefined):
        make_interval("normal", single, reports)
    weighted = Aggregate.of(MERGED, [0] * 30 + [1] * 30, weights=2.0)
    assert make_interval("auto", single, weighted).kind == "none"
    # Together they are determined.
    both = Likelihood(model, Question.survey(MERGED.inputs, ["b", "c"]))
    assert make_interval("auto", both, reports).kind == "exact"


def test_a_variance_that_reports_do_not_determine_is_bounded() -> None:
    """People with 1 report as one with 0 and one with 2 do: sums are known, squares are not."""
    rows = {0: {0: "4/5", 2: "1/5"}, 1: {0: "1/2", 2: "1/2"}, 2: {0: "1/5", 2: "4/5"}}
    channel = Channel.from_rows(rows)
    total = Unbiased(Dense.of(channel), Question.total(channel.inputs))
    spread = make_interval("normal", total, Aggregate.of(channel, [0] * 50 + [2] * 50))
    assert spread.errors is not None
    # The largest variance of all people with this sum: everybody has 1, and scores are +-5/3.
    assert spread.errors[0] == pytest.approx(np.sqrt(100 * (5 / 3) ** 2), rel=0.01)


def test_too_large_channels_are_refused_with_a_way_out() -> None:
    size = 300
    rows = np.full((size, size), 1 / (2 * size)) + np.eye(size) / 2
    symbols = Alphabet.of(range(size))
    model = Dense(symbols, symbols, rows, None)
    one = Unbiased(model, Question.histogram(symbols))
    reports = Aggregate("", (10,) * size, 10 * size)
    with pytest.raises((InputError, NotDefined), match="ask for normal intervals"):
        make_interval("credible", one, reports)
    assert make_interval("auto", one, reports).kind == "exact"
