"""The words of a guarantee promise what its formula does, and never more."""

from __future__ import annotations

import re
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import liftlock as ll
from liftlock.errors import InputError, NotCertified
from liftlock.exact.decimals import round_down_text, round_up_text
from liftlock.notions import MaxLift, MinLift, make_notion
from liftlock.report.html.view import ColumnView, promise_of, proved_distributions
from liftlock.tables.protect import ProtectedColumn
from tests.unit.report.html import examples

BUDGETS = st.decimals("0.001", "12", places=3)


def words_of(notion: ll.notions.Notion) -> str:
    text = promise_of(notion, "job", "home")
    return re.sub("<[^>]+>", "", text).replace("\xa0", " ")


def number(text: str) -> Fraction:
    return Fraction(text.replace(",", ""))


@given(lower=BUDGETS, upper=BUDGETS)
def test_printed_limits_are_never_tighter_than_the_budgets(lower: object, upper: object) -> None:
    words = words_of(ll.ALIP(lower=lower, upper=upper))
    most = re.search(r"at most ([0-9.,]+)-fold", words)
    least = re.search(r"to no less than (?:practically 0 \()?([0-9.,e-]+) %", words)
    assert most is not None
    assert least is not None
    with mpmath.workdps(40):
        up, down = mpmath.exp(mpmath.mpf(str(upper))), 100 * mpmath.exp(-mpmath.mpf(str(lower)))
        said_up, said_down = (mpmath.mpf(found[1].replace(",", "")) for found in (most, least))
        assert up <= said_up <= up * 1.011
        assert down * 0.989 <= said_down <= down


@given(st.fractions(Fraction(1, 5000), 100_000), st.integers(2, 9))
def test_rounding_goes_to_its_side(value: Fraction, digits: int) -> None:
    up, down = number(round_up_text(value, digits)), number(round_down_text(value, digits))
    assert down <= value <= up
    assert up - down <= value * Fraction(11, 10**digits)


@pytest.mark.parametrize(
    ("notion", "said", "unsaid"),
    [
        (ll.LIP("ln 2"), "at most 2-fold, and lower it to no less than 50 % of what", "rule"),
        (MaxLift("ln 2"), "How far it can fall is not limited: a value can be ruled out", "50 %"),
        (MinLift("ln 2"), "How far it can rise is not limited directly", "2-fold"),
        (ll.LDP("ln 2"), ("at most 2 times as likely for people with one “home” as for people with "
         "any other"), "raise"),
        (ll.ApproximateLIP("ln 2", "0.01", "ediv"), ("at most 2 times as likely as among "
         "everybody, plus 0.01"), "raise"),
        (ll.ApproximateLIP("ln 2", "0.01", "def5"), ("at most 2 times that probability with 0.01 "
         "added to it"), "raise"),
        (ll.ApproximateLIP("ln 2", "0.01", "joint"), "For a rare “home” this promises little",
         "raise"),
        (ll.ApproximateLDP("ln 2", "0.01"), "at most 2 times as likely, plus 0.01", "raise"),
        (make_notion("mutual_information", {"budget": "0.1"}),
         "it does not by itself limit the change of every single belief", "-fold"),
    ],
)  # fmt: skip
def test_each_notion_has_its_own_words(notion: ll.notions.Notion, said: str, unsaid: str) -> None:
    words = words_of(notion)
    assert said in words
    assert unsaid not in words


def test_limits_of_beliefs_follow_from_ldp_but_not_from_averages() -> None:
    """A channel that keeps ldp(1) has every lift within e, here on 200 random ones."""
    limits = ll.LDP("1").belief_limits()
    assert limits.most is not None
    assert limits.least is not None
    rng = np.random.default_rng(1)
    for _ in range(200):
        rows = rng.uniform(1.0, np.e, (3, 4))
        prior = rng.dirichlet(np.ones(3))
        columns = rows / rows.sum(axis=1, keepdims=True)
        ratio = (columns.max(axis=0) / columns.min(axis=0)).max()
        if ratio <= np.e:
            lifts = columns / (prior @ columns)
            assert float(limits.least) <= lifts.min()
            assert lifts.max() <= float(limits.most)
    nothing = ll.ApproximateLIP("1", "0.01", "ediv").belief_limits()
    assert nothing.most is None
    assert nothing.least is None


def test_nothing_is_promised_that_does_not_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    made = examples.careful()
    failed = ll.LIP("0.01").certify(made.channel, made.context)
    assert not failed.holds
    forged = object.__new__(ll.Mechanism)
    for name, value in (("certificate", failed), ("channel", made.channel)):
        object.__setattr__(forged, name, value)
    with pytest.raises(NotCertified):
        ColumnView("column-1", ProtectedColumn("job", "home", forged, True)).promise  # noqa: B018
    local = ll.design(["no", "yes"], ll.LIP("1"), method="arc")
    proved_distributions(local)
    # The distribution of the larger budget, under the certificate of the smaller one.
    object.__setattr__(
        local, "certificate", ll.design(["no"], ll.LIP("0.5"), method="arc").certificate
    )
    with pytest.raises(InputError, match="does not keep"):
        proved_distributions(local)
