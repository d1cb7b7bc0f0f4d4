"""The exact audit of users with priors of their own: the largest and the smallest lift of anybody.

For both mechanisms the extreme lifts of a user are those of her rarest possible value, with p of
2^32 points. Let V(c) add up the c largest weights of the window of the arc mechanism; then

    arc:            largest V(p) / (2^30 p),         smallest (2^62 - V(2^32 - p)) / (2^30 p),
    safe response:  largest 1 - t + t 2^32 / p,      smallest 1 - t,    t = T / 2^32,

the arc's largest falling and its smallest rising with p, since means of the largest weights do.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from liftlock.alphabet import Alphabet
from liftlock.errors import InputError
from liftlock.exact.budget import Budget
from liftlock.exact.enclosure import Enclosure
from liftlock.local.methods import Arc, Method, SafeResponse
from liftlock.local.priors import LocalPriors
from liftlock.notions.certificate import Claim
from liftlock.notions.lift import Extreme, LiftRange
from liftlock.notions.lip import lift_claims
from liftlock.notions.reading import Witness
from liftlock.sampling.own_priors import POINTS, Counts, counted_blocks


@dataclass(frozen=True)
class LocalAudit:
    """The verdict on all users: two inequalities, each with the user who comes closest to it."""

    guarantee: str
    users: int
    claims: tuple[Claim, ...]
    nats: dict[str, Enclosure]
    largest: Fraction
    smallest: Fraction
    largest_user: int
    """The user with the largest lift, counted from 1; and the one with the smallest."""
    smallest_user: int
    excluding: int
    """Users whose priors call some value impossible; it has no guarantee, and is refused."""

    @property
    def holds(self) -> bool:
        """Whether the guarantee holds for every user."""
        return all(claim.holds for claim in self.claims)

    def __str__(self) -> str:
        verdict = "CERTIFIED" if self.holds else "NOT CERTIFIED"
        who = f"each of {self.users:,} users, each under a prior of their own"
        lines = [f"{verdict}: {self.guarantee} for {who}"]
        users = (self.largest_user, self.smallest_user)
        lines += [
            f"  {claim}, user {user:,}" for claim, user in zip(self.claims, users, strict=True)
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
            "claims": [
                claim.to_data() | {"user": user}
                for claim, user in zip(
                    self.claims, (self.largest_user, self.smallest_user), strict=True
                )
            ],
            "excluding": self.excluding,
        }


@dataclass(frozen=True)
class _Found:
    """An extreme lift, the user who has it (from 0), and where."""

    lift: Fraction
    user: int
    witness: Witness


def audit_users(
    method: Method,
    priors: LocalPriors,
    guarantee: str,
    lower: Budget,
    upper: Budget,
) -> LocalAudit:
    """Find the extreme lifts of all users, exactly, and compare them with the budgets."""
    if not priors.users:
        raise InputError("no users to audit", remedy="give at least one prior")
    largest: _Found | None = None
    smallest: _Found | None = None
    excluding = 0
    for first, rows in priors.blocks():
        for start, counts in counted_blocks(rows, first):
            excluding += int((counts == 0).any(axis=1).sum())
            if isinstance(method, Arc):
                top, bottom = _of_arc(method, priors.alphabet, start, counts)
            else:
                top, bottom = _of_safe(method, priors.alphabet, start, counts)
            if largest is None or top.lift > largest.lift:
                largest = top
            if smallest is None or bottom.lift < smallest.lift:
                smallest = bottom
    assert largest is not None
    assert smallest is not None
    found = LiftRange(
        Extreme(largest.lift, largest.witness), Extreme(smallest.lift, smallest.witness)
    )
    claims, nats = lift_claims(found, lower, upper)
    return LocalAudit(
        guarantee,
        priors.users,
        tuple(claims),
        nats,
        largest.lift,
        smallest.lift,
        largest.user + 1,
        smallest.user + 1,
        excluding,
    )


def _of_arc(method: Arc, alphabet: Alphabet, first: int, counts: Counts) -> tuple[_Found, _Found]:
    """The rarest value of the block has both: its arc begins, or ends, where the window begins."""
    law = method.law
    masked = np.where(counts > 0, counts, POINTS + 1)
    user, symbol = (int(place) for place in np.unravel_index(masked.argmin(), masked.shape))
    length, begin = int(counts[user, symbol]), int(counts[user, :symbol].sum())
    label = alphabet.labels[symbol]
    found = []
    for start in (begin, (begin + length) % POINTS):
        lift = law.lift(begin, length, start)
        found.append(_Found(lift, first + user, Witness(label, start)))
    return found[0], found[1]


def _of_safe(
    method: SafeResponse, alphabet: Alphabet, first: int, counts: Counts
) -> tuple[_Found, _Found]:
    """The largest lift by exact comparison of T (2^32 - p) / p; the smallest has the largest T."""
    least = np.where(counts > 0, counts, POINTS).min(axis=1)
    keeps = np.where(least < POINTS, method.keeps(counts), 0)
    above = keeps.astype(np.uint64) * (POINTS - least).astype(np.uint64)
    quotients = above // least.astype(np.uint64)
    # Those with the largest whole part are compared as fractions.
    best = np.flatnonzero(quotients == quotients.max()).tolist()
    user = max(best, key=lambda i: (Fraction(int(above[i]), int(least[i])), -i))
    symbol = int(np.argmax(counts[user] == least[user]))
    label = alphabet.labels[symbol]
    lift = 1 + Fraction(int(above[user]), int(least[user]) * POINTS)
    top = _Found(lift, first + user, Witness(label, label))
    user = int(np.argmax(keeps))
    symbol = int(np.argmax(counts[user] == least[user]))
    other = int(np.argmax(np.where(np.arange(counts.shape[1]) == symbol, 0, counts[user])))
    kept = 1 - Fraction(int(keeps[user]), POINTS)
    witness = Witness(alphabet.labels[other], alphabet.labels[symbol])
    return top, _Found(kept, first + user, witness)
