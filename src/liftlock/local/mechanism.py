"""A mechanism for users who have a prior each, and so each a mechanism of their own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from liftlock.alphabet import Alphabet
from liftlock.errors import FileError, InputError
from liftlock.estimate.aggregate import numbers_each
from liftlock.estimate.expected import ExpectedError
from liftlock.estimate.question import Question, ask
from liftlock.estimate.result import Estimate
from liftlock.exact.encoding import fingerprint, integer_to_json
from liftlock.exact.numbers import exact
from liftlock.forms.arc_law import ArcLaw
from liftlock.forms.safe_law import SafeLaw
from liftlock.local.aggregate import Gathering, LocalAggregate
from liftlock.local.audit import LocalAudit, audit_users
from liftlock.local.estimating import estimate_from, expected_error, plain
from liftlock.local.methods import METHODS, Method, MethodKey, make_method
from liftlock.local.priors import LocalPriors
from liftlock.notions.base import Notion
from liftlock.notions.registry import make_notion
from liftlock.sampling.bits import OperatingSystemBits, RandomBits, SimulationBits
from liftlock.sampling.own_priors import Blocks, checked_people, counted_blocks
from liftlock.storage import Stored

if TYPE_CHECKING:
    from typing import SupportsIndex


@dataclass(frozen=True, init=False)
class LocalMechanism(Stored):
    """One law for all users, each of whom is protected under a prior of their own.

    ``arc`` suits any prior and reports a number of 32 bits. ``safe-response`` reports a value; for
    lip it is optimal for users whose rarest value has probability 1/(1 + e^epsilon) or more.

    Source: 001 section III.A, Prop. 2.

    >>> from liftlock.notions.lip import LIP
    >>> mechanism = LocalMechanism(["no", "yes"], LIP("1"), "safe-response")
    >>> priors = LocalPriors.of(["no", "yes"], np.array([[0.6, 0.4], [0.3, 0.7]]))
    >>> set(mechanism.release(["yes", "no"], priors)) <= {"no", "yes"}
    True
    >>> print(mechanism.audit(priors))
    CERTIFIED: lip(epsilon=1) for each of 2 users, each under a prior of their own
      holds: max-lift 2.474947972 <= 2.718281828 at secret "no", output "no", user 2
      ...
    """

    FORMAT: ClassVar[str] = "liftlock.local-mechanism"
    VERSION: ClassVar[int] = 1

    alphabet: Alphabet
    notion: Notion
    method: MethodKey

    def __init__(
        self, labels: Iterable[Any] | Alphabet, notion: Notion, method: MethodKey = "arc"
    ) -> None:
        alphabet = labels if isinstance(labels, Alphabet) else Alphabet.of(labels)
        object.__setattr__(self, "alphabet", alphabet)
        object.__setattr__(self, "notion", notion)
        object.__setattr__(self, "method", method)
        self.way  # noqa: B018 - refuses a method or a notion that it does not know

    @cached_property
    def way(self) -> Method:
        """The method at work: how users report, and what their reports say."""
        return make_method(self.method, self.notion)

    @property
    def law(self) -> ArcLaw | SafeLaw:
        """The integers of the mechanism, the same for all users."""
        return self.way.law

    @property
    def guarantee(self) -> str:
        """The guarantee in short, e.g. ``lip(epsilon=1)``."""
        budgets = ", ".join(f"{name}={value}" for name, value in self.notion.budgets.items())
        return f"{self.notion.name}({budgets})"

    @cached_property
    def fingerprint(self) -> str:
        """The sha256 of the canonical form; equal mechanisms have equal fingerprints."""
        return fingerprint(
            ["local-mechanism", self.alphabet.to_data(), self.guarantee, self.method]
            + [[name, str(value)] for name, value in self.way.limits.items()]
        )

    def __str__(self) -> str:
        law = self.law
        return (
            f"{self.method} on {len(self.alphabet)} symbols, a prior for each user\n"
            f"{self.guarantee} for every user under every prior: each lift is between "
            f"{float(law.smallest):.10g} and {float(law.largest):.10g}; a value of probability 0 "
            "is refused"
        )

    def __repr__(self) -> str:
        return f"<LocalMechanism {self.guarantee}: {self.method}, {len(self.alphabet)} symbols>"

    # --- releasing ------------------------------------------------------------------------------

    def release(
        self, values: Sequence[Any] | npt.NDArray[Any], priors: LocalPriors, *, coded: bool = False
    ) -> list[Any] | npt.NDArray[Any]:
        """Randomise one value for each user with the operating system's entropy. Ask once.

        Reports of ``arc`` are an array of numbers of 32 bits; those of ``safe-response`` are
        values, an array for an array, else a list. With `coded`, values and reports are positions
        among the labels.
        """
        return self._drawn(values, priors, OperatingSystemBits(), coded)

    def simulate(
        self,
        values: Sequence[Any] | npt.NDArray[Any],
        priors: LocalPriors,
        *,
        seed: SupportsIndex | str,
        coded: bool = False,
    ) -> list[Any] | npt.NDArray[Any]:
        """Randomise values reproducibly, for experiments only: never for real people's data."""
        return self._drawn(values, priors, SimulationBits(seed), coded)

    def _drawn(
        self,
        values: Sequence[Any] | npt.NDArray[Any],
        priors: LocalPriors,
        bits: RandomBits,
        coded: bool,
    ) -> list[Any] | npt.NDArray[Any]:
        own = self._own(priors)
        codes = np.asarray(values) if coded else self._encoded(values)
        symbols = len(self.alphabet)
        people = checked_people(codes, own.users, symbols)
        reports = self.way.draw(_counted(own), people, symbols, bits)
        if coded or self.method == "arc":
            return reports
        named = self.alphabet.decode(reports)
        return named if isinstance(values, np.ndarray) else named.tolist()

    def _own(self, priors: LocalPriors) -> LocalPriors:
        if not isinstance(priors, LocalPriors):
            raise InputError(
                f"priors of type {type(priors).__name__}", remedy="make LocalPriors of them"
            )
        return priors.ordered(self.alphabet)

    def _encoded(self, values: Sequence[Any] | npt.NDArray[Any]) -> npt.NDArray[Any]:
        if isinstance(values, str | bytes):
            raise InputError(
                "one text instead of a column of values", value=values, remedy="put it in a list"
            )
        return self.alphabet.encode(values if isinstance(values, np.ndarray) else list(values))

    # --- what is promised -----------------------------------------------------------------------

    def audit(self, priors: LocalPriors) -> LocalAudit:
        """Find the exact largest and smallest lift of all users, and who has them."""
        own = self._own(priors)
        limits = self.notion.lift_limits()
        assert limits is not None
        lower, upper = limits
        assert lower is not None
        assert upper is not None
        return audit_users(self.way, own, self.guarantee, lower, upper)

    # --- estimating -----------------------------------------------------------------------------

    def aggregate(
        self,
        reports: Sequence[Any] | npt.NDArray[Any],
        priors: LocalPriors,
        of: str = "histogram",
        *,
        value: Any = None,
        weights: npt.ArrayLike | None = None,
        offsets: npt.ArrayLike | None = None,
        coded: bool = False,
    ) -> LocalAggregate:
        """Add up what reports say, for `estimate`; aggregates of parts may be merged with ``+``.

        `of` and `value` name the question, `weights` and `offsets` are the a_i and b_i of the
        weighted sum of a_i f(X_i) + b_i. Priors and numbers are in the order of the reports.
        """
        return self._aggregate(
            ask(self.alphabet, of, value), reports, priors, weights, offsets, coded
        )

    def _aggregate(
        self,
        question: Question,
        reports: Sequence[Any] | npt.NDArray[Any],
        priors: LocalPriors,
        weights: npt.ArrayLike | None,
        offsets: npt.ArrayLike | None,
        coded: bool,
    ) -> LocalAggregate:
        own = self._own(priors)
        column = reports if isinstance(reports, np.ndarray) else list(reports)
        given = len(column)
        if given == 0:
            raise InputError("no reports", remedy="give at least one; nothing was counted")
        codes = np.asarray(column) if coded or self.method == "arc" else self._encoded(column)
        checked = self.way.read(codes, own.users, len(self.alphabet))
        amounts = numbers_each(weights, given, "weight", of="user")
        shifts = numbers_each(offsets, given, "offset", of="user")
        simple = plain(question) and amounts is None and shifts is None
        gathering = Gathering(
            self.fingerprint,
            self.way,
            len(self.alphabet),
            not simple,
            None if question.of == "histogram" else np.ascontiguousarray(question.values.T),
        )
        return gathering.gathered(own.blocks(), checked, amounts, shifts)

    def estimate(
        self,
        reports: LocalAggregate | Sequence[Any] | npt.NDArray[Any],
        priors: LocalPriors | None = None,
        of: str = "histogram",
        *,
        value: Any = None,
        weights: npt.ArrayLike | None = None,
        offsets: npt.ArrayLike | None = None,
        level: object = "0.95",
        coded: bool = False,
    ) -> Estimate:
        """Estimate from reports and the priors of their users, or from an aggregate of them.

        The sum of posterior means has the least squared error, and the squared errors of users add
        up. `of` is ``histogram``, ``survey`` (how many have `value`, or one of a list of values),
        ``sum`` or ``mean``.

        Source: 001 Prop. 2, eq. (14).
        """
        question = ask(self.alphabet, of, value)
        if isinstance(reports, LocalAggregate):
            if priors is not None or weights is not None or offsets is not None:
                raise InputError(
                    "priors or weights for an aggregate, which has its own",
                    remedy="give them to aggregate(...)",
                )
            found = reports
        elif priors is None:
            raise InputError("reports without priors", remedy="give the priors of their users")
        else:
            found = self._aggregate(question, reports, priors, weights, offsets, coded)
        if found.mechanism != self.fingerprint:
            raise InputError(
                "the reports come from another mechanism",
                value=f"{found.mechanism[:16]} instead of {self.fingerprint[:16]}",
                remedy="use the mechanism that released them",
            )
        return estimate_from(found, question, level)

    def expected_error(
        self,
        priors: LocalPriors,
        of: str = "histogram",
        *,
        value: Any = None,
        level: object = "0.95",
    ) -> ExpectedError:
        """Return the error that an estimate will have, before anybody is asked, in closed form."""
        question = ask(self.alphabet, of, value)
        return expected_error(self.way, self._own(priors), question, level)

    # --- files ----------------------------------------------------------------------------------

    def content(self) -> dict[str, Any]:
        """Return the JSON form without format and version."""
        return {
            "labels": self.alphabet.to_data(),
            "notion": self.notion.name,
            "budgets": dict(self.notion.budgets),
            "method": self.method,
            "law": {name: integer_to_json(value) for name, value in self.way.limits.items()},
            "fingerprint": self.fingerprint,
        }

    @classmethod
    def from_content(cls, data: dict[str, Any]) -> LocalMechanism:
        """Read the content, and derive its law again; a stored one is not believed."""
        alphabet = Alphabet.from_data(data.get("labels"))
        notion = make_notion(str(data["notion"]), data["budgets"])
        method = data["method"]
        stored = {str(name): int(exact(value)) for name, value in data["law"].items()}
        limits = notion.lift_limits()
        if method not in METHODS or limits is None or None in limits:
            raise FileError("a mechanism of an unknown kind", value=(method, str(notion)))
        made = cls(alphabet, notion, method)
        if stored != made.way.limits or data.get("fingerprint") != made.fingerprint:
            raise FileError(
                "the law is not the one of the notion",
                value=stored,
                remedy="the file was changed after it was written; make it again",
            )
        return made


def _counted(priors: LocalPriors) -> Blocks:
    for first, rows in priors.blocks():
        yield from counted_blocks(rows, first)
