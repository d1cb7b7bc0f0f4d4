"""A certificate: what was claimed of a channel, what the exact audit found, and where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from typing import Any, Literal

from liftlock._runtime.storage import check_format
from liftlock.exact.decimals import round_up_text
from liftlock.exact.enclosure import Enclosure
from liftlock.exact.fingerprint import fraction_text
from liftlock.model import Context
from liftlock.model.alphabet import Label, label_to_json
from liftlock.model.structured import AnyChannel
from liftlock.notions.measurement import (
    Measurement,
    Witness,
    ends_to_json,
    number_to_json,
    quote_label,
)

FORMAT = "liftlock.certificate"
VERSION = 1

_DIGITS = 6

MAKE_AGAIN = "the file was changed after it was certified; make it again with lock"


@dataclass(frozen=True)
class Claim:
    """One inequality: a measured quantity against its bound, decided exactly."""

    quantity: str
    measured: Enclosure
    relation: Literal["<=", ">="]
    bound: Enclosure
    holds: bool
    witness: Witness | None = None

    @property
    def is_broken(self) -> bool:
        """Whether the inequality fails, or is certainly false as it is written."""
        if not self.holds:
            return True
        small, large = self.measured, self.bound
        if self.relation == ">=":
            small, large = large, small
        return large.upper is not None and (small.upper is None or small.lower > large.upper)

    def __str__(self) -> str:
        sign = self.relation if self.holds else {"<=": ">", ">=": "<"}[self.relation]
        mark = "holds" if self.holds else "FAILS"
        place = f" at {self.witness}" if self.witness is not None else ""
        measured, bound = _pair(self.measured, self.bound)
        return f"{mark}: {self.quantity} {measured} {sign} {bound}{place}"

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        data: dict[str, Any] = {
            "quantity": self.quantity,
            "measured": enclosure_to_json(self.measured),
            "relation": self.relation,
            "bound": enclosure_to_json(self.bound),
            "holds": self.holds,
        }
        if self.witness is not None:
            data["witness"] = self.witness.to_data()
        return data


@dataclass(frozen=True)
class Certificate:
    """The verdict of an exact audit on one guarantee, with everything needed to check it again.

    ``claims`` are the inequalities with their exact values and witnesses, ``nats`` the leakages as
    enclosed logarithms. ``anyway`` is what was measured beside them and is not stored: the LDP that
    no prior enters; ``scope`` says of which priors all this is true, where that is not plain.
    ``unprotected`` lists inputs that the context calls impossible: the guarantee says nothing about
    them.
    """

    notion: str
    budgets: Mapping[str, str]
    claims: tuple[Claim, ...]
    nats: Mapping[str, Enclosure]
    channel: str
    context: str
    context_kind: str
    unprotected: tuple[Label, ...] = field(default=())
    anyway: Measurement | None = field(default=None, compare=False)
    scope: str = field(default="", compare=False)

    @property
    def holds(self) -> bool:
        """Whether there are inequalities, and every one holds, also as it is written."""
        return bool(self.claims) and not any(claim.is_broken for claim in self.claims)

    @property
    def guarantee(self) -> str:
        """The guarantee in short, e.g. ``alip(lower=1.3, upper=0.7)``."""
        return f"{self.notion}({', '.join(f'{k}={v}' for k, v in self.budgets.items())})"

    def refusal(self) -> str:
        """Say in one line why the guarantee does not hold."""
        broken = [claim for claim in self.claims if claim.is_broken]
        if not self.claims:
            return f"{self.guarantee} was not measured: there is no claim"
        if not broken:
            return f"{self.guarantee} holds"
        claim = broken[0]
        sign = {"<=": "above", ">=": "below"}[claim.relation]
        place = f" at {claim.witness}" if claim.witness is not None else ""
        measured, bound = _pair(claim.measured, claim.bound)
        return (
            f"{self.guarantee} does not hold: {claim.quantity} is {measured}, {sign} {bound}{place}"
        )

    def __str__(self) -> str:
        verdict = "CERTIFIED" if self.holds else "NOT CERTIFIED"
        lines = [f"{verdict}: {self.guarantee} for {self.context_kind}"]
        lines += [f"  {claim}" for claim in self.claims]
        if self.nats:
            values = ", ".join(f"{name} {nats_text(value)}" for name, value in self.nats.items())
            if self.anyway is not None:
                values += f", {self.anyway.notion} {nats_text(self.anyway.value)}"
            lines.append(f"  leakage in nats: {values}")
        if self.scope:
            lines.append(f"  {self.scope}")
        if self.unprotected:
            who = "profile" if self.notion == "profile" else "prior"
            write = _pair_text if who == "profile" else str
            shown = ", ".join(write(label) for label in self.unprotected[:5])
            more = len(self.unprotected) - 5
            shown += f" and {more} more" if more > 0 else ""
            lines.append(f"  NOT protected ({who} probability 0): {shown}")
        lines.append(f"  channel {self.channel[:16]}, context {self.context[:16]}")
        return "\n".join(lines)

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "notion": self.notion,
            "budgets": dict(self.budgets),
            "holds": self.holds,
            "claims": [claim.to_data() for claim in self.claims],
            "nats": {name: enclosure_to_json(value) for name, value in self.nats.items()},
            "channel": self.channel,
            "context": self.context,
            "context_kind": self.context_kind,
            "unprotected": [label_to_json(label) for label in self.unprotected],
        }


def make_certificate(
    notion: str,
    budgets: Mapping[str, str],
    channel: AnyChannel,
    context: Context | None,
    claims: Sequence[Claim],
    nats: Mapping[str, Enclosure],
    unprotected: tuple[Label, ...] = (),
    anyway: Measurement | None = None,
) -> Certificate:
    """Put a certificate together, with the fingerprints of what it speaks of."""
    return Certificate(
        notion,
        budgets,
        tuple(claims),
        nats,
        channel.fingerprint,
        context.fingerprint if context is not None else "",
        context.describe() if context is not None else "every prior",
        unprotected,
        anyway,
        getattr(context, "scope", ""),
    )


def enclosure_to_json(value: Enclosure) -> Any:
    """Return exact ends as text, with a float to be read; infinity is the text "inf"."""
    if value.is_infinite:
        return "inf"
    if value.is_exact:
        return {"value": number_to_json(value), "exact": fraction_text(value.lower)}
    return {"value": number_to_json(value), "between": ends_to_json(value)}


def nats_text(value: Enclosure) -> str:
    """Write a leakage in six digits, never less than it is.

    >>> from fractions import Fraction
    >>> nats_text(Enclosure.of(Fraction(2))), nats_text(Enclosure.of(Fraction("1.70474809")))
    ('2', '1.70475')
    >>> nats_text(Enclosure.of(Fraction("0.69314718")))
    '0.693148'
    """
    return "inf" if value.upper is None else round_up_text(value.upper, _DIGITS)


def check_certificate_data(data: Any) -> None:
    """Refuse a certificate of an unknown version."""
    check_format(data, FORMAT, VERSION)


def _pair_text(label: Label) -> str:
    """Write a pair (profile, value) in words."""
    assert isinstance(label, tuple)
    profile, value = map(quote_label, label)
    return f"{profile} with value {value}"


def _pair(measured: Enclosure, bound: Enclosure) -> tuple[str, str]:
    """Write two numbers with as many digits as it takes to see which is larger."""
    for digits in (10, 16, 25, 40):
        texts = _number_text(measured, digits), _number_text(bound, digits)
        if texts[0].split()[0] != texts[1].split()[0] or measured == bound:
            break
    return texts


def _number_text(value: Enclosure, digits: int) -> str:
    if value.upper is None:
        return "infinite"
    middle = (value.lower + value.upper) / 2
    # Sixty digits are cut out first: Decimal takes seconds to read an integer of a million bits.
    top, bottom = middle.numerator, middle.denominator
    exponent = (top.bit_length() - bottom.bit_length()) * 30103 // 100_000 - 60
    cut = top * 10 ** max(-exponent, 0) // (bottom * 10 ** max(exponent, 0))
    with localcontext(prec=digits):
        number = (+Decimal(cut).scaleb(exponent)).normalize()
    text = f"{number:f}" if abs(number.adjusted()) <= 40 else f"{number:e}"
    short = max(middle.numerator, middle.denominator) < 10**10 and len(str(middle)) <= 12
    if value.is_exact and middle.denominator != 1 and short:
        return f"{text} (= {middle})"
    return text
