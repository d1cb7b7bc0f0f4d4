"""The text of a release: what the mechanism leaks in the table, beside what was promised."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from liftlock.errors import listed
from liftlock.exact.enclosure import Enclosure
from liftlock.notions.certificate import nats_text
from liftlock.report.format import shown

if TYPE_CHECKING:
    from liftlock.tables.tonight import TableLeak, TonightsLeaks


def leak_text(leak: TableLeak) -> str:
    """Say what is leaked in the table, and whether that is within the promise."""
    lower, upper = leak.lifts.eps_lower().value, leak.lifts.eps_upper().value
    about = "" if leak.secret is None else f" about {shown(leak.secret)}"
    if leak.given:
        about += f" given {' and '.join(map(shown, leak.given))}"
    words = f"in this table{about}: eps_lower {nats_text(lower)}, eps_upper {nats_text(upper)} nats"
    if leak.holds:
        return f"{words}, within the promise"
    if leak.smallest and leak.promised.notion.lift_limits() is None:
        words += f", {leak.smallest}"
    if leak.more_than_chance:
        return f"{words}: MORE than promised\n  {leak.describe_chance()}"
    return f"{words}: more than promised, {leak.describe_chance()}"


def leak_warnings(found: TonightsLeaks) -> Iterator[str]:
    """Say where more is leaked than promised, and chance does not explain it."""
    for leak in found.leaks:
        if leak.more_than_chance:
            what = "shares of the values are" if leak.secret is None else "joint is"
            yield (
                f"the {what} no longer what {leak.promised.text} was promised for (--check refuses "
                "such a table)"
            )


def leak_notes(found: TonightsLeaks) -> Iterator[str]:
    """Say what could not be measured, and what was counted that the promise does not know."""
    yield from found.unchecked
    for leak in found.leaks:
        if leak.unknown:
            rows = sum(leak.unknown.values())
            yield (
                f"{rows:,} row{'s' * (rows != 1)} with values of {leak.secret!r} that the promise "
                f"does not know ({listed(list(leak.unknown))}): they are counted in what the table "
                "leaks, and nothing was promised about them"
            )
        if leak.missing and leak.secret is not None:
            yield (
                f"{leak.missing:,} missing cells stay missing: in what the table leaks they are a "
                "value of their own"
            )


def leak_data(leak: TableLeak) -> dict[str, Any]:
    """Return the JSON form."""
    return {
        "secret": leak.secret,
        "given": list(leak.given),
        "promised": leak.promised.certificate.guarantee,
        "rows": leak.rows,
        "eps_lower": _at_most(leak.lifts.eps_lower().value),
        "eps_upper": _at_most(leak.lifts.eps_upper().value),
        "holds": leak.holds,
        "needed": leak.smallest or None,
        "more_than_chance": leak.more_than_chance,
        "at_least": None if leak.at_least is None else leak.at_least._asdict(),
        "unknown": sum(leak.unknown.values()),
        "missing": leak.missing,
        "mapped": leak.mapped,
    }


def _at_most(value: Enclosure) -> float | str:
    """Return a float that is not below it.

    >>> _at_most(Enclosure.of(Fraction(1, 3))) >= Fraction(1, 3), _at_most(Enclosure.infinity())
    (True, 'infinity')
    """
    if value.upper is None:
        return "infinity"
    number = float(value.upper)
    return number if Fraction(number) >= value.upper else math.nextafter(number, math.inf)
