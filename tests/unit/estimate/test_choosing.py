"""Which estimator is chosen, and what is said about it."""

from __future__ import annotations

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
from tests.unit.estimate.worlds import ILL, ILL_PRIOR, TWINS, counted

TWINS_PRIOR = Prior.from_counts({"a": 1, "b": 2, "c": 3})
DOUBTFUL = GoodnessOfFit(0.03, 7.0, 2, ())
WRONG = GoodnessOfFit(
    0.0004, 15.0, 2, (Drift("flu", 0.1, 0.19, 4.0), Drift("cold", 0.2, 0.21, 0.3))
)


@pytest.mark.parametrize("prior", [None, ILL_PRIOR])
def test_no_prior_is_leant_on(prior: Prior | None) -> None:
    """Whatever the reports: no test of the prior has a say."""
    model, question = Dense.of(ILL, prior), ask(ILL.inputs, "histogram")
    for counts in ([70, 20, 10], [1, 1, 98]):
        chosen, why = choose(model, question, counted(ILL, counts))
        assert (chosen.key, why) == ("unbiased", "it needs no prior")


def test_what_reports_do_not_determine_has_a_range() -> None:
    model, reports = Dense.of(TWINS, TWINS_PRIOR), counted(TWINS, [60, 40])
    chosen, why = choose(model, ask(TWINS.inputs, "histogram"), reports)
    assert chosen.key == "likelihood"
    assert why.endswith("every answer in the range explains the reports")
    assert choose(model, ask(TWINS.inputs, "survey", "c"), reports)[0].key == "unbiased"


def test_a_doubtful_prior_is_no_wrong_one() -> None:
    assert misfit_warning(DOUBTFUL, "unbiased") is None


@pytest.mark.parametrize(
    ("key", "end"),
    [
        ("bayes", "the Bayes estimate leans on that prior, unbiased does not"),
        (
            "unbiased",
            "this estimate does not depend on it, but guarantees under that prior do",
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
