"""Contexts: joints, and sets of priors against the vertices of their polytopes."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from liftlock import Alphabet, Ball, Context, Family, Intervals, Joint, Prior
from liftlock.errors import CountError, InputError, LabelError, NumberError
from liftlock.exact.integers import as_integers
from liftlock.model import PriorSet, context_from_data
from tests import oracles
from tests.strategies import (
    Case,
    balls,
    cases,
    counts,
    families,
    inputs_of,
    prior_sets,
    secrets_of,
)

SIZES = st.integers(1, 5)

# --- joints -------------------------------------------------------------------------------------


def the_joint(case: Case) -> tuple[Joint, list[list[Fraction]]]:
    assert isinstance(case.context, Joint)
    assert case.joint is not None
    return case.context, case.joint


@given(cases().filter(lambda case: case.joint is not None))
def test_marginals_of_a_joint(case: Case) -> None:
    joint, table = the_joint(case)
    found = joint.prior
    for x, label in enumerate(inputs_of(len(case.rows))):
        assert found[label] == case.prior[x]
    for s, label in enumerate(secrets_of(len(table))):
        assert joint.secret_prior[label] == sum(table[s])


@given(cases().filter(lambda case: case.joint is not None))
def test_joints_survive_json_scaling_and_reordering(case: Case) -> None:
    joint, _ = the_joint(case)
    again = context_from_data(json.loads(json.dumps(joint.to_data())))
    assert again == joint
    assert again.fingerprint == joint.fingerprint
    scaled = Joint(
        joint.secrets, joint.inputs, tuple(tuple(6 * c for c in r) for r in joint.counts)
    )
    assert scaled.fingerprint == joint.fingerprint
    order = Alphabet.of(inputs_of(len(case.rows)))
    moved = joint.reordered(order)
    assert moved.inputs.labels == order.labels
    assert moved.prior.reordered(joint.inputs) == joint.prior
    if order.labels != joint.inputs.labels:
        assert moved.fingerprint != joint.fingerprint


def test_a_change_of_one_cell_changes_the_fingerprint() -> None:
    rows = {"s": {"a": 10**30, "b": 1}, "t": {"a": 2, "b": 3}}
    first = Joint.from_counts(rows)
    seen = {first.fingerprint}
    for secret in rows:
        for label in rows[secret]:
            changed = {s: dict(row) for s, row in rows.items()}
            changed[secret][label] += 1
            seen.add(Joint.from_counts(changed).fingerprint)
    seen.add(Joint.from_counts({"u": rows["s"], "t": rows["t"]}).fingerprint)
    assert len(seen) == 6


def test_columns_are_counted() -> None:
    joint = Joint.from_columns(["f", "m", "f", "f"], [1, 2, 1, 2])
    assert joint.counts == ((2, 1), (0, 1))
    assert (joint.secrets.labels, joint.inputs.labels) == (("f", "m"), (1, 2))
    smooth = Joint.from_columns(np.array(["f", "m"]), np.array(["x", "y"]), smoothing="1/2")
    assert smooth.counts == ((3, 1), (1, 3))
    half = Joint.from_columns([Fraction(1, 2)], ["x"])
    assert half.secrets.labels == ("1/2",)


def test_labels_stored_in_another_form_are_found() -> None:
    joint = Joint.from_counts({"s": {Fraction(1, 2): 1, "b": 2}, "t": {"b": 4, Fraction(1, 2): 3}})
    assert joint.inputs.labels == ("1/2", "b")
    assert joint.counts == ((1, 2), (3, 4))


def test_conditioning_a_joint() -> None:
    joint = Joint.from_counts({"s": {"a": 1, "b": 2, "c": 3}, "t": {"a": 4, "b": 5, "c": 6}})
    assert joint.restrict(["c", "a"]).counts == ((3, 1), (6, 4))


# --- sets of priors -----------------------------------------------------------------------------


@st.composite
def set_and_column(draw: st.DrawFn) -> tuple[list[list[Fraction]], Any, list[int]]:
    size = draw(SIZES)
    vertices, found = draw(prior_sets(size))
    return vertices, found, draw(counts(size))


@given(set_and_column())
def test_the_range_of_an_output_mass_is_that_of_the_vertices(
    case: tuple[list[list[Fraction]], Any, list[int]],
) -> None:
    vertices, found, column = case
    aligned = found.reordered(Alphabet.of(inputs_of(len(column))))
    masses = [sum(p * c for p, c in zip(v, column, strict=True)) for v in vertices]
    integers = as_integers(column)
    assert aligned.mass_range(integers) == (min(masses), max(masses))
    assert aligned.possible.tolist() == [any(v[x] for v in vertices) for x in range(len(column))]
    for least, expected in ((True, min(masses)), (False, max(masses))):
        attained = aligned.extreme(integers, least=least).fractions
        assert sum(p * c for p, c in zip(attained, column, strict=True)) == expected
        if isinstance(aligned, Intervals):
            assert all(
                low <= p <= high
                for low, p, high in zip(aligned.lower, attained, aligned.upper, strict=True)
            )
        if isinstance(aligned, Ball):
            centre = aligned.centre.fractions
            distance = sum(abs(p - c) for p, c in zip(attained, centre, strict=True)) / 2
            assert distance <= aligned.radius


@given(SIZES.flatmap(prior_sets))
def test_sets_are_contexts_and_survive_json(case: tuple[list[list[Fraction]], Any]) -> None:
    _, found = case
    assert isinstance(found, Context)
    assert isinstance(found, PriorSet)
    again = context_from_data(json.loads(json.dumps(found.to_data())))
    assert type(again) is type(found)
    assert again.fingerprint == found.fingerprint
    assert again == found
    assert found.secrets is found.inputs
    assert "\n" not in found.describe()


@given(SIZES.flatmap(prior_sets))
def test_ranges_of_symbols_are_attained(
    case: tuple[list[list[Fraction]], Family | Intervals | Ball],
) -> None:
    vertices, given = case
    aligned = given.reordered(Alphabet.of(inputs_of(len(given.inputs))))
    columns = list(zip(*vertices, strict=True))
    lower, upper = aligned.symbol_ranges
    assert (lower, upper) == (tuple(map(min, columns)), tuple(map(max, columns)))
    for place in np.flatnonzero(aligned.possible):
        column = np.zeros(len(columns), dtype=np.int64)
        column[place] = 1
        assert aligned.mass_range(column) == (lower[place], upper[place])
    assert given.smallest == min(a for a, b in zip(lower, upper, strict=True) if b)


def test_the_oracle_of_the_ball_is_right_in_the_plane() -> None:
    # On two symbols the ball is an interval.
    centre, radius = [Fraction(1, 3), Fraction(2, 3)], Fraction(1, 2)
    points = oracles.ball_vertices(centre, radius)
    assert min(p[0] for p in points) == 0
    assert max(p[0] for p in points) == Fraction(5, 6)


def test_coordinates_of_intervals_survive_json() -> None:
    scale = Alphabet.numbers(["1", "2"])
    box = Intervals.of({"1": (0, 1), "2": ("0.25", 1)}).reordered(scale)
    again = context_from_data(json.loads(json.dumps(box.to_data())))
    assert again.fingerprint == box.fingerprint
    assert again.inputs.coordinates == scale.coordinates


def test_any_change_of_a_set_changes_the_fingerprint() -> None:
    ab, ba = Prior.from_counts({"a": 1, "b": 2}), Prior.from_counts({"a": 2, "b": 1})
    sets: list[Any] = [
        Family.of([ab]),
        Family.of([ba]),
        Family.of([ab, ba]),
        Family.of([ba, ab]),
        Intervals.of({"a": (0, 1), "b": (0, 1)}),
        Intervals.of({"a": (0, 1), "b": ("1e-30", 1)}),
        Intervals.of({"a": (0, "0.9"), "b": (0, 1)}),
        Ball.of(ab, 0),
        Ball.of(ab, "1e-30"),
        Ball.of(ba, 0),
    ]
    assert len({found.fingerprint for found in sets}) == len(sets)
    assert Intervals.all_priors("ab").fingerprint == sets[4].fingerprint


def test_members_of_a_family_are_aligned() -> None:
    family = Family.of([Prior.from_counts({"a": 1, "b": 3}), Prior.from_counts({"b": 1, "a": 0})])
    assert [prior.counts for prior in family.priors] == [(1, 3), (0, 1)]
    assert family.possible.tolist() == [True, True]
    assert family.reordered(Alphabet.of("ba")).priors[0].counts == (3, 1)


def test_a_ball_that_holds_every_prior() -> None:
    everything = Ball.of(Prior.from_counts({"a": 1, "b": 1, "c": 2}), 1)
    assert everything.mass_range(np.array([5, 7, 1])) == (Fraction(1), Fraction(7))
    nothing = Ball.of(Prior.from_counts({"a": 1, "b": 0}), 0)
    assert nothing.possible.tolist() == [True, False]


# --- refusals -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "kind", "word"),
    [
        (lambda: Joint.from_counts({}), LabelError, "has no symbols"),
        (
            lambda: Joint.from_counts({"s": {"a": 1}, "t": {"b": 1}}),
            LabelError,
            "different inputs at secret 't'",
        ),
        (
            lambda: Joint.from_counts({"s": {"a": -1, "b": 3}}),
            CountError,
            "negative count at secret 's', input 'a': -1",
        ),
        (lambda: Joint.from_counts({"s": {"a": 0}}), CountError, "all counts are 0"),
        (lambda: Joint.from_counts({"s": {"a": "x"}}), NumberError, "not a number"),
        (
            lambda: Joint(Alphabet.of("st"), Alphabet.of("a"), ((1,),)),
            CountError,
            "1 rows for 2 secrets",
        ),
        (
            lambda: Joint(Alphabet.of("s"), Alphabet.of("ab"), ((1,),)),
            CountError,
            "1 counts for 2 inputs at secret 's'",
        ),
        (
            # As many numbers as cells, but not in the cells they were meant for.
            lambda: Joint.from_rows(Alphabet.of("st"), Alphabet.of("ab"), [[1, 2, 3], [4]]),
            CountError,
            "3 counts for 2 inputs at row 1",
        ),
        (lambda: Joint.from_columns([1, 2], [1]), CountError, "columns of 2 and 1 rows"),
        (lambda: Joint.from_columns([], []), CountError, "no rows"),
        (lambda: Joint.from_columns(["a"], [None]), LabelError, "NoneType"),
        (
            lambda: Joint.from_counts({"s": {"a": 1}}).reordered(Alphabet.of("b")),
            LabelError,
            "the joint lacks",
        ),
        (lambda: Family.of([]), CountError, "without priors"),
        (lambda: Family.of([Prior.uniform("ab"), Prior.uniform("ac")]), LabelError, "lacks"),
        (lambda: Intervals.of({"a": ("0.6", "0.5")}), CountError, "empty interval at label 'a'"),
        (
            lambda: Intervals.of({"a": ("0.6", 1), "b": ("0.5", 1)}),
            CountError,
            "no prior fits",
        ),
        (
            lambda: Intervals.of({"a": (0, "0.4"), "b": (0, "0.5")}),
            CountError,
            "no prior fits",
        ),
        (lambda: Intervals.of({"a": (0, "1.1")}), NumberError, "outside 0 to 1"),
        (lambda: Ball.of(Prior.uniform("ab"), "1.1"), NumberError, "radius outside 0 to 1"),
        (lambda: context_from_data(None), CountError, "unknown kind"),
        (lambda: context_from_data({"kind": "graph"}), CountError, "unknown kind.*'graph'"),
        (lambda: context_from_data({"kind": "prior"}), LabelError, "not a list"),
        (lambda: context_from_data({"kind": "joint"}), CountError, "counts is not a list"),
        (
            lambda: context_from_data({"kind": "joint", "counts": [3]}),
            InputError,
            "not a list",
        ),
        (lambda: context_from_data({"kind": "family"}), CountError, "priors is not a list"),
        (lambda: context_from_data({"kind": "family", "priors": [3]}), CountError, "not an object"),
        (
            lambda: context_from_data({"kind": "intervals", "labels": ["a"]}),
            CountError,
            "lower is not a list",
        ),
        (
            lambda: context_from_data(
                {"kind": "intervals", "labels": ["a"], "lower": [0], "upper": [1, 1]}
            ),
            CountError,
            "upper is not a list of one number",
        ),
        (lambda: context_from_data({"kind": "ball"}), CountError, "not an object"),
        (
            lambda: context_from_data({"kind": "ball", "centre": Prior.uniform("a").to_data()}),
            NumberError,
            "radius",
        ),
    ],
)
def test_refusals(make: Any, kind: type[InputError], word: str) -> None:
    with pytest.raises(kind, match=word) as caught:
        make()
    assert "\n" not in str(caught.value)


@given(SIZES.flatmap(families))
def test_a_family_of_one_is_its_member(case: tuple[list[list[Fraction]], Family]) -> None:
    vertices, family = case
    assert len(family.priors) == len(vertices)
    alone = Family.of([family.priors[0]])
    column = as_integers(range(1, len(family.inputs) + 1))
    low, high = alone.mass_range(column)
    assert low == high


@given(SIZES.flatmap(balls))
def test_the_centre_lies_in_the_ball(case: tuple[list[list[Fraction]], Ball]) -> None:
    _, ball = case
    column = as_integers(range(1, len(ball.inputs) + 1))
    low, high = ball.mass_range(column)
    centre = sum(p * int(c) for p, c in zip(ball.centre.fractions, column, strict=True))
    assert low <= centre <= high
    assert (low == high) == (ball.radius == 0 or len(ball.inputs) == 1)


@pytest.mark.parametrize("written", [True, False])
def test_a_cell_of_a_joint_that_floats_cannot_hold_is_refused(written: bool) -> None:
    cells = [[1, 10**360], [0, 10**300]]
    data = {"kind": "joint", "secrets": ["s", "t"], "inputs": ["a", "b"], "counts": cells}

    def made() -> Context:
        if written:
            return context_from_data(data)
        return Joint.from_rows(Alphabet.of("st"), Alphabet.of("ab"), cells)

    refusal = "probability below 1e-300 at secret 's', input 'a': 'about 1e-36"
    with pytest.raises(CountError, match=refusal):
        made()
