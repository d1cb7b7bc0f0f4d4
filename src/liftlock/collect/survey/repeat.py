"""What a device does when it is asked again, and what each rule reveals over rounds.

- ``first``: the first report for ever. Asked again, a device repeats the report that it sent; in a
  later round whoever has answered before does not answer. Whatever happens to the person's value,
  the reports are a function of the first one: for every event A about all values of a life, and
  every report y, P(y | A) / P(y) is a mean of lifts of that one report. So nothing is added, ever.
- ``fresh=R``: up to R rounds, each with noise of its own. What R reports tell adds up: bounded by
  the level of one round and the LDP of all others, whatever the values have in common.
- ``memo=R``: in each of R rounds the report that the device once made for the present value. Two
  different reports prove that the value changed, so no finite budget covers a life.
- A report only when the value changes is refused: then silence proves that it did not.

Source: math the leakage of reports about a value that changes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, get_args

from liftlock.errors import InputError

if TYPE_CHECKING:
    from liftlock.mechanism import Mechanism

RepeatKind = Literal["first", "fresh", "memo"]
MOST_ROUNDS = 1000
_MOST_PAIRS = 256
"""Chances that a change shows are computed for tables of at most so many inputs."""

_REMEDY = "use first (the first report for ever), fresh=ROUNDS or memo=ROUNDS"
_RULE = re.compile(r"^\s*([a-z-]+)\s*(?:=\s*(\d+))?\s*$", re.IGNORECASE)


@dataclass(frozen=True)
class RepeatRule:
    """What a device does when it is asked again, in so many rounds at most.

    >>> print(RepeatRule.read("first"), RepeatRule.read("fresh=3"), RepeatRule.read("memo = 2"))
    first fresh=3 memo=2
    """

    kind: RepeatKind = "first"
    rounds: int = 1

    @classmethod
    def read(cls, value: object) -> RepeatRule:
        """Read a rule as a survey names it; what cannot be promised is refused."""
        if isinstance(value, RepeatRule):
            return value
        found = _RULE.match(value) if isinstance(value, str) else None
        kind = "" if found is None else found[1].lower()
        if kind in {"change", "on-change"}:
            raise InputError(
                "a report on change cannot be promised",
                value=value,
                remedy="silence would prove that the value has not changed; " + _REMEDY,
            )
        if found is None or kind not in get_args(RepeatKind):
            raise InputError("unknown repeat rule", value=value, remedy=_REMEDY)
        if kind == "first":
            if found[2] not in (None, "1"):
                raise InputError(
                    "the first report for ever has no number of rounds",
                    value=value,
                    remedy="leave the number out: a person answers once",
                )
            return cls()
        if found[2] is None:
            raise InputError(
                "the number of rounds is missing",
                value=value,
                remedy=f"write {kind}=2 for at most 2 rounds: what they tell adds up",
            )
        rounds = int(found[2])
        if not 1 <= rounds <= MOST_ROUNDS:
            raise InputError(
                "the number of rounds is out of range",
                value=rounds,
                remedy=f"give 1 to {MOST_ROUNDS:,}",
            )
        return cls("fresh" if kind == "fresh" else "memo", rounds)

    def __str__(self) -> str:
        return self.kind if self.kind == "first" else f"{self.kind}={self.rounds}"

    @property
    def repeats(self) -> bool:
        """Whether a person may send more than one report about the same question."""
        return self.kind != "first" and self.rounds > 1

    @property
    def shows_change(self) -> bool:
        """Whether the reports may prove that a value changed, or that it did not."""
        return self.kind == "memo" and self.rounds > 1

    def describe(self) -> str:
        """Say in plain words what a device does when it is asked again, and what that reveals."""
        if self.kind == "first" or self.rounds == 1:
            return (
                "One report for ever: your device sends one report for each question, keeps it, "
                "and sends the same one again if it is asked again, even if your answer has "
                "changed by then. A copy tells nothing new. In later rounds of this survey a "
                "device that has answered does not answer again. If you clear the browser's "
                "storage or answer on a second device, you count as another person, and what the "
                "reports tell adds up."
            )
        if self.kind == "fresh":
            return (
                f"A new report in each round, in at most {self.rounds:,} rounds: each has noise of "
                "its own, so what they tell adds up. The totals below are for all rounds."
            )
        return (
            f"One report for each of your values, in at most {self.rounds:,} rounds: while your "
            "answer and the table of the question stay the same, your device repeats the same "
            "report. By another table it draws a new one, which adds up. If your answer changes, "
            "the collector can notice that it changed; what it changed from and to stays protected "
            "as one report each. No total is promised for all rounds together."
        )


FIRST = RepeatRule()
"""The default: the first report for ever."""


def change_shown(mechanism: Mechanism) -> tuple[Fraction, Fraction] | None:
    """Return the least and the largest chance that the memo of one more value proves a change.

    A change from x to x' is proved when the two reports differ: 1 - sum over y of W(y|x) W(y|x').
    None for tables that are too large, or no tables.

    >>> from liftlock import LIP, Draft, lock
    >>> from liftlock.model import Prior
    >>> draft = Draft.of(["no", "yes"], ["r1", "r2"], [[0.75, 0.25], [0.25, 0.75]])
    >>> coin = lock(draft, LIP("1"), Prior.uniform(["no", "yes"]))
    >>> change_shown(coin)
    (Fraction(5, 8), Fraction(5, 8))
    """
    from liftlock.model.channel import Channel

    channel = mechanism.channel
    size = len(channel.inputs)
    if not isinstance(channel, Channel) or not 2 <= size <= _MOST_PAIRS:
        return None
    weights = channel.weights.astype(object)
    products = weights @ weights.T
    totals = channel.totals
    chances = [
        1 - Fraction(int(products[x, other]), totals[x] * totals[other])
        for x in range(size)
        for other in range(x)
    ]
    return min(chances), max(chances)
