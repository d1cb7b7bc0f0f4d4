"""Drafts: what is accepted, where the tolerance ends, what is proved of one, and how it is told."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from liftlock import Alphabet
from liftlock._solver.problem import Optimality
from liftlock.designs import Draft, StructuredDraft
from liftlock.designs.base import NEGATIVE_TOLERANCE, SUM_TOLERANCE
from liftlock.errors import RowError
from liftlock.model.provenance import gap_text
from liftlock.model.structured import UnaryChannel

HALVES = [[0.5, 0.5], [0.5, 0.5]]


def test_labels_and_alphabets_make_the_same_draft() -> None:
    left = Draft.of("ab", ["y", "z"], HALVES)
    right = Draft.of(Alphabet.of("ab"), Alphabet.of("yz"), HALVES)
    assert (left.inputs, left.outputs) == (right.inputs, right.outputs)
    assert left.matrix.tolist() == right.matrix.tolist() == HALVES
    assert (left.optimality, left.remarks, left.faithful) == (None, (), False)


def test_what_is_known_of_it_travels_along() -> None:
    proved = Optimality("histogram", 1.0, 1.0, 2.0)
    draft = Draft.of("ab", "yz", HALVES, optimality=proved, remarks=["one"], faithful=True)
    assert draft.optimality is proved
    assert draft.remarks == ("one",)
    assert draft.faithful


def test_rows_by_name_keep_their_places_whatever_their_order() -> None:
    draft = Draft.from_rows({"a": {"y": 0.75, "z": 0.25}, "b": {"z": 0.875, "y": 0.125}})
    assert draft.inputs.labels == ("a", "b")
    assert draft.outputs.labels == ("y", "z")
    assert draft.matrix.tolist() == [[0.75, 0.25], [0.125, 0.875]]


def test_a_draft_keeps_its_own_numbers() -> None:
    """Changing the array that it was made of changes nothing, and its own cannot be changed."""
    numbers = np.array(HALVES)
    draft = Draft.of("ab", "yz", numbers)
    numbers[0] = [1.0, 0.0]
    assert draft.matrix.tolist() == HALVES
    with pytest.raises(ValueError, match="read-only"):
        draft.matrix[0, 0] = 1.0


@pytest.mark.parametrize("matrix", [[[1.0]], [[0.5, 0.5]], [[1.0], [1.0]], [0.5, 0.5]])
def test_a_matrix_of_another_shape_is_refused(matrix: list[list[float]]) -> None:
    with pytest.raises(RowError, match=r"matrix of shape \(.*\), labels for \(2, 2\)"):
        Draft.of("ab", "yz", matrix)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, -0.1, -2 * NEGATIVE_TOLERANCE])
def test_what_is_no_probability_is_refused_with_its_place(bad: float) -> None:
    with pytest.raises(
        RowError, match="not a number of 0 or more at input 'b', output 'y'"
    ) as refused:
        Draft.of("abc", "yz", [[0.5, 0.5], [bad, 1 - bad], [-1.0, 2.0]])
    assert repr(bad) in str(refused.value)


@pytest.mark.parametrize("off", [0.1, -0.1, 2 * SUM_TOLERANCE, -2 * SUM_TOLERANCE])
def test_a_row_that_is_off_1_is_refused_with_its_sum(off: float) -> None:
    with pytest.raises(RowError, match="row does not sum to 1 at input 'b'") as refused:
        Draft.of("abc", "yz", [[0.5, 0.5], [0.5, 0.5 + off], [0.0, 0.0]])
    assert repr(0.5 + (0.5 + off)) in str(refused.value)
    assert "off by at most 1e-06" in str(refused.value)


def test_what_a_solver_leaves_is_allowed() -> None:
    small, sums = NEGATIVE_TOLERANCE * 0.99, SUM_TOLERANCE * 0.99
    matrix = [[-small, 1.0 + small], [0.5, 0.5 + sums], [0.5, 0.5 - sums]]
    assert Draft.of("abc", "yz", matrix).matrix.tolist() == matrix
    assert Draft.of("a", "yz", [[-NEGATIVE_TOLERANCE, 1.0]]).matrix[0, 0] == -NEGATIVE_TOLERANCE


def test_a_form_is_known_by_its_inputs() -> None:
    channel = UnaryChannel.of("abc", own=8, other=4, bits=4)
    assert StructuredDraft(channel).inputs is channel.inputs


# --- what is proved -----------------------------------------------------------------------------


def test_the_gap_is_relative_to_releasing_nothing() -> None:
    assert 0.125 <= Optimality("histogram", 1.5, 1.0, 4.0).gap <= 0.125 + 1e-15
    assert Optimality("histogram", 1.0, 1.5, 4.0).gap == 0.0
    assert not Optimality("histogram", 1.5, 1.0, 4.0).stopped


@given(st.floats(1e-300, 1e300))
def test_a_gap_is_printed_rounded_up_and_never_by_more_than_a_tenth(gap: float) -> None:
    assert gap <= float(gap_text(gap)) <= gap * 1.11


@pytest.mark.parametrize(
    ("gap", "said"),
    [
        (0.0, "0"),
        (0.5, "0.5"),
        (0.501, "0.51"),
        (0.999, "1"),
        (0.0991, "0.1"),
        (1.1e-9, "1.1e-09"),
        (math.nextafter(1.1e-9, 1), "1.2e-09"),
        (math.nextafter(0.25, 1), "0.26"),
        (9.91e-7, "1e-06"),
    ],
)
def test_two_digits_are_enough(gap: float, said: str) -> None:
    assert gap_text(gap) == said
