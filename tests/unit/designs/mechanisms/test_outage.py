"""Outage: the largest probability of the truth that a delta allows, by fractions and by audit."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.optimize

import liftlock as ll
from liftlock.designs import design, outage
from liftlock.designs.mechanisms.outage import truth_share
from liftlock.errors import NotDefined
from liftlock.notions import ApproximateLDP, ApproximateLIP, Notion
from liftlock.notions.approximate import Form

MASSES = np.array([0.05, 0.15, 0.3, 0.5])
PRIOR = ll.Prior.from_probabilities({1: "0.05", 2: "0.15", 3: "0.3", 7: "0.5"})
FORMS: tuple[Form, ...] = ("ediv", "def5", "joint")


def delta_of(matrix: np.ndarray, ratio: float, form: str) -> float:
    """Return the delta by its definition, both sides, over every secret."""
    output = MASSES @ matrix
    worst = 0.0
    for x, row in enumerate(matrix):
        up = np.clip(row - ratio * output, 0, None).sum()
        down = np.clip(output - ratio * row, 0, None).sum()
        up = up / ratio if form == "def5" else up
        weight = MASSES[x] if form == "joint" else 1.0
        worst = max(worst, weight * up, weight * down)
    return float(worst)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("epsilon", ["0.1", "1", "2.5"])
@pytest.mark.parametrize("delta", ["0.001", "0.1"])
def test_the_delta_is_used_up_and_not_exceeded(form: Form, epsilon: str, delta: str) -> None:
    draft = outage(PRIOR, ApproximateLIP(epsilon, delta, form))
    found = delta_of(draft.matrix, float(np.exp(float(epsilon))), form)
    assert found == pytest.approx(float(delta), rel=1e-6)
    made = design(PRIOR, ApproximateLIP(epsilon, delta, form), method="outage")
    assert made.certificate.holds


@pytest.mark.parametrize("form", FORMS)
def test_no_larger_share_is_allowed(form: Form) -> None:
    notion = ApproximateLIP("1", "0.05", form)
    draft = outage(PRIOR, notion)
    share = truth_share(MASSES, notion.delta_limit(), draft.matrix.shape[1])
    assert draft.matrix[:, -4:] == pytest.approx(share * np.eye(4))
    pure = draft.matrix[:, :-4] / (1 - share)
    more = share * (1 + 1e-4)
    bolder = ll.Draft.of(
        PRIOR.inputs, range(draft.matrix.shape[1]), np.hstack([(1 - more) * pure, more * np.eye(4)])
    )
    assert delta_of(bolder.matrix, np.e, form) > 0.05
    faithful = ll.Draft(bolder.inputs, bolder.outputs, bolder.matrix, faithful=True)
    with pytest.raises(ll.NotCertified):
        ll.lock(faithful, notion, PRIOR)


def test_ldp_releases_the_truth_with_probability_delta() -> None:
    draft = outage(PRIOR, ApproximateLDP("1", "0.02"))
    assert draft.matrix[:, -4:] == pytest.approx(0.02 * np.eye(4), abs=1e-9)
    assert design(PRIOR, ApproximateLDP("1", "0.02"), method="outage").certificate.holds


@pytest.mark.parametrize("utility", ["mean", "absolute", "histogram", "guess"])
def test_costs_fall_by_that_share_and_no_more(utility: str) -> None:
    notion = ApproximateLIP("1", "0.04")
    made = design(PRIOR, notion, utility=utility, method="outage").origin
    pure = design(PRIOR, ll.LIP("1"), utility=utility).origin
    assert made is not None
    assert pure is not None
    share = 0.04 / 0.95
    assert made.objective == pytest.approx((1 - share) * pure.objective, rel=1e-6)


def test_on_a_grid_the_truth_keeps_outputs_of_its_own() -> None:
    prior = ll.continuous.lognormal(10, 0.5, domain=(0, 100_000)).discretise(40)
    made = design(prior, ApproximateLIP("1", "0.05"), utility="mean", method="outage", gap=1e-4)
    labels = made.table.outputs.labels
    assert len(set(labels)) == len(labels)
    truth = [k for k, label in enumerate(labels) if str(label).startswith("exactly ")]
    assert len(truth) == 40
    numbers = made.table.outputs.coordinates
    assert numbers is not None
    assert [float(numbers[k]) for k in truth] == pytest.approx(prior.points.tolist())
    spoken = [float(numbers[k]) for k in range(len(labels)) if k not in truth]
    assert spoken == sorted(spoken)
    values = [5_000.0, 22_000.0, 60_000.0]
    assert all(isinstance(number, float) for number in made.simulate(values, seed=3))
    # Each number that is released is the best reading of its output.
    assert made.readings() == pytest.approx([float(number) for number in numbers], abs=1.0)


@pytest.mark.parametrize("utility", ["mean", "absolute", "histogram"])
def test_ldp_on_many_cells_joins_neighbours_or_answers_k_ary(utility: str) -> None:
    prior = ll.continuous.normal(0, 1, domain=(-4, 4)).discretise(40)
    notion = ApproximateLDP("1", "0.01")
    made = design(prior, notion, utility=utility, method="outage", gap=1e-3, seconds=2.0)
    assert made.certificate.holds
    assert made.origin is not None
    said = " ".join(made.origin.remarks)
    assert ("neighbours are joined" in said) == (utility != "histogram")
    if utility == "mean":
        assert made.origin.objective < 0.92 * (made.origin.nothing or 0.0)


def test_a_delta_that_protects_nothing_is_called_that() -> None:
    prior = ll.Prior.uniform(range(100))
    made = design(prior, ApproximateLIP("1", "0.01", "joint"), utility="mean", method="outage")
    assert made.certificate.holds
    assert made.origin is not None
    assert made.origin.objective == pytest.approx(0.0, abs=1e-12)
    assert "protects nothing" in made.origin.remarks[0]


def test_no_delta_is_the_pure_optimum() -> None:
    draft = outage(PRIOR, ApproximateLIP("1", "0"))
    assert not any(str(label).startswith("exactly") for label in draft.outputs.labels)
    words = ll.Prior.from_counts({"a": 1, "b": 3})
    assert outage(words, ApproximateLIP("1", "0.1")).outputs.labels[-1] == "exactly b"


@pytest.mark.parametrize("notion", [ll.LIP("1"), ll.LDP("1")], ids=str)
def test_a_notion_without_a_delta_is_refused(notion: Notion) -> None:
    with pytest.raises(NotDefined, match="delta"):
        outage(PRIOR, notion)


def test_a_delta_can_be_put_to_better_use() -> None:
    """The best channel to some places under (1, 0.05)-LIP is a linear programme."""
    prior = ll.Prior.uniform(range(6))
    masses, points, places = prior.floats(), np.arange(6.0), np.linspace(0, 5, 21)
    rows, columns = len(points), len(places)
    size = rows * columns
    each, none = np.eye(size), np.zeros((size, size))
    output = np.kron(np.ones((rows, 1)), np.kron(masses[None, :], np.eye(columns)))
    over, no_row = np.kron(np.eye(rows), np.ones((1, columns))), np.zeros((rows, size))
    found = scipy.optimize.linprog(
        np.concatenate(
            [(masses[:, None] * (points[:, None] - places) ** 2).ravel(), none[:2].ravel()]
        ),
        A_ub=np.block(
            [
                [each - np.e * output, -each, none],
                [output - np.e * each, none, -each],
                [no_row, over, no_row],
                [no_row, no_row, over],
            ]
        ),
        b_ub=np.concatenate([np.zeros(2 * size), np.full(2 * rows, 0.05)]),
        A_eq=np.hstack([over, no_row, no_row]),
        b_eq=np.ones(rows),
    )
    pure = design(prior, ll.LIP("1"), utility="mean").origin
    made = design(prior, ApproximateLIP("1", "0.05"), utility="mean", method="outage").origin
    assert pure is not None
    assert made is not None
    assert made.objective < pure.objective
    assert pure.objective - float(found.fun or np.inf) > 1.5 * (pure.objective - made.objective)
