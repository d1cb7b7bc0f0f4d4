"""What is claimed of a black box, and what its audit found: bounds, and the evidence for them."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from liftlock.errors import InputError, NumberError
from liftlock.exact.budget import Budget
from liftlock.exact.numbers import exact

Side: TypeAlias = Literal["eps_upper", "eps_lower", "ldp"]

SIDES: tuple[Side, ...] = ("eps_upper", "eps_lower", "ldp")


@dataclass(frozen=True, slots=True)
class Claims:
    """The claimed limits: e^-eps_lower <= lift <= e^eps_upper, likelihood ratios <= e^ldp.

    None means that nothing is claimed of that side.

    >>> Claims.of(lip="1/2")
    Claims(eps_upper=0.5, eps_lower=0.5, ldp=None)
    >>> Claims.of(ldp="ln 3").ldp == math.log(3)
    True
    """

    eps_upper: float | None = None
    eps_lower: float | None = None
    ldp: float | None = None

    @classmethod
    def of(
        cls,
        *,
        lip: object = None,
        eps_lower: object = None,
        eps_upper: object = None,
        ldp: object = None,
    ) -> Claims:
        """Read the claims as they are given by a user; ``lip`` stands for both sides at once."""
        if lip is not None and (eps_lower is not None or eps_upper is not None):
            raise InputError(
                "lip claimed together with eps_lower or eps_upper",
                value=lip,
                remedy="lip=e means eps_lower=e and eps_upper=e: give one or the other",
            )
        both = _limit(lip, "lip")
        return cls(
            eps_upper=_limit(eps_upper, "eps_upper") if lip is None else both,
            eps_lower=_limit(eps_lower, "eps_lower") if lip is None else both,
            ldp=_limit(ldp, "ldp"),
        )

    def limit(self, side: Side) -> float | None:
        """Return the claim of one side."""
        value: float | None = getattr(self, side)
        return value

    @property
    def sides(self) -> tuple[Side, ...]:
        """The sides that something is claimed of."""
        return tuple(side for side in SIDES if self.limit(side) is not None)


def refuse_vacuous(
    claims: Claims, attainable: Mapping[Side, float], confidence: float, what: str, remedy: str
) -> None:
    """Refuse a test that nothing could fail: that it finds no contradiction would say nothing.

    `attainable` are the bounds that the same draws of a mechanism that reveals all would give.
    """
    if any(most > (claims.limit(side) or 0.0) for side, most in attainable.items()):
        return
    limits = [f"{side}={claims.limit(side):g}" for side in claims.sides]
    shown = f"contradict {' or '.join(limits)}" if limits else "show any leakage"
    raise InputError(
        f"{what} are too few to {shown} with confidence {100 * confidence:.6g} %",
        remedy=remedy,
    )


def read_confidence(value: object) -> float:
    """Read a confidence level strictly between 0 and 1.

    >>> read_confidence("99.9 %")
    0.999
    """
    number = float(value) if isinstance(value, float) else float(exact(value, name="confidence"))
    if not 0 < number < 1:
        raise NumberError(
            "confidence outside 0 to 1", value=value, remedy="give a number such as 0.999"
        )
    return number


def _limit(value: object, name: str) -> float | None:
    if value is None:
        return None
    # A claim may well be computed (math.log(3)), so floats are taken as they are; the bounds that
    # it is compared with are lowered by far more than the rounding of one float.
    number = float(value) if isinstance(value, float) else float(Budget.of(value, name=name))
    if not math.isfinite(number):
        raise NumberError(f"{name} is not finite", value=value, remedy="give a number of nats")
    if number < 0:
        raise NumberError(f"{name} is negative", value=value, remedy="budgets are 0 or more")
    return number


_MEANING: dict[Side, str] = {
    "eps_upper": "largest lift",
    "eps_lower": "smallest lift",
    "ldp": "largest likelihood ratio",
}
_SHOWN_OUTPUTS = 5

SLACK = 1e-9
"""Nats taken off every bound: far more than the rounding errors of the floats involved."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The evidence on one side: an input, a set of outputs, and how often it occurred.

    ``bound`` is a lower confidence bound of the true epsilon in nats (0 says nothing),
    ``estimate`` the point estimate on the same draws. ``against`` is the other input of a
    likelihood ratio; for lifts it is None and means the rest of the prior. ``attainable`` is the
    bound that as many draws of a mechanism that reveals all would give.
    """

    side: Side
    bound: float
    estimate: float
    claim: float | None
    input: Hashable
    against: Hashable | None
    event: tuple[Hashable, ...]
    hits: int
    draws: int
    hits_against: int
    draws_against: int
    method: Literal["share", "bounds"]
    attainable: float = math.inf

    @property
    def vacuous(self) -> bool:
        """Whether not even a mechanism that reveals all would be contradicted by such draws."""
        return self.attainable <= (0.0 if self.claim is None else self.claim)

    @property
    def contradicted(self) -> bool:
        """Whether the bound lies above the claim."""
        return self.claim is not None and self.bound > self.claim

    def __str__(self) -> str:
        against = f"input {self.against!r}" if self.side == "ldp" else "the other inputs"
        verdict = ": contradicted" if self.contradicted else ""
        claimed = "" if self.claim is None else f" (claimed: at most {self.claim:.6g}{verdict})"
        if self.vacuous:
            shown = f"{self.side}: too few draws to contradict it, whatever came out{claimed}"
        elif self.bound == 0:
            shown = f"{self.side}: nothing above 0 is shown{claimed}"
        else:
            shown = (
                f"{self.side} is at least {self.bound:.6g}{claimed}, the {_MEANING[self.side]} "
                f"being {_direction(self)} {_factor(self):.6g}"
            )
        return (
            f"{shown}; estimate {self.estimate:.6g}. "
            f"Witness: output in {_outputs(self.event)} came "
            f"{self.hits:,} times in {self.draws:,} draws with input {self.input!r} and "
            f"{self.hits_against:,} times in {self.draws_against:,} draws with {against}."
        )


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """Lower confidence bounds of what a black box leaks, and whether they contradict a claim.

    All bounds hold together with probability at least ``confidence``. A bound of 0 says nothing.
    ``unseen`` are inputs of positive prior probability that were never tried, ``impossible`` are
    inputs of prior probability 0, whose lifts nothing is said about.
    """

    findings: tuple[Finding, ...]
    claims: Claims
    confidence: float
    samples: int
    outputs: int
    seed: int
    unseen: tuple[Hashable, ...] = ()
    impossible: tuple[Hashable, ...] = ()

    @property
    def eps_upper(self) -> float:
        """A lower bound of the logarithm of the largest lift."""
        return self._bound("eps_upper")

    @property
    def eps_lower(self) -> float:
        """A lower bound of minus the logarithm of the smallest lift."""
        return self._bound("eps_lower")

    @property
    def lip(self) -> float:
        """A lower bound of the local information privacy budget: the larger of the two sides."""
        return max(self.eps_upper, self.eps_lower)

    @property
    def ldp(self) -> float:
        """A lower bound of the local differential privacy budget.

        A lift is an average of likelihood ratios, so each side of the lift bounds it as well.
        """
        return max(self._bound("ldp"), self.lip)

    @property
    def contradicted(self) -> bool:
        """Whether any claim is contradicted at this confidence."""
        return any(finding.contradicted for finding in self.findings)

    @property
    def witness(self) -> Finding:
        """The finding that exceeds its claim most, or comes nearest to it."""
        return max(self.findings, key=lambda f: f.bound - (0.0 if f.claim is None else f.claim))

    def finding(self, side: Side) -> Finding | None:
        """Return the evidence on one side, or None if that side was not tested."""
        return next((finding for finding in self.findings if finding.side == side), None)

    def _bound(self, side: Side) -> float:
        finding = self.finding(side)
        return 0.0 if finding is None else finding.bound

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form: labels as text where they are not plain, infinity as "inf"."""
        return {
            "contradicted": self.contradicted,
            "confidence": self.confidence,
            "samples": self.samples,
            "outputs": self.outputs,
            "seed": str(self.seed),
            "bounds": {
                "eps_upper": self.eps_upper,
                "eps_lower": self.eps_lower,
                "lip": self.lip,
                "ldp": self.ldp,
            },
            "claims": {side: self.claims.limit(side) for side in self.claims.sides},
            "findings": [
                {
                    "side": finding.side,
                    "bound": finding.bound,
                    "estimate": finding.estimate if math.isfinite(finding.estimate) else "inf",
                    "claim": finding.claim,
                    "contradicted": finding.contradicted,
                    "input": _plain(finding.input),
                    "against": _plain(finding.against) if finding.side == "ldp" else None,
                    "event": [_plain(output) for output in finding.event],
                    "hits": finding.hits,
                    "draws": finding.draws,
                    "hits_against": finding.hits_against,
                    "draws_against": finding.draws_against,
                    "method": finding.method,
                    "vacuous": finding.vacuous,
                }
                for finding in self.findings
            ],
            "unseen": [_plain(label) for label in self.unseen],
            "impossible": [_plain(label) for label in self.impossible],
        }

    def __str__(self) -> str:
        level = f"confidence {100 * self.confidence:.6g} %"
        if self.contradicted:
            head = f"The claim is contradicted ({level}, {self.samples:,} samples)."
        elif self.claims.sides:
            head = (
                f"No contradiction found ({level}, {self.samples:,} samples). This does not show "
                "that the claim is true: rarer events, or more samples, may still break it."
            )
        else:
            head = f"Lower bounds of the leakage ({level}, {self.samples:,} samples)."
        paragraphs = [head, *(f"- {finding}" for finding in self.findings)]
        if self.unseen:
            paragraphs.append(f"Never tried, so nothing is known of: {_outputs(self.unseen)}.")
        if self.impossible:
            paragraphs.append(
                "The prior gives probability 0, and so no guarantee on lifts, to: "
                f"{_outputs(self.impossible)}."
            )
        return "\n".join(
            textwrap.fill(paragraph, 100, subsequent_indent="  " if paragraph[0] == "-" else "")
            for paragraph in paragraphs
        )


def _direction(finding: Finding) -> str:
    return "at most" if finding.side == "eps_lower" else "at least"


def _factor(finding: Finding) -> float:
    return math.exp(-finding.bound if finding.side == "eps_lower" else finding.bound)


def _outputs(labels: tuple[Hashable, ...]) -> str:
    shown = ", ".join(repr(label) for label in labels[:_SHOWN_OUTPUTS])
    more = len(labels) - _SHOWN_OUTPUTS
    return f"{{{shown}, ... {more} more}}" if more > 0 else f"{{{shown}}}"


def _plain(label: Hashable) -> Any:
    return label if isinstance(label, str | int | float | bool) else str(label)
