"""The axis of numeric mechanisms: numbers, cells, and outputs that are too rare to be rounded."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest

import liftlock as ll
from liftlock.designs.noise.axis import RARE, Axis, merge_rare_bins
from liftlock.designs.noise.calibration import lift_range
from liftlock.errors import InputError, NotDefined
from liftlock.model.continuous import DEFAULT_BINS, normal

AGES = ll.Prior.from_counts({20: 3, 40: 5, 60: 2})


def test_numbers_from_labels_and_from_a_grid() -> None:
    axis = Axis.of(AGES, outputs=8)
    assert axis.points.tolist() == [20.0, 40.0, 60.0]
    assert axis.masses == pytest.approx([0.3, 0.5, 0.2])
    assert (axis.lower, axis.upper, axis.width, axis.input_range) == (20.0, 60.0, 40.0, 40.0)
    assert axis.values.tolist() == [22.5, 27.5, 32.5, 37.5, 42.5, 47.5, 52.5, 57.5]
    wider = Axis.of(AGES, domain="0:100", outputs=4)
    assert (wider.width, wider.input_range) == (100.0, 40.0)
    grid = normal(0, 1, domain=(-3, 3)).discretise(16)
    found = Axis.of(grid)
    assert (found.lower, found.upper, len(found.values)) == (-3.0, 3.0, 64)
    assert (found.points == grid.points).all()


def test_no_more_outputs_than_noise_leaves_to_be_seen() -> None:
    fine = normal(0, 1, domain=(-3, 3)).discretise(1024)
    assert len(Axis.of(fine).values) == DEFAULT_BINS
    assert len(Axis.of(fine, outputs=1024).values) == 1024
    assert len(Axis.of(AGES).values) == DEFAULT_BINS


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e12])
def test_labels_are_the_middles_at_every_scale(scale: float) -> None:
    prior = ll.Prior.from_counts({0.0: 1, scale: 1})
    axis = Axis.of(prior, outputs=512)
    labels = [float(str(label)) for label in axis.outputs.labels]
    assert len(set(labels)) == 512
    assert labels == pytest.approx(axis.values.tolist(), rel=1e-3, abs=1e-3 * axis.width / 512)


def test_what_cannot_be_read_is_answered_clearly() -> None:
    with pytest.raises(InputError, match="a label is not a number"):
        Axis.of(ll.Prior.uniform("ab"))
    with pytest.raises(InputError, match="all numbers are the same"):
        Axis.of(ll.Prior.from_counts({7: 3}))
    with pytest.raises(InputError, match="a number lies outside the domain"):
        Axis.of(AGES, domain=(30, 60))
    with pytest.raises(InputError, match="out of range: 1;"):
        Axis.of(AGES, outputs=1)
    joint = ll.Joint.from_counts({"s": {0: 1, 1: 2}, "t": {0: 2, 1: 1}})
    with pytest.raises(NotDefined, match="it needs a prior of numbers"):
        Axis.of(joint)


def test_clamped_cells_keep_their_digits_on_both_sides() -> None:
    """Normal noise by its distribution function, against fifty digits."""
    from scipy.special import ndtr

    axis = Axis.of(ll.Prior.from_counts({0: 1, 10: 1}), outputs=10)
    cells = axis.clamp(ndtr)
    assert cells.sum(axis=1) == pytest.approx([1.0, 1.0], abs=1e-15)
    assert cells[0] == pytest.approx(cells[1][::-1], rel=1e-12)
    with mp.workdps(50):
        for y in range(10):
            top = mp.ncdf(y + 1) if y < 9 else mp.mpf(1)
            bottom = mp.ncdf(y) if y else mp.mpf(0)
            assert cells[0, y] == pytest.approx(float(top - bottom), rel=1e-12)
    assert 0 < cells[0, -1] < 1e-18


def test_rare_outputs_are_joined_and_nothing_is_lost() -> None:
    matrix = np.array(
        [[0.3, 1e-9, 2e-9, 3e-9, 0.3, 0.4, 4e-9], [0.1, 2e-9, 2e-9, 2e-9, 0.4, 0.5, 9e-9]]
    )
    matrix[:, 5] += 1 - matrix.sum(axis=1)
    joined, kept = merge_rare_bins(matrix)
    assert kept == [0, 4, 5]
    assert joined.sum(axis=1) == pytest.approx([1, 1], abs=1e-15)
    assert joined[:, 0] == pytest.approx(matrix[:, :3].sum(axis=1), abs=1e-16)
    assert joined[:, 2] == pytest.approx(matrix[:, 5:].sum(axis=1), abs=1e-16)
    fair = np.array([0.5, 0.5])
    before, after = lift_range(matrix, fair), lift_range(joined, fair)
    assert before[0] <= after[0] <= after[1] <= before[1]
    same, all_of_them = merge_rare_bins(joined)
    assert same is joined
    assert all_of_them == [0, 1, 2]


def test_joining_at_the_threshold() -> None:
    matrix = np.array([[1 - 2 * RARE, RARE, RARE], [1 - 1.5 * RARE, RARE, RARE / 2]])
    assert merge_rare_bins(matrix)[1] == [0, 1, 2]
    assert merge_rare_bins(np.array([[1 - RARE * 0.99, RARE * 0.99], [1.0, 0.0]]))[1] == [0]


def test_a_draft_names_the_cells_that_are_left() -> None:
    axis = Axis.of(AGES, outputs=4)
    matrix = np.array([[1, 0, 0, 0], [0, 0.5, 0.5, 0], [0, 1e-12, 1 - 1e-12, 0]])
    draft = axis.draft(matrix, remarks=["said"], faithful=True)
    assert draft.outputs.labels == (25.0, 35.0, 45.0)
    assert draft.faithful
    assert draft.remarks == ("said", "1 rare output bins are merged with others")
    whole = axis.draft(np.full((3, 4), 0.25), remarks=[])
    assert whole.outputs.labels == (25.0, 35.0, 45.0, 55.0)
    assert whole.remarks == ()


def test_errors_at_face_value() -> None:
    axis = Axis.of(AGES, outputs=4)
    matrix = np.random.default_rng(1).dirichlet(np.ones(4), 3)
    for power in (1, 2):
        expected = sum(
            mass * matrix[x, y] * abs(value - point) ** power
            for x, (point, mass) in enumerate(zip(axis.points, axis.masses, strict=True))
            for y, value in enumerate(axis.values)
        )
        assert axis.face_value_error(matrix, power) == pytest.approx(expected, rel=1e-13)


def test_a_coarser_axis_has_the_same_ends() -> None:
    axis = Axis.of(AGES, domain=(0, 99), outputs=512)
    few = axis.coarsen(16)
    assert (few.lower, few.upper, len(few.values)) == (0.0, 99.0, 16)
    assert few.points is axis.points
    assert math.isclose(few.width, axis.width)


def test_outputs_that_floats_cannot_tell_apart() -> None:
    far = ll.Prior.from_counts({10**15: 1, 10**15 + 2: 1})
    with pytest.raises(InputError, match="512 outputs are too close for floats"):
        Axis.of(far)
    assert Axis.of(far, outputs=4).outputs.labels == (
        1e15 + 0.25,
        1e15 + 0.75,
        1e15 + 1.25,
        1e15 + 1.75,
    )
