"""The table of lifts: every entry, the extremes with their witnesses, and what is left out."""

from __future__ import annotations

from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from liftlock import Alphabet, Ball, Channel, Family, Intervals, Joint, Prior
from liftlock.errors import LabelError, NotDefined, UnprotectedInput
from liftlock.notions import lift_table
from liftlock.notions.lift import impossible_inputs, refuse_impossible
from tests import oracles
from tests.checks import contains
from tests.strategies import Case, cases, near_ties

ANY = st.one_of(cases(), near_ties())


@given(ANY)
def test_every_lift_is_the_posterior_over_the_prior(case: Case) -> None:
    table, model = lift_table(case.channel, case.context), case.model
    assert list(table.secrets.labels) == case.secrets
    assert list(table.outputs.labels) == case.outputs
    expected = model.lifts
    assert table.lifts() == expected
    assert list(table.secret_masses) == model.prior
    assert list(table.output_masses) == model.masses
    for s, secret in enumerate(case.secrets):
        for y, output in enumerate(case.outputs):
            assert table.lift(secret, output) == expected[s][y]
            logarithm = table.log_lift(secret, output)
            if expected[s][y]:
                assert logarithm is not None
                assert contains(logarithm, mp.log(oracles.real(expected[s][y])))
            else:
                assert logarithm is None


@given(ANY)
def test_the_extremes_are_exact_and_attained(case: Case) -> None:
    table, expected = lift_table(case.channel, case.context), case.model.lifts
    for found, true in (
        (table.largest(), max(max(row) for row in expected)),
        (table.smallest(), min(min(row) for row in expected)),
    ):
        assert found.lift == true
        assert case.lift(found.witness.secret, found.witness.output) == true
    for y, output in enumerate(case.outputs):
        column = [row[y] for row in expected]
        assert table.max_lift(output) == max(column)
        assert table.min_lift(output) == min(column)
        assert column[table.top_secrets[y]] == max(column)
        assert column[table.bottom_secrets[y]] == min(column)


@given(ANY)
def test_floats_stay_within_their_stated_error(case: Case) -> None:
    table, expected = lift_table(case.channel, case.context), case.model.lifts
    assert table.faithful
    error = Fraction(table.error)
    for row, line in zip(table.floats().tolist(), expected, strict=True):
        for value, true in zip(row, line, strict=True):
            assert abs(Fraction(value) - true) <= error * true


@pytest.mark.parametrize("name", ["large", "large_joint", "ties"])
def test_large_tables(name: str, request: pytest.FixtureRequest) -> None:
    case: Case = request.getfixturevalue(name)
    table, expected = lift_table(case.channel, case.context), case.model.lifts
    assert table.largest().lift == max(max(row) for row in expected)
    assert table.smallest().lift == min(min(row) for row in expected)
    tops = [max(column) for column in zip(*expected, strict=True)]
    bottoms = [min(column) for column in zip(*expected, strict=True)]
    assert [table.max_lift(y) for y in case.outputs] == tops
    assert [table.min_lift(y) for y in case.outputs] == bottoms


def test_equal_extremes_go_to_the_first_output_and_secret(ties: Case) -> None:
    table = lift_table(ties.channel, ties.context)
    assert (table.largest().witness.secret, table.largest().witness.output) == ("x0", "y0")
    assert (table.smallest().witness.secret, table.smallest().witness.output) == ("x1", "y0")


def test_secrets_and_outputs_of_probability_0_are_dropped() -> None:
    channel = Channel.from_rows(
        {
            "a": {"u": 1, "v": 0, "w": 0},
            "b": {"u": "1/2", "v": "1/2", "w": 0},
            "c": {"u": 0, "v": 0, "w": 1},
        }
    )
    table = lift_table(channel, Prior.from_counts({"a": 1, "b": 1, "c": 0}))
    assert table.secrets.labels == ("a", "b")
    assert table.outputs.labels == ("u", "v")
    assert table.lifts() == [[Fraction(4, 3), 0], [Fraction(2, 3), 2]]
    with pytest.raises(LabelError, match="unknown label"):
        table.lift("c", "w")


# --- beyond the range of floats -----------------------------------------------------------------

TINY = Fraction(1, 10**400)


def tiny_channel() -> Channel:
    """Return a channel with an output of mass 1e-400 at which the lifts are 1/2 and 3/2."""
    return Channel.from_fractions(
        Alphabet.of("ab"),
        Alphabet.of("uvw"),
        [
            [TINY, Fraction(1, 2) - TINY, Fraction(1, 2)],
            [3 * TINY, Fraction(1, 2) - TINY, Fraction(1, 2) - 2 * TINY],
        ],
    )


def test_an_output_of_vanishing_mass_counts_in_full() -> None:
    table = lift_table(tiny_channel(), Prior.uniform("ab"))
    assert table.largest().lift == Fraction(3, 2)
    assert table.largest().witness.output == "u"
    assert table.smallest().lift == Fraction(1, 2)
    np.testing.assert_allclose(table.floats()[:, 0], [0.5, 1.5], rtol=1e-15)
    assert table.faithful


def test_lifts_too_small_for_floats_are_compared_exactly() -> None:
    half = Fraction(1, 2)
    channel = Channel.from_fractions(
        Alphabet.of("ab"),
        Alphabet.of("uv"),
        [[2 * TINY, 1 - 2 * TINY], [half, half]],
    )
    table = lift_table(channel, Prior.uniform("ab"))
    assert table.smallest().lift == 2 * TINY / (half * (half + 2 * TINY))
    assert not table.faithful
    double = Channel.from_fractions(
        Alphabet.of("abc"),
        Alphabet.of("uvw"),
        [[3 * TINY, half, half - 3 * TINY], [half, TINY, half - TINY], [half, half, 0 * half]],
    )
    table = lift_table(double, Prior.uniform("abc"))
    assert table.smallest().lift == 0
    assert table.min_lift("v") == 3 * TINY / (1 + TINY)


def test_lifts_too_large_for_floats_are_compared_exactly() -> None:
    # Two rare secrets, each with an output of its own: lifts near 1e400.
    counts = {"a": 2, "b": 3, "c": 10**400}
    identity = Channel.identity("abc")
    table = lift_table(identity, Prior(Alphabet.of(counts), tuple(counts.values())))
    assert table.largest().lift == Fraction(10**400 + 5, 2)
    assert table.largest().witness.secret == "a"


def test_many_vanishing_products_outweigh_one() -> None:
    # P(u | s) is a sum of 1000 products that are each too small for a float; P(u | t) is one
    # product that is not. In floats alone t would look more likely to give u.
    size = 1000
    small, large = Fraction(1, 10**323), Fraction(1, 10**321)
    channel = Channel.from_fractions(
        Alphabet.of(range(size + 2)),
        Alphabet.of("uv"),
        [[small, 1 - small]] * size + [[large, 1 - large], [Fraction(0), Fraction(1)]],
    )
    cells = [[1] * size + [0, 0], [0] * size + [6, 994]]
    joint = Joint.from_rows(Alphabet.of("st"), Alphabet.of(range(size + 2)), cells)
    table = lift_table(channel, joint)
    given_s, given_t = small, 6 * large / 1000
    assert given_s > given_t
    assert table.likelihoods.at(0, 0) == given_s
    assert table.likelihoods.at(1, 0) == given_t
    assert table.max_lift("u") == given_s / table.output_masses[0]
    assert table.min_lift("u") == given_t / table.output_masses[0]


# --- contexts -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "context",
    [
        Family.of([Prior.uniform("ab")]),
        Intervals.all_priors("ab"),
        Ball.of(Prior.uniform("ab"), "0.1"),
    ],
)
def test_a_table_needs_one_prior(context: Family | Intervals | Ball) -> None:
    with pytest.raises(NotDefined, match="lift table is not defined for every") as caught:
        lift_table(Channel.identity("ab"), context)
    assert caught.value.remedy


def test_a_context_of_other_labels_is_refused() -> None:
    with pytest.raises(LabelError, match="lacks"):
        lift_table(Channel.identity("ab"), Prior.uniform("abc"))


@pytest.mark.parametrize(
    "context",
    [
        Prior.from_counts({"b": 0, "a": 1, "c": 1}),
        Joint.from_counts({"s": {"b": 0, "c": 1, "a": 2}, "t": {"b": 0, "c": 0, "a": 1}}),
        Family.of(
            [
                Prior.from_counts({"a": 1, "b": 0, "c": 0}),
                Prior.from_counts({"c": 1, "a": 0, "b": 0}),
            ]
        ),
        Intervals.of({"c": (0, 1), "a": (0, 1), "b": (0, 0)}),
        Ball.of(Prior.from_counts({"a": 1, "b": 0, "c": 1}), 0),
    ],
)
def test_inputs_the_context_calls_impossible_are_refused(context: Prior) -> None:
    channel = Channel.identity("abc")
    assert impossible_inputs(channel, context) == ("b",)
    assert refuse_impossible(channel, context, "ignore") == ("b",)
    with pytest.raises(UnprotectedInput, match="probability 0 to input 'b'") as caught:
        refuse_impossible(channel, context, "refuse")
    assert caught.value.labels == ("b",)


def test_a_secret_that_never_occurs_is_not_an_impossible_input() -> None:
    joint = Joint.from_counts({"s": {"a": 0, "b": 0}, "t": {"a": 1, "b": 1}})
    channel = Channel.identity("ab")
    assert refuse_impossible(channel, joint, "refuse") == ()
    assert lift_table(channel, joint).secrets.labels == ("t",)
