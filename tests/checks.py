"""What the tests of several notions check in the same way."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath as mp

from liftlock._solver.problem import Optimality
from liftlock.designs import Draft
from liftlock.exact.enclosure import Enclosure
from liftlock.notions import Measurement, Notion
from tests.oracles import real
from tests.strategies import Case

TINY = Fraction(1, 10**30)


def proof_of(draft: Draft) -> Optimality:
    """Return what a solver proved of a draft, which must be something."""
    assert draft.optimality is not None
    return draft.optimality


def contains(found: Enclosure, true: Any, *, width: float = 1e-30) -> bool:
    """Tell whether a number known to 70 digits lies inside, and the enclosure is narrow."""
    if found.upper is None:
        return bool(mp.isinf(true))
    slack = mp.mpf(10) ** -70 * (1 + abs(true))
    narrow = real(found.width) <= width * (1 + abs(true))
    return bool(narrow and real(found.lower) - slack <= true <= real(found.upper) + slack)


def is_ratio(found: Measurement, expected: Fraction | None) -> bool:
    """Tell whether a measurement is the logarithm of exactly this ratio (None: infinite)."""
    if expected is None:
        return found.value.is_infinite and found.ratio is None
    return found.ratio == expected and contains(found.value, mp.log(real(expected)))


def is_number(found: Enclosure, expected: Fraction | None) -> bool:
    """Tell whether a value is known exactly and is this one (None: infinite)."""
    if expected is None:
        return found.is_infinite
    return found.is_exact and found.lower == expected


def nats_around(ratio: Fraction, digits: int = 60) -> tuple[Fraction, Fraction]:
    """Return the last decimals of so many digits below and above ln(ratio), which is irrational."""
    with mp.workdps(3 * digits + 20):
        scaled = int(mp.floor(mp.log(real(ratio)) * mp.mpf(10) ** digits))
    return Fraction(scaled, 10**digits), Fraction(scaled + 1, 10**digits)


def check_ratio_budgets(
    make: Callable[[object], Notion], case: Case, ratio: Fraction | None
) -> None:
    """Certify at, just above and just below the exact ratio."""

    def holds(budget: object) -> bool:
        notion = make(budget)
        return notion.certify(case.channel, case.context, impossible="ignore").holds

    if ratio is None:
        assert not holds("100000")
        return
    assert holds(f"ln {ratio}")
    assert holds(f"ln {ratio * (1 + TINY)}")
    if ratio > 1:
        low, high = nats_around(ratio)
        assert holds(high)
        assert not holds(low)
        assert not holds(f"ln {1 + (ratio - 1) * (1 - TINY)}")
    else:
        assert holds(0)


def check_number_budgets(
    make: Callable[[object], Notion], case: Case, value: Fraction | None
) -> None:
    """Certify at, just above and just below an exact number."""

    def holds(budget: object) -> bool:
        notion = make(budget)
        return notion.certify(case.channel, case.context, impossible="ignore").holds

    if value is None:
        assert not holds("1e100")
        return
    assert holds(value)
    assert holds(value + TINY)
    if value:
        assert not holds(value * (1 - TINY))


def check_real_budgets(make: Callable[[object], Notion], case: Case, true: Any) -> None:
    """Certify just above and just below a real number known to 70 digits."""

    def holds(budget: object) -> bool:
        notion = make(budget)
        return notion.certify(case.channel, case.context, impossible="ignore").holds

    if mp.isinf(true):
        assert not holds("1e6")
        return
    scaled = int(mp.floor(true * mp.mpf(10) ** 50))
    if scaled > 10:
        assert not holds(Fraction(scaled - 10, 10**50))
    assert holds(Fraction(scaled + 11, 10**50))


def smallest_values(notion: Notion, case: Case) -> list[str]:
    """Return the numbers in the text that names the smallest sufficient budget; none if none is."""
    text = notion.smallest_text(case.channel, case.context)
    assert "\n" not in text
    assert "=inf" not in text
    return re.findall(r"=([^\s,]+)", text)


def check_smallest(
    make: Callable[[object], Notion], case: Case, *, slack: float = 2e-10, start: object = 0
) -> None:
    """The budget that is named suffices, and one a little smaller does not."""
    value = next(iter(smallest_values(make(start), case)), None)

    def holds(budget: object) -> bool:
        notion = make(budget)
        return notion.certify(case.channel, case.context, impossible="ignore").holds

    if value is None:
        assert not holds(10**5)
        return
    assert holds(value)
    less = Fraction(value) * (1 - Fraction(slack)) - Fraction(slack)
    if less >= 0 and not math.isclose(float(less), 0.0):
        assert not holds(less)
