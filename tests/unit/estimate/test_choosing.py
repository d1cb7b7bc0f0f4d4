"""Which estimator is chosen, and what is said about it."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from liftlock import Prior
from liftlock.estimate import GoodnessOfFit
from liftlock.estimate.api import choose
from liftlock.estimate.estimators.likelihood import format_upper_bound
from liftlock.estimate.fit import misfit_warning
from liftlock.estimate.models import Dense
from liftlock.estimate.question import ask
from liftlock.estimate.result import Drift
from tests.unit.estimate.worlds import ILL, ILL_PRIOR, TWINS, WIDE, WIDE_PRIOR

TWINS_PRIOR = Prior.from_counts({"a": 1, "b": 2, "c": 3})
GOOD = GoodnessOfFit(0.4, 1.0, 2, ())
DOUBTFUL = GoodnessOfFit(0.03, 7.0, 2, ())
WRONG = GoodnessOfFit(
    0.0004, 15.0, 2, (Drift("flu", 0.1, 0.19, 4.0), Drift("cold", 0.2, 0.21, 0.3))
)


def test_no_prior_is_unbiased() -> None:
    chosen, why = choose(Dense.of(ILL), ask(ILL.inputs, "histogram"), None)
    assert chosen.key == "unbiased"
    assert why == "no prior is known, and this estimate needs none"


def test_a_prior_that_fits_is_used_and_the_gain_is_told() -> None:
    """The ratio of errors, from sums over all values and reports of one person."""
    question = ask(WIDE.inputs, "sum")
    chosen, why = choose(Dense.of(WIDE, WIDE_PRIOR), question, GOOD)
    distribution = WIDE.output(WIDE_PRIOR)
    size = len(distribution.labels)
    system = np.zeros((size + 3, size + 3))
    system[:size, :size] = 2 * np.diag([float(distribution[y]) for y in distribution.labels])
    system[size:, :size] = WIDE.floats()
    system[:size, size:] = WIDE.floats().T
    scores = np.linalg.solve(system, np.concatenate([np.zeros(size), [1, 2, 4]]))[:size]
    best = worse = 0.0
    for x, (place, y) in itertools.product(WIDE_PRIOR.labels, enumerate(distribution.labels)):
        chance = float(WIDE_PRIOR[x] * WIDE.probability(x, y))
        mean = float(WIDE.posterior(WIDE_PRIOR, y).floats() @ np.array([1.0, 2.0, 4.0]))
        number = float(str(x))
        best += chance * (number - mean) ** 2
        worse += chance * (number - scores[place]) ** 2
    assert chosen.key == "bayes"
    assert why == (
        "the prior fits the reports (p = 0.4); if it is true, the error is "
        f"{math.sqrt(best / worse):.2g} times that of the unbiased estimate"
    )


def test_a_doubtful_prior_is_not_used() -> None:
    chosen, why = choose(Dense.of(ILL, ILL_PRIOR), ask(ILL.inputs, "histogram"), DOUBTFUL)
    assert chosen.key == "unbiased"
    assert why == "the prior is in doubt (p = 0.03), and this estimate leans on none"
    assert misfit_warning(DOUBTFUL, "unbiased") is None


def test_a_population_is_not_taken_from_the_prior() -> None:
    model = Dense.of(ILL, ILL_PRIOR)
    assert choose(model, ask(ILL.inputs, "histogram"), GOOD, "population")[0].key == "unbiased"


def test_what_reports_do_not_determine_needs_the_prior() -> None:
    model = Dense.of(TWINS, TWINS_PRIOR)
    assert choose(model, ask(TWINS.inputs, "histogram"), DOUBTFUL)[0].key == "bayes"
    assert choose(model, ask(TWINS.inputs, "survey", "c"), DOUBTFUL)[0].key == "unbiased"


@pytest.mark.parametrize(
    ("key", "end"),
    [
        ("bayes", "the Bayes estimate leans on that prior, unbiased does not"),
        (
            "unbiased",
            "this estimate does not lean on it, but what is promised under that prior does",
        ),
    ],
)
def test_the_warning_names_the_direction(key: str, end: str) -> None:
    assert misfit_warning(WRONG, key) == (
        "the prior does not fit the reports (p = 0.0004): they show more 'flu' (19 % instead of "
        f"10 %); {end}"
    )


@given(st.floats(1e-300, 1e300))
def test_a_bound_is_written_with_one_digit_and_never_smaller_than_it_is(value: float) -> None:
    assert value <= float(format_upper_bound(value)) <= 2.01 * value


def test_what_needs_one_digit_only_is_written_as_it_is() -> None:
    assert [format_upper_bound(value) for value in (0.0, 2e-7, 0.5, 0.51, 0.96)] == [
        "0",
        "2e-07",
        "0.5",
        "0.6",
        "1",
    ]


def test_of_many_drifts_the_two_largest_are_named() -> None:
    drifts = tuple(Drift(name, 0.1, 0.3, 5.0) for name in ("flu", "cold", "cough"))
    said = misfit_warning(GoodnessOfFit(0.0004, 15.0, 2, drifts), "bayes")
    assert said is not None
    assert "flu" in said
    assert "cold" in said
    assert "cough" not in said
