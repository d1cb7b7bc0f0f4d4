"""Accounts as people read them: bounds are rounded up, and the sum is struck out."""

from __future__ import annotations

import io
from fractions import Fraction

from rich.console import Console

import liftlock as ll
from liftlock import Channel, Prior
from liftlock.accounting import Ledger, LedgerAccount
from liftlock.accounting.accountants import PrivacyLoss
from liftlock.accounting.accountants.base import sides
from liftlock.report.text.account import account_report, how, spent_value


def text_of(found: LedgerAccount, limit: ll.notions.Notion | None = None) -> str:
    console = Console(file=io.StringIO(), width=120, color_system="truecolor", force_terminal=True)
    console.print(account_report(found, limit))
    file = console.file
    assert isinstance(file, io.StringIO)
    return file.getvalue()


def flip() -> ll.Mechanism:
    rows = {"no": {"no": "3/4", "yes": "1/4"}, "yes": {"no": "1/4", "yes": "3/4"}}
    fair = Prior.uniform(["no", "yes"])
    return ll.lock(Channel.from_rows(rows).table(), ll.LIP("ln 2"), fair, bits=2)


def test_the_sum_is_struck_out() -> None:
    made = flip()
    ledger = Ledger.new().record(made, who="all", about="x").record(made, who="all", about="x")
    shown = text_of(LedgerAccount(ledger))
    # Strike through, bold and red, up to the comma.
    assert "\x1b[1;9;31mbudgets add up to 1.38629\x1b[0m" in shown
    assert "1.609438 nats" in shown


def test_names_cannot_disturb_the_terminal() -> None:
    ledger = Ledger.new().record(flip(), who="日本", about="naïve [bold]markup[/bold]")
    shown = text_of(LedgerAccount(ledger), ll.LIP("1"))
    assert "naïve [bold]markup[/bold]" in shown
    assert "limit lip(1): kept" in shown


def test_bounds_are_rounded_up() -> None:
    third = PrivacyLoss("tight", sides(Fraction(4, 3), Fraction(3, 2)), False, "", "")
    # ln(4/3) = 0.28768207...
    assert spent_value(third, "eps_lower") == "0.287683 nats"
    exact = PrivacyLoss("exact", sides(Fraction(4, 3), None), True, "", "")
    assert spent_value(exact, "eps_lower") == "0.287682 nats"
    assert spent_value(exact, "eps_upper") == "infinite"
    assert how(PrivacyLoss("pairs", {}, False, "", "")) == "at most, pair by pair of the data"


def test_an_empty_ledger() -> None:
    assert "nothing was released" in text_of(LedgerAccount(Ledger.new()))


def test_many_groups_are_cut() -> None:
    made = flip()
    ledger = Ledger.new()
    # Each person has another history.
    for number in range(5):
        people = [str(k) for k in range(1, 32) if k >> number & 1]
        ledger = ledger.record(made, people=people, about=f"x{number}")
    shown = text_of(LedgerAccount(ledger))
    assert shown.count("1 person") == 20
    assert "and 11 more groups (11 people); --json lists all" in shown


def test_outputs_are_counted_not_cut() -> None:
    made = flip()
    ledger = Ledger.new()
    for _ in range(40):
        ledger = ledger.record(made, who="all", about="x", insist=True)
    shown = text_of(LedgerAccount(ledger))
    assert '"yes" at 40 x "no"' in shown
    assert "…" not in shown
    # One release more, of which the last output is another.
    skewed = Channel.from_rows({"no": {"a": "3/4", "b": "1/4"}, "yes": {"a": "1/4", "b": "3/4"}})
    other = ll.lock(skewed.table(), ll.LIP("ln 2"), Prior.uniform(["no", "yes"]), bits=2)
    shown = text_of(LedgerAccount(ledger.record(other, who="all", about="x", insist=True)))
    assert '"yes" at 40 x "no", "a"' in shown
