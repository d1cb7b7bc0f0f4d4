"""The exact audit of users with a prior each: who comes closest to the guarantee, and where."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from typing import Any

from liftlock.errors import NotDefined
from liftlock.exact.enclosure import Enclosure
from liftlock.forms import AnyChannel, UserChannel
from liftlock.forms.user_channel import budget_text
from liftlock.notions.alip import lift_claims, lower_reading, upper_reading
from liftlock.notions.bounded_prior import LiftRange
from liftlock.notions.certificate import Claim
from liftlock.notions.notion import Notion
from liftlock.notions.user_lifts import UserLifts, user_lifts
from liftlock.per_user import Limits, PerUserPriors



@dataclass(frozen=True)
class UserClaim:
    """An inequality, and the user who comes closest to it, counted from 1."""

    claim: Claim
    user: int

    def __str__(self) -> str:
        return f"{self.claim}, user {self.user:,}"

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        return self.claim.to_data() | {"user": self.user}


@dataclass(frozen=True)
class UserAudit:
    """The verdict on all users: inequalities, each with the user who comes closest to it."""

    guarantee: str
    """What was claimed; empty if nothing was, and lifts were only measured."""
    users: int
    user_claims: tuple[UserClaim, ...]
    """For each budget how far beliefs rise and how far they fall."""
    nats: dict[str, Enclosure]
    lifts: UserLifts
    """The largest lift of anybody, and the smallest."""
    kind: str = "a prior"
    """What each user has: a prior, or a set of priors."""

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The inequalities."""
        return tuple(each.claim for each in self.user_claims)

    @property
    def holds(self) -> bool:
        """Whether a guarantee was claimed and holds for every user."""
        return bool(self.claims) and all(claim.holds for claim in self.claims)

    @property
    def largest(self) -> Fraction:
        """The largest lift of anybody."""
        return self.lifts.largest.lift

    @property
    def smallest(self) -> Fraction:
        """The smallest lift of anybody."""
        return self.lifts.smallest.lift

    @property
    def largest_user(self) -> int:
        """The user with the largest lift, counted from 1."""
        return self.lifts.largest.user + 1

    @property
    def smallest_user(self) -> int:
        """The user with the smallest lift, counted from 1."""
        return self.lifts.smallest.user + 1

    @property
    def excluding(self) -> int:
        """Users whose priors call some value impossible; it has no guarantee, and is refused."""
        return self.lifts.excluding

    def __str__(self) -> str:
        who = f"each of {self.users:,} users, each under {self.kind} of their own"
        if self.guarantee:
            verdict = "CERTIFIED" if self.holds else "NOT CERTIFIED"
            lines = [f"{verdict}: {self.guarantee} for {who}"]
            lines += [f"  {each}" for each in self.user_claims]
        else:
            lines = [f"MEASURED: lifts of {who}"]
            lines += [
                f"  {name} {float(each.lift):.10g} at {each.witness}, user {each.user + 1:,}"
                for name, each in (("max-lift", self.lifts.largest), ("min-lift", self.lifts.smallest))
            ]
        values = ", ".join(f"{name} {value}" for name, value in self.nats.items())
        lines.append(f"  leakage in nats: {values}")
        if self.excluding:
            lines.append(
                f"  NOT protected: values of probability 0, which {self.excluding:,} users have; "
                "their release is refused"
            )
        return "\n".join(lines)

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "guarantee": self.guarantee,
            "holds": self.holds,
            "users": self.users,
            "claims": [each.to_data() for each in self.user_claims],
            "excluding": self.excluding,
        }


def audit_users(
    channel: AnyChannel, priors: PerUserPriors, notion: Notion | None = None
) -> UserAudit:
    """Find the extreme lifts of all users, exactly, and compare them with their budgets.

    The budgets are those of the notion, and those of the users where they differ.
    """
    found = user_lifts(channel, priors)
    whole = reduce(UserLifts.joined, found)
    claims: list[UserClaim] = []
    guarantee = ""
    if notion is not None:
        guarantee = notion.guarantee
        claims += _claims(whole, _both_limits(notion, priors))
    if isinstance(channel, UserChannel) and (notion is None or len(channel.limits) > 1):
        for each in found:
            limits = channel.limits[each.level]
            claims += _claims(each, limits, f" of {each.users:,} users with {budget_text(limits)}")
        guarantee = guarantee or f"budgets {', '.join(map(budget_text, channel.limits))}"
    nats = {
        "eps_lower": lower_reading(_range(whole)).value,
        "eps_upper": upper_reading(_range(whole)).value,
    }
    kind = "a set of priors" if priors.are_sets else "a prior"
    return UserAudit(guarantee, priors.users, tuple(claims), nats, whole, kind)


def _both_limits(notion: Notion, priors: PerUserPriors) -> Limits:
    limits = notion.lift_limits()
    if limits is None or limits.lower is None or limits.upper is None:
        raise NotDefined(
            notion.name, priors.describe(), "ask for lip or alip, which limit lifts both ways"
        )
    return limits.lower, limits.upper


def _range(found: UserLifts) -> LiftRange:
    return LiftRange(found.largest.extreme, found.smallest.extreme)


def _claims(found: UserLifts, limits: Limits, whose: str = "") -> list[UserClaim]:
    """Compare the extreme lifts of some users with their budgets."""
    claims, _ = lift_claims(_range(found), *limits)
    users = (found.largest.user + 1, found.smallest.user + 1)
    return [
        UserClaim(replace(claim, quantity=f"{claim.quantity}{whose}"), user)
        for claim, user in zip(claims, users, strict=True)
    ]
