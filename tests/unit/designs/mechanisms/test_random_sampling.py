"""Sampling: the largest rate for every notion, at the edge of the exact audit."""

from __future__ import annotations

import math

import numpy as np
import pytest

import liftlock as ll
from liftlock.designs import (
    DESIGNS,
    Draft,
    design,
    design_as_published,
    lock,
    random_sampling,
    safe_response,
)
from liftlock.designs.mechanisms.random_response import exact_rate
from liftlock.errors import InputError, NotCertified, NotDefined
from liftlock.model.continuous import normal
from liftlock.notions import (
    ALIP,
    LIP,
    REGISTRY,
    ApproximateLDP,
    ApproximateLIP,
    MaxLift,
    MinLift,
    Notion,
    make_notion,
)

RARE = ll.Prior.from_probabilities({"a": "0.1", "b": "0.2", "c": "0.7"})


def notion_of(name: str, epsilon: str, delta: str) -> Notion:
    values = {"delta": delta, "upper": "0.6"}
    return make_notion(name, {k: values.get(k, epsilon) for k in REGISTRY[name].parameters})


def random_priors(seed: int, count: int) -> list[ll.Prior]:
    source = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        size = int(source.integers(2, 8))
        counts = source.integers(1, 10 ** int(source.integers(1, 5)), size=size)
        found.append(ll.Prior.from_counts({x: int(n) for x, n in enumerate(counts)}))
    return found


@pytest.mark.parametrize("name", DESIGNS["sampling"].notions)
def test_the_rate_is_the_largest(name: str) -> None:
    refused = 0
    for place, prior in enumerate(random_priors(3, 8)):
        notion = notion_of(name, ["0.1", "1", "3"][place % 3], ["0.001", "0.05"][place % 2])
        draft = random_sampling(prior, notion)
        locked = lock(draft, notion, prior)
        assert locked.certificate.holds
        rate = exact_rate(prior.floats(), notion)
        if rate < 1:
            more = random_sampling(prior, notion, rate=min(rate * (1 + 1e-4), 1.0))
            assert more.faithful
            with pytest.raises(NotCertified):
                lock(more, notion, prior)
            refused += 1
    assert refused > 3


@pytest.mark.parametrize("form", ["ediv", "def5", "joint", "ldp"])
def test_the_audit_finds_the_delta_that_was_asked_for(form: str) -> None:
    """The rate is where the exact smallest delta of the channel meets the budget."""
    for prior in random_priors(5, 4):
        for epsilon, delta in (("0.2", 0.01), ("ln 3", 0.1)):
            if form == "ldp":
                notion: Notion = ApproximateLDP(epsilon, str(delta))
            else:
                notion = ApproximateLIP(epsilon, str(delta), form)
            draft = random_sampling(prior, notion)
            channel = lock(draft, notion, prior).channel
            if form == "ldp":
                found = float(ApproximateLDP.measure(channel, prior, epsilon))
            else:
                found = float(ApproximateLIP.measure(channel, prior, epsilon, form))
            if draft.matrix[0, 0] < 1:
                assert found == pytest.approx(delta, rel=1e-6)


def test_without_delta_it_is_the_safe_response() -> None:
    for notion in (LIP("1"), ALIP(lower="1", upper="0.5"), MaxLift("0.4"), MinLift("0.4")):
        assert random_sampling(RARE, notion).matrix == pytest.approx(
            safe_response(RARE, notion).matrix, abs=1e-8
        )


def test_any_symbols() -> None:
    made = design(RARE, ApproximateLIP("1", "0.05"), method="sampling")
    assert made.table.outputs.labels == ("a", "b", "c")
    assert not any("squared" in said for said in random_sampling(RARE, LIP("1")).remarks)
    only = ll.Prior.from_counts({"a": 5})
    assert random_sampling(only, ApproximateLIP("1", "0.05")).matrix.tolist() == [[1.0]]


def test_numbers_in_and_numbers_out() -> None:
    line = normal(50, 10, domain=(20, 80))
    made = design(line, ApproximateLIP("1", "0.01"), method="sampling", bins=32)
    points = line.discretise(32).points
    released = made.release([12.0, 50.0, 99.0] * 20)
    assert all(np.abs(points - float(number)).min() < 0.01 for number in released)


def test_512_cells() -> None:
    prior = normal(50, 10, domain=(20, 80)).discretise(512)
    for notion in (LIP("1"), ApproximateLIP("1", "0.001")):
        locked = lock(random_sampling(prior, notion), notion, prior)
        assert not locked.blend


def test_expected_errors_are_those_of_the_table() -> None:
    prior = ll.Prior.from_counts({1: 5, 2: 3, 5: 2})
    draft = random_sampling(prior, LIP("1"))
    points = np.array([1.0, 2.0, 5.0])
    apart = np.abs(points[:, None] - points)
    squared, absolute = (
        float(prior.floats() @ (draft.matrix * apart**power).sum(axis=1)) for power in (2, 1)
    )
    assert draft.remarks[-1].endswith(
        f"mean squared error {squared:.6g} and mean absolute error {absolute:.6g}"
    )


# --- rates for a continuous value -----------------------------------------------------------------


def kept(draft: Draft) -> float:
    return float(draft.remarks[0].split("probability ")[1].split(",")[0])


def test_continuous_rates() -> None:
    ratio = math.e
    for form, expected in (("ediv", 0.02), ("def5", 0.02 * ratio)):
        draft = random_sampling(RARE, ApproximateLIP("1", "0.02", form), rate="continuous")
        assert kept(draft) == pytest.approx(expected, rel=1e-5)
        assert draft.faithful
        assert lock(draft, ApproximateLIP("1", "0.02", form), RARE).certificate.holds
    draft = random_sampling(RARE, ApproximateLDP("1", "0.02"), rate="continuous")
    assert kept(draft) == pytest.approx(0.02)
    with pytest.raises(NotDefined, match="without delta it is 0"):
        random_sampling(RARE, LIP("1"), rate="continuous")


def test_the_published_rate_is_that_of_definition_five() -> None:
    """In the form of Cor 9 it breaks the budget, unless masses help."""
    many = ll.Prior.uniform(range(200))
    notion = ApproximateLIP("1", "0.05", "ediv")
    with pytest.raises(NotCertified, match="design_as_published"):
        design(many, notion, method="sampling", as_published=True)
    true = design_as_published(many, notion, method="sampling")
    assert isinstance(true.notion, ApproximateLIP)
    assert 0.05 < float(true.notion.delta) < 0.05 * math.e
    asked = ApproximateLIP("1", "0.05", "def5")
    assert design(many, asked, method="sampling", as_published=True).certificate.holds


@pytest.mark.parametrize("rate", ["most", -0.1, 1.1, float("nan")])
def test_bad_rates(rate: object) -> None:
    with pytest.raises(InputError):
        random_sampling(RARE, LIP("1"), rate=rate)  # type: ignore[arg-type]


def test_zero_masses_are_left_out() -> None:
    prior = ll.Prior.from_counts({"a": 1, "b": 0, "c": 1})
    with pytest.raises(InputError, match="probability 0"):
        random_sampling(prior, LIP("1"))
    assert design(prior, LIP("1"), method="sampling").channel.inputs.labels == ("a", "c")
