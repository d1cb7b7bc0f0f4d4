"""What has been spent, by whom, about what, and what one more release would cost, as text."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from liftlock.accounting.account import Account, combine_accounts
from liftlock.accounting.accountants.base import PrivacyLoss
from liftlock.accounting.ledger_account import GroupAccount, ItemAccount, LedgerAccount
from liftlock.errors import NotDefined
from liftlock.model import Joint
from liftlock.notions.base import Notion
from liftlock.notions.measurement import Witness
from liftlock.notions.registry import TITLES
from liftlock.report.format import grid_of, printable, several, shown
from liftlock.report.text.audit import value_text, where_text

if TYPE_CHECKING:
    from rich.table import Table as Grid

HOW = {
    "exact": "exact",
    "pairs": "exact, pair by pair",
    "tight": "at most, by the tight bound",
    "pairwise": "at most, by pairs of inputs",
    "ldp-sum": "at most, by the sum of LDP levels",
    "delta-sum": "at most, epsilons and deltas add up",
}
"""What an accountant's number is, in words."""

_EPSILON = "epsilon (LDP, with delta)"
_LISTED = 8
_RUNS = 12
_MOST_GROUPS = 20


def account_report(found: LedgerAccount, limit: Notion | None = None) -> RenderableType:
    """Return the accounts of everybody in a ledger."""
    parts: list[RenderableType] = []
    cohorts = [group for group in found.groups if group.history.people is None]
    people = [group for group in found.groups if group.history.people is not None]
    ranked = [*cohorts, *sorted(people, key=_most_spent, reverse=True)]
    for group in ranked[:_MOST_GROUPS]:
        parts += [Text(), *_group(group, limit)]
    rest = ranked[_MOST_GROUPS:]
    if rest:
        number = sum(group.history.people or 0 for group in rest)
        more = f"and {len(rest):,} more groups"
        more += f" ({number:,} people)" if number else ""
        parts += [Text(), Text(f"{more}; --json lists all")]
    if not found.groups:
        parts.append(Text("nothing was released"))
    parts += [line for each in found.overlaps for line in (Text(), Text(printable(str(each))))]
    return Group(*parts)


def _most_spent(group: GroupAccount) -> float:
    """Return what a group has spent at most, to show those first who have spent the most."""
    levels = [
        float(item.account[name])
        for item in group.items
        for name in ("profile", "lip", "ldp")
        if name in item.account
    ]
    return max(levels, default=0.0)


def _group(group: GroupAccount, limit: Notion | None) -> list[RenderableType]:
    kind = "cohort " if group.history.people is None else ""
    name = shown(group.history.name, 60) if kind else group.history.name
    parts: list[RenderableType] = [Text(f"{kind}{name}", style="bold")]
    for item in group.items:
        parts.append(Padding(_item(item, limit, alone=len(group.items) == 1), (0, 0, 0, 2)))
    if group.together is not None:
        parts.append(Padding(_together(group, group.together), (0, 0, 0, 2)))
    return parts


def _item(item: ItemAccount, limit: Notion | None, *, alone: bool) -> RenderableType:
    account = item.account
    number = len(account)
    promised = dict.fromkeys(entry.guarantee for entry in item.entries)
    listed = several(tuple(promised), 3).replace('"', "")
    about = "different contexts" if account.context is None else account.context.describe()
    if account.context is None and account.headline == "profile":
        about = f"{item.entries[0].context_kind}, which was not kept"
    read = f", of {account.reading}" if number > 1 else ""
    releases = f"{number:,} release{'s' * (number != 1)} of {listed}{read}"
    head = f"about {shown(item.about, 60)}: {releases}; "
    parts: list[RenderableType] = [Text(head + about)]
    parts.append(Padding(_table(account), (0, 0, 0, 2)))
    warning = account.warning()
    if warning:
        told, rest = warning.split(",", 1)
        style = "bold red" if account.is_exact(account.headline) and "but the" in rest else ""
        # Struck out where the terminal can: the sum is what not to believe.
        parts.append(Text.assemble("  ", (told, f"strike {style}"), (f",{rest}", style)))
    parts += [Text(f"  {line}", style="dim") for line in _reasons(account)]
    if account.unprotected:
        parts.append(
            Text(
                f"  NOT protected (prior probability 0): {several(account.unprotected, 5)}",
                style="bold red",
            )
        )
    if account.useless:
        parts.append(Text(f"  WARNING: {account.useless}", style="bold red"))
    if limit is not None:
        parts.append(_verdict(account, limit, alone=alone))
    parts += [Text(f"  {line}") for line in _one_more(item)]
    return Group(*parts)


def _verdict(account: Account, limit: Notion, *, alone: bool) -> Text:
    try:
        kept = account.allows(limit)
    except NotDefined as error:
        return Text(f"  limit {limit}: not known, {printable(str(error))}", style="bold red")
    words = "kept" if kept else "NOT certainly kept"
    if kept and account.rests_on_ldp(limit):
        words = "kept by the level of LDP, under every prior"
    if kept and not alone:
        words += ", by the releases about it; what the other items tell of it is not counted"
    return Text(f"  limit {limit}: {words}", style="green" if kept else "bold red")


def _table(account: Account) -> Grid:
    grid = grid_of()
    grid.add_column("notion", no_wrap=True)
    grid.add_column("spent", justify="right", no_wrap=True)
    grid.add_column("how", no_wrap=True)
    grid.add_column("where", overflow="fold")
    of_what = ""
    if isinstance(account.context, Joint):
        of_what = " of the secret"
    elif any(isinstance(release.context, Joint) for release in account.releases):
        of_what = " of the data"
    for name, spent in account.best.items():
        measurement = spent[name]
        where = ""
        if spent.exact and measurement.witness is not None:
            where = _where(measurement.witness, len(account))
        grid.add_row(
            _title(name) + (of_what if name == "ldp" else ""),
            spent_value(spent, name),
            how(spent),
            Text(where),
            style="red" if measurement.value.is_infinite else None,
        )
    return grid


def _where(witness: Witness, releases: int) -> str:
    """Say where a value is attained; equal outputs in a row are counted."""
    outputs = witness.output
    if releases < 2 or not isinstance(outputs, tuple):
        return where_text(witness)
    runs = [(label, len(list(same))) for label, same in itertools.groupby(outputs)]
    words = [shown(label) if n == 1 else f"{n:,} x {shown(label)}" for label, n in runs[:_RUNS]]
    more = sum(n for _, n in runs[_RUNS:])
    if more:
        words.append(f"and {more:,} more outputs (--json lists all)")
    text = where_text(replace(witness, output=None, prior=None))
    last = where_text(Witness(prior=witness.prior))
    return " ".join(part for part in (text, "at " + ", ".join(words), last) if part)


def spent_value(spent: PrivacyLoss, quantity: str) -> str:
    """Write a number with its unit; one that is a bound is rounded up."""
    measurement = spent[quantity]
    if spent.exact or measurement.value.is_infinite:
        return value_text(measurement)
    return spent.text(quantity) + (f" {measurement.unit}" if measurement.unit else "")


def how(spent: PrivacyLoss) -> str:
    """Say what kind of number an accountant gave."""
    if spent.accountant == "pairs" and not spent.exact:
        return "at most, pair by pair of the data"
    return HOW.get(spent.accountant, spent.accountant)


def _reasons(account: Account) -> list[str]:
    """Say how large the exact computation was, or why bounds were used instead."""
    if account.headline not in account:
        why = printable(account.refused.get("exact", "no context"))
        if account.headline == "profile":
            return [f"no bound: {why}"]
        return ["LIP is at most LDP, under every prior", f"no lifts: {why}"]
    if account.is_exact(account.headline):
        return [f"exact: {account.exact_size}"] if len(account) > 1 else []
    return [f"bounds were used: {printable(account.exact_size)}"]


def _one_more(item: ItemAccount) -> list[str]:
    lines = []
    for name, after in list(item.one_more.items())[:_LISTED]:
        quantity = after.headline if after.headline in after else "ldp"
        if quantity not in after:
            continue
        value = spent_value(after.best[quantity], quantity)
        change = f"to {value}" if after.is_exact(quantity) else f"to at most {value}"
        if quantity in item.account:
            now = item.account[quantity].ratio
            same = now is not None and now == after[quantity].ratio
            if same and after.is_exact(quantity) and item.account.is_exact(quantity):
                change = f"stays at {value}"
            else:
                spent = spent_value(item.account.best[quantity], quantity)
                change = f"from {spent} {change}"
        lines.append(f"one more release by {printable(name)}: {_title(quantity)} {change}")
    rest = len(item.one_more) - _LISTED
    return [*lines, f"and {rest:,} more mechanisms; --json lists all"] if rest > 0 else lines


def _together(group: GroupAccount, spent: PrivacyLoss) -> Text:
    words = [f"{_title(name)} {spent_value(spent, name)}" for name in spent.measurements]
    sure = "" if spent.exact else "at most "
    return Text(f"all items at once, {group.reading}: {sure}{', '.join(words)}{_other(group)}")


def _other(group: GroupAccount) -> str:
    """Say what the other reading of different items would give."""
    if group.reading.kind == "independent":
        return "; what each item tells about the others is not counted"
    words = "; no item leaks more than that through all releases"
    other = combine_accounts([item.account for item in group.items], "independent")
    if "lip" in other.measurements:
        words += f"; if they are independent (--independent), LIP {spent_value(other, 'lip')}"
    return words


def _title(quantity: str) -> str:
    return _EPSILON if quantity == "epsilon_ldp" else TITLES.get(quantity, quantity)
