"""Several columns about one secret: what is said together is what was accounted for."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction

import liftlock as ll
from liftlock.accounting import account
from liftlock.accounting.accountants import PrivacyLoss
from liftlock.exact.decimals import fold_text, share_text
from liftlock.exact.enclosure import Enclosure
from liftlock.notions import Measurement
from liftlock.report.html import html_report
from liftlock.report.html.view import factors
from liftlock.tables.protect import CombinedLeak, ProtectedColumn, Protection
from tests.unit.report.html import examples


def words_of(protection: Protection) -> str:
    """Return the section about columns together, as words."""
    _, _, rest = html_report(protection).partition('<h2 id="together">')
    section, _, _ = rest.partition("</section>")
    assert section
    return re.sub("<[^>]+>", " ", section).replace("\xa0", " ")


def test_factors_are_those_of_the_product() -> None:
    made = examples.careful()
    both = made.table.product(made.table)
    lifts = [lift for row in ll.lift_table(both, examples.joint()).lifts() for lift in row]
    leak = examples.everyday().combined[0]
    assert factors(leak.account) == (max(lifts), min(lifts))
    words = words_of(examples.everyday())
    assert fold_text(max(lifts)) in words
    assert share_text(min(lifts)).replace("\xa0", " ") in words
    assert "measured exactly" in words


def test_more_than_one_budget_is_warned_of() -> None:
    protection = examples.everyday()
    assert protection.exceeded_secrets() == ("home",)
    assert "Attention." in words_of(protection)
    alone = account([examples.careful()], examples.joint())
    leak = CombinedLeak("home", ("job",), alone)
    assert leak.keeps(examples.careful().notion)
    within = replace(protection, combined=(leak,))
    assert within.exceeded_secrets() == ()
    assert "stays within the budget" in words_of(within)


def test_a_column_may_be_its_own_secret() -> None:
    """The value of one column, which another one tells: job against former job."""
    made = examples.careful()
    prior = examples.joint().prior
    own = ll.lock(made.table, ll.LIP("1.6"), prior)
    columns = (
        ProtectedColumn("job", None, own, True),
        ProtectedColumn("former job", "home", made, True),
    )
    leak = CombinedLeak("job", ("job", "former job"), account([own.table, made.table], prior))
    protection = Protection("people.csv", 220, columns, (leak,))
    assert list(protection.limits_of(leak)) == ["job"]
    assert protection.exceeded_secrets() == ("job",)
    words = " ".join(words_of(protection).split())
    assert "raise the probability of any true “ job ”" in words
    lifts = [lift for row in ll.lift_table(made.table, prior).lifts() for lift in row]
    # Each column alone tells the same about the job, whatever it was made for.
    assert words.count(fold_text(max(lifts))) == 2


def test_sums_of_budgets_are_factors_too() -> None:
    found = account([examples.careful()] * 2)
    bound = Measurement("eps_upper", Enclosure.of(Fraction(1)), "nats")
    spent = PrivacyLoss("ldp-sum", {"eps_upper": bound}, False, "", "")
    up, down = factors(replace(found, spent=(spent,)))
    assert up is not None
    assert 0 <= up - Fraction("2.718281828459045") < Fraction(1, 10**14)
    assert down == 0


def test_what_nobody_bounds_is_no_promise() -> None:
    released = account([examples.careful()] * 2)
    assert factors(released)[0] is not None
    nothing = replace(released, spent=())
    assert factors(nothing) == (None, Fraction(0))
    leak = CombinedLeak("home", ("job",), nothing)
    assert not leak.keeps(ll.LIP("1"))
    words = words_of(replace(examples.everyday(), combined=(leak,)))
    assert "without limit" in words
    assert "nothing is proved" in words
