"""What each notion must measure, and what its witnesses attain, by nothing but P(s) and P(y | s).

The test of a notion, `tests/unit/notions/test_<page>.py`, says both for the contracts:

- ``TRUTHS``: for each guarantee of the page the quantities of its certificate, by brute force;
- ``ATTAINED``: for each guarantee that names witnesses, what they attain, by quantity;
- ``NOT_MONOTONE``: for each guarantee that a processed output may break although the output keeps
  it, a case in which joining the first two outputs does.

`gathered` collects them from the tests of all pages, and from `test_<page>` of plug-ins.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import mpmath as mp

from liftlock.exact.enclosure import Enclosure
from liftlock.notions import Notion, Witness
from liftlock.notions.registry import NOTIONS
from tests import strategies
from tests.oracles import real
from tests.strategies import Case, Row

ALPHA = Fraction(2)
"""The order of notions of some order in the contracts."""

RAISED_TOGETHER = strategies.prior_case(
    [1, 1, 18],
    [
        [Fraction(cell) for cell in row]
        for row in (
            ("0.08", "0.04", "0.88"),
            ("0.04", "0.08", "0.88"),
            ("1/225", "1/225", "223/225"),
        )
    ],
)
"""Joined, the first two outputs raise both rare symbols 6-fold, not one 8-fold, one 4-fold."""


def log(ratio: Fraction | None) -> Any:
    return mp.inf if ratio is None else mp.log(real(ratio))


def infinite(value: Fraction | None) -> Any:
    return mp.inf if value is None else value


def factor(notion: Notion) -> Any:
    """Return e^epsilon of a notion with a delta."""
    limit = notion.delta_limit()
    assert limit is not None
    assert limit.epsilon.epsilon is not None
    return mp.exp(real(limit.epsilon.epsilon))


def log_ratio(top: Fraction, bottom: Fraction) -> Any:
    assert top
    return mp.log(real(top) / real(bottom)) if bottom else mp.inf


@dataclass(frozen=True)
class Replay:
    """What a witness attains, by nothing but P(s) and P(y | s)."""

    notion: Notion
    witness: Witness
    masses: dict[str, Fraction]
    given: dict[str, Row]

    @classmethod
    def of(cls, notion: Notion, case: Case, witness: Witness) -> Replay:
        if case.joint is None:
            names = strategies.inputs_of(len(case.rows))
            masses, given = dict(zip(names, case.prior, strict=True)), case.rows
        else:
            sums = [sum(row, Fraction(0)) for row in case.joint]
            pairs = zip(strategies.secrets_of(len(sums)), sums, strict=True)
            masses, given = {name: mass for name, mass in pairs if mass}, case.given
        return cls(notion, witness, masses, dict(zip(masses, given, strict=True)))

    def likelihood(self, secret: Any, output: Any) -> Fraction:
        return self.given[secret][int(output[1:])]

    def marginal(self, output: Any) -> Fraction:
        return sum((p * self.likelihood(s, output) for s, p in self.masses.items()), Fraction(0))

    def lift(self) -> tuple[Fraction, Fraction]:
        """Return the lift as two numbers: the second is 0 where it grows without limit."""
        w = self.witness
        return self.likelihood(w.secret, w.output), self.marginal(w.output)

    def sums(self, secret: Any) -> tuple[Fraction, Fraction]:
        """Return P(Y in the outputs | secret) and P(Y in the outputs)."""
        outputs = self.witness.outputs or ()
        return (
            sum((self.likelihood(secret, y) for y in outputs), Fraction(0)),
            sum((self.marginal(y) for y in outputs), Fraction(0)),
        )

    def posterior(self) -> Fraction:
        secrets: Any = self.witness.secrets or ()
        y = self.witness.output
        top = sum((self.masses[s] * self.likelihood(s, y) for s in secrets), Fraction(0))
        return top / self.marginal(y)

    def mean(self, of: Callable[[Fraction], Any], *, inverse: bool = False) -> Any:
        """Return the mean over the prior of a function of the lifts (of 1/lift) at the output."""
        y = self.witness.output
        lifts = [(p, self.likelihood(s, y) / self.marginal(y)) for s, p in self.masses.items() if p]
        if inverse and any(lift == 0 for _, lift in lifts):
            return mp.inf
        return sum((p * of(1 / lift if inverse else lift) for p, lift in lifts), Fraction(0))


def lift_attained(at: Replay) -> Any:
    """Return the lift of a witness."""
    top, bottom = at.lift()
    return top / bottom if bottom else mp.inf


def encloses(value: Enclosure, truth: Any) -> bool:
    if truth == mp.inf or value.upper is None:
        return truth == mp.inf and value.upper is None
    if isinstance(truth, Fraction):
        return value.lower <= truth <= value.upper
    hair = mp.mpf(10) ** -60  # of the 80 digits that the truth was computed with
    return bool(real(value.lower) - hair <= truth <= real(value.upper) + hair)


Truths: TypeAlias = dict[str, Callable[[Case, Notion], dict[str, Any]]]
Attained: TypeAlias = dict[str, dict[str, Callable[[Replay], Any]]]


def gathered(name: str) -> dict[str, Any]:
    """Return what the tests of all pages say under a name, by guarantee."""
    found: dict[str, Any] = {}
    for notion in NOTIONS.values():
        for page in dict.fromkeys(kind.page for kind in notion.kinds()):
            found |= getattr(importlib.import_module(_test_of(notion, page)), name, {})
    return found


def _test_of(notion: type[Notion], page: str) -> str:
    """Return the module that tests a page; that of a plug-in is on the path, by itself."""
    own = notion.__module__.startswith("liftlock.")
    return f"tests.unit.notions.test_{page}" if own else f"test_{page}"
