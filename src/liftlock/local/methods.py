"""The two mechanisms that users with priors of their own can have, behind the same few verbs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from liftlock.errors import InputError
from liftlock.exact.integers import Floats
from liftlock.forms.arc_law import ArcLaw
from liftlock.forms.safe_law import SafeLaw
from liftlock.notions.base import Notion
from liftlock.sampling.arc import arc_law, draw_windows
from liftlock.sampling.bits import RandomBits
from liftlock.sampling.own_priors import POINTS, Blocks, Counts
from liftlock.sampling.safe import (
    checked_reports,
    draw_kept,
    fill_posteriors,
    kernel_numbers,
    refuse_report,
    safe_law,
)

MethodKey = Literal["arc", "safe-response"]
METHODS: tuple[MethodKey, ...] = get_args(MethodKey)

POSTERIOR_BITS = 64
"""Posteriors are integers over 2^64, exactly."""
FINE_BITS = 42
"""Squares and variances are rounded to multiples of 2^-42, user by user."""

Sums: TypeAlias = tuple[list[int], list[int], list[int], list[int], list[int]]
"""For each symbol: posteriors over 2^64, their squares over 2^42, the masses of the priors over
2^32, and the variances of the posteriors over 2^42; and how far a posterior can be from its prior,
over 2^32."""


@dataclass(frozen=True)
class Arc:
    """The start of a window on a circle on which each symbol has an arc; see `ArcLaw`."""

    law: ArcLaw
    key: ClassVar[MethodKey] = "arc"
    rows: ClassVar[int] = 6
    """How many integers for each symbol are gathered."""

    @property
    def limits(self) -> dict[str, int]:
        """The integers of the law."""
        law = self.law
        return {"low": law.low, "high": law.high, "width": law.width, "extra": law.extra}

    def draw(
        self, blocks: Blocks, people: npt.NDArray[np.int64], symbols: int, bits: RandomBits
    ) -> npt.NDArray[Any]:
        """Return the reports of all users: numbers of 32 bits."""
        del symbols
        reports = np.empty(len(people), dtype=np.uint32)
        draw_windows(self.law, blocks, people, bits, reports)
        return reports

    def read(self, reports: npt.NDArray[Any], users: int, symbols: int) -> npt.NDArray[Any]:
        """Return a checked copy of reports: any number of 32 bits is one."""
        del symbols
        if reports.ndim != 1 or reports.dtype.kind not in "iu":
            raise InputError(
                "reports of the arc mechanism are not a column of whole numbers",
                value=f"{reports.ndim} dimensions of {reports.dtype}",
                remedy="give what release returned",
            )
        if len(reports) != users:
            raise InputError(
                f"{len(reports)} reports for {users} priors", remedy="give one prior to each report"
            )
        wrong = (reports < 0) | (reports >= POINTS)
        if wrong.any():
            place = int(np.argmax(wrong))
            raise InputError(
                "report outside the circle of 2^32 points",
                where=f"report {place + 1}",
                value=int(reports[place]),
                remedy="give what release returned; nothing was counted",
            )
        return reports.astype(np.uint32)

    def add(
        self,
        first: int,
        counts: Counts,
        reports: npt.NDArray[Any],
        totals: npt.NDArray[np.int64],
    ) -> None:
        """Add up what the reports of a block of users say."""
        from liftlock.local.kernels import arc_sums

        del first
        law = self.law
        arc_sums(
            counts, reports, float(law.low), float(law.high), float(law.width), float(law.extra),
            totals,
        )  # fmt: skip

    def sums(self, totals: npt.NDArray[np.int64]) -> Sums:
        """Turn points into sums of posteriors.

        A posterior is at most max(U - 1, 1 - L) min(P(x), 1 - P(x)) from its prior.
        """
        law = self.law
        lengths, covered, raised, squares, spread, parts = totals.tolist()
        rise = law.high - law.low
        scale = 1 << (POSTERIOR_BITS - law.law_bits)
        posterior = [
            scale * (law.low * length + rise * inside + more)
            for length, inside, more in zip(lengths, covered, raised, strict=True)
        ]
        reach = max(law.largest - 1, 1 - law.smallest)
        reaches = [min(math.ceil(reach * part), POINTS) for part in parts]
        return posterior, squares, lengths, spread, reaches

    def posteriors(
        self, first: int, counts: Counts, reports: npt.NDArray[Any], found: Floats
    ) -> None:
        """Fill in P(x | u) for a block of users."""
        from liftlock.sampling.arc_kernels import posteriors

        del first
        law = self.law
        posteriors(counts, reports, law.width, law.extra, law.low, law.high, law.unit, found)

    def explained(self, counts: Counts, columns: Floats | None) -> Floats:
        """Return Var E[f(X) | u]: (U - L)^2 times the variance of the integral over the window."""
        from liftlock.local.kernels import window_variances

        law = self.law
        rise = ((law.high - law.low) / law.unit) ** 2
        if columns is None:
            share = min(law.width, law.points - law.width) / law.points
            part = counts / law.points
            part = np.minimum(part, 1.0 - part)
            less, more = np.minimum(part, share), np.maximum(part, share)
            symbols: Floats = rise * less**2 * (more - more**2 - less / 3.0)
            return symbols
        found = np.empty((len(columns), len(counts)))
        for column, row in zip(columns, found, strict=True):
            window_variances(counts, law.width, column, row)
        return rise * found.T


@dataclass(frozen=True)
class SafeResponse:
    """The value itself with the largest safe probability, else one from the prior; `SafeLaw`."""

    law: SafeLaw
    key: ClassVar[MethodKey] = "safe-response"
    rows: ClassVar[int] = 8
    """How many integers for each symbol are gathered."""

    @property
    def limits(self) -> dict[str, int]:
        """The integers of the law."""
        return {"floor": self.law.floor, "ceiling": self.law.ceiling}

    def draw(
        self, blocks: Blocks, people: npt.NDArray[np.int64], symbols: int, bits: RandomBits
    ) -> npt.NDArray[Any]:
        """Return the reports of all users: positions of symbols."""
        reports = np.empty(len(people), dtype=np.min_scalar_type(symbols - 1))
        draw_kept(self.law, blocks, people, bits, reports)
        return reports

    def read(self, reports: npt.NDArray[Any], users: int, symbols: int) -> npt.NDArray[Any]:
        """Return a checked copy of reports: positions of symbols."""
        return checked_reports(reports, users, symbols)

    def add(
        self,
        first: int,
        counts: Counts,
        reports: npt.NDArray[Any],
        totals: npt.NDArray[np.int64],
    ) -> None:
        """Add up what the reports of a block of users say."""
        from liftlock.local.kernels import safe_sums

        wrong = safe_sums(counts, reports, *kernel_numbers(self.law), totals)
        if wrong >= 0:
            raise refuse_report(first + wrong, int(reports[wrong]))

    def sums(self, totals: npt.NDArray[np.int64]) -> Sums:
        """Put the parts of products together; a posterior is at most t from its prior."""
        lengths, first, second, third, kept, squares, spread, keeps = totals.tolist()
        posterior = [
            a + (b << 11) + (c << 22) + (own << 32)
            for a, b, c, own in zip(first, second, third, kept, strict=True)
        ]
        return posterior, squares, lengths, spread, keeps

    def posteriors(
        self, first: int, counts: Counts, reports: npt.NDArray[Any], found: Floats
    ) -> None:
        """Fill in P(x | y) for a block of users."""
        fill_posteriors(self.law, first, counts, reports, found)

    def explained(self, counts: Counts, columns: Floats | None) -> Floats:
        """Return Var E[f(X) | y] = t^2 Var f(X)."""
        part = counts / self.law.points
        kept = (self.keeps(counts) / self.law.points)[:, None] ** 2
        if columns is None:
            symbols: Floats = kept * part * (1.0 - part)
            return symbols
        return kept * prior_variances(part, columns)

    def keeps(self, counts: Counts) -> npt.NDArray[np.int64]:
        """Return T of each user of a block; see `SafeLaw.keep`."""
        law = self.law
        least = np.where(counts > 0, counts, law.points).min(axis=1)
        few = least < law.enough
        found = np.full(len(counts), law.most, dtype=np.int64)
        some = least[few].astype(np.uint64)
        found[few] = (np.uint64(law.gain) * some // (np.uint64(law.points) - some)).astype(np.int64)
        return found


Method: TypeAlias = Arc | SafeResponse
"""How a user with a prior of her own reports, and what her report says."""


def make_method(key: str, notion: Notion) -> Method:
    """Return the method of that name for a notion."""
    if key == "arc":
        return Arc(arc_law(notion))
    if key == "safe-response":
        return SafeResponse(safe_law(notion))
    raise InputError("unknown method", value=key, remedy=f"use {' or '.join(METHODS)}")


def prior_variances(masses: Floats, columns: Floats) -> Floats:
    """Return Var f(X) for each user and column."""
    means = masses @ columns.T
    found: Floats = np.einsum(
        "ix,ixt->it", masses, (columns.T[None, :, :] - means[:, None, :]) ** 2
    )
    return found
