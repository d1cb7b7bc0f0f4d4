"""Calibration, against the exact audit of the same channel, and at the edge of the budget."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

import liftlock as ll
from liftlock.designs import DESIGNS, Draft, lock
from liftlock.designs.formulas import laplace as formulas
from liftlock.designs.lock import round_draft
from liftlock.designs.noise.calibration import (
    ldp_delta,
    lift_range,
    lip_deltas,
    slack_of,
    smallest_scale,
)
from liftlock.errors import InputError, NotDefined
from liftlock.exact.integers import Floats
from liftlock.notions import (
    ALIP,
    LDP,
    LIP,
    ApproximateLDP,
    ApproximateLIP,
    MaxLift,
    MinLift,
    Notion,
)
from liftlock.notions.approximate import FORMS

Cells = Callable[[Floats, Floats, float], Floats]

NOTIONS: tuple[Notion, ...] = (
    LIP("0.5"),
    ALIP(lower="0.4", upper="0.9"),
    MaxLift("0.3"),
    MinLift("0.7"),
    LDP("1.2"),
    ApproximateLIP("0.3", "0.01", "ediv"),
    ApproximateLIP("0.3", "0.01", "def5"),
    ApproximateLIP("0.3", "0.01", "joint"),
    ApproximateLDP("0.6", "0.02"),
)


def random_prior(size: int, seed: int) -> ll.Prior:
    source = np.random.default_rng(seed)
    return ll.Prior.from_counts({x: int(n) for x, n in enumerate(source.integers(1, 50, size))})


def random_rows(size: int, outputs: int, seed: int) -> Floats:
    rows: Floats = np.random.default_rng(seed).dirichlet(np.ones(outputs), size)
    return rows


def family(points: Floats, outputs: int = 40) -> tuple[Floats, Floats]:
    return points, np.linspace(points.min(), points.max(), outputs + 1)


# --- what is measured -----------------------------------------------------------------------------


def test_the_notions_are_those_that_are_listed() -> None:
    assert {notion.name for notion in NOTIONS} == set(DESIGNS["laplace"].notions)


@pytest.mark.parametrize("form", FORMS)
def test_deltas_against_the_exact_audit(form: str) -> None:
    for seed in range(4):
        prior, rows = random_prior(5, seed), random_rows(5, 7, seed)
        table = round_draft(Draft.of(range(5), range(7), rows))
        assert isinstance(table, ll.Table)
        exact = ApproximateLIP.measure(table, prior, "0.4", form)
        found = float(lip_deltas(table.floats(), prior.floats(), math.exp(0.4), form).max())
        assert found == pytest.approx(float(exact), rel=1e-12)


def test_deltas_are_sums_over_the_worst_set_of_outputs() -> None:
    """Brute force over all sets of outputs."""
    prior, rows = random_prior(4, 1), random_rows(4, 6, 1)
    masses, ratio = prior.floats(), 1.3
    output = masses @ rows
    sets = [list(s) for n in range(7) for s in itertools.combinations(range(6), n)]
    for x in range(4):
        up = max(rows[x, s].sum() - ratio * output[s].sum() for s in sets)
        down = max(output[s].sum() - ratio * rows[x, s].sum() for s in sets)
        assert lip_deltas(rows, masses, ratio)[x] == pytest.approx(max(up, down))
        assert lip_deltas(rows, masses, ratio, "def5")[x] == pytest.approx(max(up / ratio, down))
        assert lip_deltas(rows, masses, ratio, "joint")[x] == pytest.approx(
            masses[x] * max(up, down)
        )
    worst = max(
        rows[x, s].sum() - ratio * rows[z, s].sum()
        for x, z in itertools.permutations(range(4), 2)
        for s in sets
    )
    assert ldp_delta(rows, ratio) == pytest.approx(worst)


def test_lifts_leave_out_what_never_occurs() -> None:
    rows = np.array([[0.5, 0.0, 0.5], [0.25, 0.0, 0.75]])
    assert lift_range(rows, np.array([0.5, 0.5])) == pytest.approx((2 / 3, 4 / 3))
    assert slack_of(LIP("1"))(rows, np.array([0.5, 0.5])) < 0
    assert slack_of(LDP("1"))(rows, np.array([0.5, 0.5])) < 0


@pytest.mark.parametrize("notion", NOTIONS, ids=str)
def test_the_slack_has_the_sign_of_the_verdict(notion: Notion) -> None:
    kept = broken = 0
    for seed in range(30):
        prior, rows = random_prior(4, seed), random_rows(4, 5, seed)
        share = [0.1, 0.3, 0.6, 0.9][seed % 4]
        mixed = share * rows + (1 - share) * (prior.floats() @ rows)
        table = round_draft(Draft.of(range(4), range(5), mixed))
        holds = notion.certify(table, prior).holds
        slack = slack_of(notion)(mixed, prior.floats())
        assert holds == (slack <= 0)
        kept, broken = kept + holds, broken + (not holds)
    assert kept
    assert broken


def test_a_delta_of_zero_is_the_pure_notion() -> None:
    prior, rows = random_prior(4, 3), random_rows(4, 5, 3)
    for approximate, pure in (
        (ApproximateLIP("0.5", 0, "joint"), LIP("0.5")),
        (ApproximateLDP("0.5", 0), LDP("0.5")),
    ):
        assert slack_of(approximate)(rows, prior.floats()) == slack_of(pure)(rows, prior.floats())


def test_a_zero_where_none_may_be_is_far_beyond() -> None:
    fair = np.array([0.5, 0.5])
    for notion in (LIP("1"), LDP("1"), MinLift("1")):
        assert slack_of(notion)(np.eye(2), fair) > 100
    assert slack_of(MaxLift("1"))(np.eye(2), fair) < 0


def test_the_largest_pair_of_many_rows_is_found() -> None:
    """With rows in order a few of them are enough to find it."""
    points = np.sort(np.random.default_rng(3).normal(0, 1, 300))
    for cells in (formulas.bounded_bin_masses, formulas.clamped_bin_masses):
        matrix = cells(points, np.linspace(-4, 4, 101), 1.1)
        slack = slack_of(ApproximateLDP("0.5", "0.1"))(matrix, np.full(300, 1 / 300))
        assert slack == pytest.approx(ldp_delta(matrix, math.exp(0.5)) - 0.1, abs=1e-12)


def test_other_notions_are_refused() -> None:
    from liftlock.notions import Chi2Lift

    with pytest.raises(NotDefined, match="designing"):
        slack_of(Chi2Lift("1"))


# --- the least scale ------------------------------------------------------------------------------


@pytest.mark.parametrize("notion", NOTIONS, ids=str)
@pytest.mark.parametrize("cells", [formulas.bounded_bin_masses, formulas.clamped_bin_masses])
def test_the_scale_is_kept_and_no_smaller_one_is(cells: Cells, notion: Notion) -> None:
    for seed in range(3):
        prior = random_prior(6, seed)
        place = family(np.array(sorted(np.random.default_rng(seed).uniform(0, 10, 6))))
        make = partial(cells, *place)
        b = smallest_scale(make, prior.floats(), notion, start=10, least=1e-6)
        inputs, outputs = range(6), range(40)
        kept = lock(Draft.of(inputs, outputs, make(b)), notion, prior)
        assert kept.certificate.holds
        assert kept.blend == 0
        less = round_draft(Draft.of(inputs, outputs, make(b * (1 - 1e-5))))
        assert not notion.certify(less, prior).holds


@pytest.mark.parametrize("start", [1e-3, 1.0, 500.0])
def test_the_start_does_not_matter(start: float) -> None:
    place, masses = family(np.array([0.0, 2.0, 5.0])), np.array([0.2, 0.5, 0.3])
    found = smallest_scale(
        lambda b: formulas.bounded_bin_masses(*place, b), masses, LIP("1"), start=start, least=1e-9
    )
    other = smallest_scale(
        lambda b: formulas.bounded_bin_masses(*place, b), masses, LIP("1"), start=7.0, least=1e-9
    )
    assert found == pytest.approx(other, rel=3e-9)


def test_fewer_outputs_only_save_time() -> None:
    points = np.linspace(0, 5, 30)
    masses = np.full(30, 1 / 30)
    full, few = np.linspace(0, 5, 601), np.linspace(0, 5, 101)
    calls = {"full": 0, "few": 0}

    def fine(b: float) -> Floats:
        calls["full"] += 1
        return formulas.bounded_bin_masses(points, full, b)

    def coarse(b: float) -> Floats:
        calls["few"] += 1
        return formulas.bounded_bin_masses(points, few, b)

    for notion in (LIP("1"), LIP("0.05"), ApproximateLIP("1", "0.02")):
        alone = smallest_scale(fine, masses, notion, start=5.0, least=1e-6)
        many = calls["full"]
        calls.update(full=0, few=0)
        both = smallest_scale(fine, masses, notion, start=5.0, least=1e-6, coarse=coarse)
        assert both == pytest.approx(alone, rel=3e-9)
        assert calls["full"] < many
        assert calls["few"]
        calls.update(full=0, few=0)


def test_more_budget_never_asks_for_more_noise() -> None:
    source = np.random.default_rng(17)
    for _ in range(6):
        size = int(source.integers(2, 12))
        points = np.sort(source.uniform(0, 10, size))
        masses = source.dirichlet(np.ones(size))
        # With three cells the leakage itself is not monotone in the scale, and yet this holds.
        place = family(points, int(source.choice([3, 64])))
        for delta in (None, "0.02"):
            scales = []
            for budget in ("0.01", "0.2", "0.69", "0.7", "1", "1.1", "2", "3", "5", "8"):
                notion = LIP(budget) if delta is None else ApproximateLIP(budget, delta)
                scales.append(
                    smallest_scale(
                        partial(formulas.clamped_bin_masses, *place),
                        masses,
                        notion,
                        start=float(np.ptp(points)),
                        least=1e-6,
                    )
                )
            assert scales == sorted(scales, reverse=True)
            assert scales[-1] < scales[0]


def test_no_noise_where_none_is_needed() -> None:
    place, fair = family(np.array([0.0, 1.0])), np.array([0.5, 0.5])

    def make(b: float) -> Floats:
        return formulas.bounded_bin_masses(*place, b)

    for notion in (MaxLift("0.7"), ApproximateLIP("1", "0.6")):
        assert smallest_scale(make, fair, notion, start=1.0, least=1e-5) <= 1e-5 * (1 + 1e-8)


def test_a_family_that_never_keeps_the_budget() -> None:
    fair = np.array([0.5, 0.5])
    with pytest.raises(NotDefined, match="the noise would have to be infinite"):
        smallest_scale(lambda b: np.eye(2), fair, LIP("1"), start=1.0, least=1e-6)
    with pytest.raises(InputError, match="no noise of this family keeps lip"):
        smallest_scale(lambda b: np.eye(2), fair, LIP("1"), start=1.0, least=1e-6, most=8.0)


def test_a_family_whose_leakage_is_not_monotone_still_keeps_the_budget() -> None:
    """More noise that leaks more for a while: the scale that is returned is one that keeps."""
    fair = np.array([0.5, 0.5])

    def make(scale: float) -> Floats:
        keep = 0.5 + 0.4 * abs(math.cos(scale)) / (1 + scale)
        return np.array([[keep, 1 - keep], [1 - keep, keep]])

    beyond = slack_of(LIP("0.2"))
    for start in (0.1, 0.7, 3.0, 20.0):
        found = smallest_scale(make, fair, LIP("0.2"), start=start, least=1e-3)
        assert beyond(make(found), fair) <= 1e-8
