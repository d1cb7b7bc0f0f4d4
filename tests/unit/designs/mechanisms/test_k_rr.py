"""k-ary randomised response: the closed form, every context, and the lift notions it implies."""

from __future__ import annotations

import math

import numpy as np
import pytest

from liftlock import Ball, Context, Family, Intervals, Joint, Prior, design
from liftlock.designs import k_rr
from liftlock.notions import ALIP, LDP, LIP, Notion

PRIOR = Prior.from_counts({"a": 1, "b": 2, "c": 7})
CONTEXTS: list[Context] = [
    PRIOR,
    Joint.from_counts({"s": {"a": 3, "b": 0, "c": 5}, "t": {"a": 1, "b": 4, "c": 2}}),
    Family.of([PRIOR, Prior.uniform("abc")]),
    Intervals.all_priors("abc"),
    Ball.of(PRIOR, "0.05"),
]


def test_closed_form() -> None:
    matrix = k_rr(Prior.uniform(range(5)), LDP("2")).matrix
    e = math.exp(2)
    assert np.diag(matrix) == pytest.approx(e / (e + 4))
    assert matrix[0, 1] == pytest.approx(1 / (e + 4))


@pytest.mark.parametrize("context", CONTEXTS, ids=lambda c: type(c).__name__)
@pytest.mark.parametrize(
    "notion", [LDP("1"), LIP("0.01"), LIP("8"), ALIP(lower="1.3", upper="0.7")], ids=str
)
def test_kept_in_every_context(context: Context, notion: Notion) -> None:
    mechanism = design(context, notion, method="k-rr")
    assert mechanism.certificate.holds
    assert mechanism.origin is not None
    told = any("implies the notion" in remark for remark in mechanism.origin.remarks)
    assert told == (notion.name != "ldp")


def test_the_smaller_budget_counts() -> None:
    mechanism = design(PRIOR, ALIP(lower="1.3", upper="0.7"), method="k-rr")
    assert float(LDP.measure(mechanism.table)) == pytest.approx(0.7, abs=1e-9)
