"""Columns that were left as they are, or left out, and what they tell about a secret."""

from __future__ import annotations

import math
from collections.abc import Sequence

from liftlock.mechanism import Mechanism
from liftlock.protection.limits import guards
from liftlock.protection.result import KeptColumn, Protection
from liftlock.report.amounts import counted
from liftlock.report.html.bars import Bar, Group, bar_chart
from liftlock.report.html.elements import Content, Markup, figure, listed, named, tag, warned
from liftlock.report.html.figures import percent, times

_MOST = 16


def others_section(protection: Protection) -> Markup | None:
    """Warn of kept columns that tell more than the released ones may, and list dropped ones."""
    if not protection.kept and not protection.dropped:
        return None
    parts: list[Content] = [tag("h2", "The other columns", id="others")]
    if protection.kept:
        parts.append(
            warned(
                "These columns stay in the table as they are, and each tells more about a secret "
                "than the budget of the protected columns allows: ",
                listed(dict.fromkeys(column.name for column in protection.kept)),
                ". No guarantee covers them. Drop them, or protect them too, unless whoever gets "
                "the table may know.",
            )
        )
        for secret in dict.fromkeys(column.secret for column in protection.kept):
            telling = [column for column in protection.kept if column.secret == secret]
            parts.append(_bars(protection, secret, telling))
    if protection.dropped:
        parts.append(
            tag(
                "p",
                "Left out of the released table: ",
                listed(protection.dropped, 40),
                ".",
            )
        )
    return tag("section", parts)


def _bars(protection: Protection, secret: str, columns: Sequence[KeptColumn]) -> Markup:
    finite = [
        value
        for column in columns
        for value in (column.eps_lower, column.eps_upper)
        if math.isfinite(value)
    ]
    up, down = _budgets(protection, secret)
    full = 1.1 * max([*finite, *up, *down, 1e-9])
    order = sorted(columns, key=lambda column: -max(column.eps_upper, column.eps_lower))
    groups = []
    for column in order[:_MOST]:
        groups.append(
            Group(
                [named(column.name, 60), f" ({counted(column.values, 'value')})"],
                (
                    _bar("raises", column.eps_upper, full, up),
                    _bar("lowers", column.eps_lower, full, down),
                ),
            )
        )
    caption: list[Content] = [
        "How far single values of columns that were kept change the probability of a ",
        named(secret),
        ", in the table. Bars are on a scale of logarithms",
        "; lines across mark the budgets of the protected columns." if up or down else ".",
    ]
    if len(order) > _MOST:
        caption.append(f" The {_MOST} that tell most of {len(order)} are drawn.")
    return figure(bar_chart(groups), caption)


def _bar(name: str, nats: float, full: float, budgets: Sequence[float]) -> Bar:
    limits = tuple(budget / full for budget in budgets)
    up = name == "raises"
    kind = "highest" if up else "lowest"
    if math.isinf(nats):
        words = "without limit" if up else "to 0: rules it out"
        return Bar(name, 1.0, words, f"{kind} endless", limits=limits)
    words = f"{times(math.exp(nats))}-fold" if up else f"to {percent(math.exp(-nats))}"
    return Bar(name, nats / full, words, kind, limits=limits)


def _budgets(protection: Protection, secret: str) -> tuple[list[float], list[float]]:
    """Return the budgets of rises and of falls, in nats, of what is protected."""
    up: set[float] = set()
    down: set[float] = set()
    for column in protection.columns:
        if guards(column, secret) and isinstance(column.mechanism, Mechanism):
            limits = column.mechanism.notion.belief_limits()
            up |= set() if limits.upper is None else {float(limits.upper.nats())}
            down |= set() if limits.lower is None else {float(limits.lower.nats())}
    return sorted(up), sorted(down)
