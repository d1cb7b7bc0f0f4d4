"""Randomised response: the closed form, and that it keeps the budget on any graph."""

from __future__ import annotations

import math

import mpmath as mp
import pytest

from liftlock import Prior, ProfileGraph
from liftlock.designs import design, randomised_response
from liftlock.notions import LDP, ProfilePrivacy, audit
from tests.profile_oracles import many_graphs


@pytest.mark.parametrize("width", [1, 2, 3, 7])
def test_closed_form(width: int) -> None:
    graph = ProfileGraph.complete({i: {x: 1 + i * x for x in range(width)} for i in range(3)})
    matrix = randomised_response(graph, ProfilePrivacy("1.5")).matrix
    e = math.exp(1.5)
    for x in range(width):
        for y in range(width):
            assert matrix[x, y] == pytest.approx((e if x == y else 1) / (e + width - 1), rel=1e-8)


@pytest.mark.parametrize("width", [2, 3, 5])
def test_it_is_ldp_with_the_whole_budget_and_so_serves_every_graph(width: int) -> None:
    for graph in many_graphs(16, width=width):
        mechanism = design(graph, "0.8", method="randomised-response")
        assert mechanism.certificate.holds
        # Where no profile stands alone the rows are those of the values.
        if len(graph) > 1:
            prior = Prior.uniform(graph.inputs.labels)
            assert LDP("0.8").certify(mechanism.channel, prior).holds
        worst = audit(mechanism.channel, graph).worst
        if worst is not None and worst.ratio is not None:
            assert mp.mpf(worst.ratio.numerator) / worst.ratio.denominator <= mp.e ** mp.mpf("0.8")


def test_certain_profiles_spend_the_budget_and_near_ones_hardly_any() -> None:
    far = ProfileGraph.bernoulli([0, 1])
    near = ProfileGraph.bernoulli(["0.5", "0.51"])
    losses = [
        float(audit(design(graph, "1", method="randomised-response").channel, graph).loss)
        for graph in (far, near)
    ]
    assert losses[0] == pytest.approx(1, abs=1e-8)
    assert losses[1] < 0.02


def test_remarks_say_where_the_true_loss_is() -> None:
    mechanism = design(ProfileGraph.bernoulli(["0.8", "0.9"]), "0.5", method="randomised-response")
    assert mechanism.origin is not None
    assert any("in the certificate" in remark for remark in mechanism.origin.remarks)
