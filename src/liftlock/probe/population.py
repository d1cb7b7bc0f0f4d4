"""Whom the audit speaks of: the symbols to be protected, their prior, and how to draw from them."""

from __future__ import annotations

import numbers
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from liftlock.errors import CountError, InputError, LabelError
from liftlock.exact.numbers import exact
from liftlock.probe.result import SIDES, Claims, Side

if TYPE_CHECKING:
    from liftlock.exact.integers import Floats

_SUM_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Population:
    """The symbols to be protected, their prior (if known), and the inputs behind each of them.

    Without a secret the symbols are the inputs. With a joint of a secret S and an input X the
    symbols are the secrets, and ``given`` holds the rows P(x given s).
    """

    symbols: tuple[Hashable, ...]
    prior: Floats | None
    inputs: tuple[Hashable, ...]
    given: Floats | None = None

    @classmethod
    def of(cls, inputs: Sequence[Hashable] | None, prior: object) -> Population:
        """Read inputs and a prior or joint, in any of the accepted forms.

        >>> Population.of(["a", "b"], {"b": "0.3", "a": 0.7}).prior.tolist()
        [0.7, 0.3]
        """
        declared = None if inputs is None else _distinct(inputs)
        if _is_joint(prior):
            return cls._from_joint(declared, prior)
        known = _labels_of(prior)
        symbols = declared if declared is not None else known
        if symbols is None:
            raise LabelError("no inputs", remedy="list the inputs of the mechanism")
        return cls(symbols, _read_prior(prior, symbols, known), symbols)

    @classmethod
    def _from_joint(cls, declared: tuple[Hashable, ...] | None, joint: Any) -> Population:
        secrets = _distinct(joint.secrets.labels)
        columns = _distinct(joint.inputs.labels)
        order = _align(columns, columns if declared is None else declared, "joint")
        counts = np.array([[float(value) for value in row] for row in joint.counts])[:, order]
        totals = counts.sum(axis=1)
        for secret, total in zip(secrets, totals, strict=True):
            if not total > 0:
                raise CountError(
                    "a secret that never occurs",
                    where="joint",
                    value=secret,
                    remedy="drop it: nothing can be drawn for it",
                )
        inputs = columns if declared is None else declared
        return cls(secrets, totals / totals.sum(), inputs, counts / totals[:, None])

    def __len__(self) -> int:
        return len(self.symbols)

    def require_prior(self) -> Floats:
        """Return the prior, or say that lifts need one."""
        if self.prior is None:
            raise InputError(
                "no prior",
                where="a claim about lifts",
                remedy="give the prior of the inputs; only ldp works without",
            )
        return self.prior

    def crowd(self, symbol: int, against: int | None) -> Floats:
        """Return the weights of what a symbol is compared with: one other, or (None) all others.

        Lifts are measured against the prior given that it is *not* this symbol. With
        R = q(E given x) / q(E given not x), lift = 1 / (P(x) + (1 - P(x)) / R), so x need not be
        drawn again as a part of the crowd it is compared with.
        """
        if against is not None:
            weights = np.zeros(len(self))
            weights[against] = 1.0
            return weights
        weights = self.require_prior().copy()
        weights[symbol] = 0.0
        weights /= weights.sum()
        return weights

    @property
    def impossible(self) -> tuple[Hashable, ...]:
        """The symbols of prior probability 0, which no statement about lifts protects."""
        if self.prior is None:
            return ()
        return tuple(s for s, p in zip(self.symbols, self.prior, strict=True) if p == 0)

    def draw_inputs(
        self, symbols: npt.NDArray[np.int64], generator: np.random.Generator
    ) -> npt.NDArray[np.int64]:
        """Return an input code for every symbol code: itself, or a draw of x given s."""
        if self.given is None:
            return symbols
        # Row s of the table covers (s, s + 1], so that one search serves all rows at once.
        steps = np.cumsum(self.given, axis=1)
        width = steps.shape[1]
        last = width - 1 - np.argmax(self.given[:, ::-1] > 0, axis=1)
        table = (steps / steps[:, -1:] + np.arange(len(steps))[:, None]).ravel()
        found = np.searchsorted(table, symbols + generator.random(len(symbols)), side="right")
        codes: npt.NDArray[np.int64] = np.clip(found - symbols * width, 0, last[symbols])
        return codes


def _is_joint(prior: object) -> bool:
    if not (hasattr(prior, "secrets") and hasattr(prior, "inputs") and hasattr(prior, "counts")):
        return False
    counts = prior.counts
    return bool(len(counts)) and not isinstance(counts[0], numbers.Number)


def _labels_of(prior: object) -> tuple[Hashable, ...] | None:
    if isinstance(prior, Mapping):
        return _distinct(list(prior))
    labels = getattr(prior, "labels", None)
    if labels is None:
        labels = getattr(getattr(prior, "alphabet", None), "labels", None)
    return None if labels is None else _distinct(labels)


def _read_prior(
    prior: object, symbols: tuple[Hashable, ...], known: tuple[Hashable, ...] | None
) -> Floats | None:
    if prior is None:
        return None
    values = _values(prior)
    if known is not None:
        if len(values) != len(known):
            raise CountError(f"{len(values)} probabilities for {len(known)} labels", where="prior")
        values = [values[i] for i in _align(known, symbols, "prior")]
    elif len(values) != len(symbols):
        raise CountError(
            f"{len(values)} probabilities for {len(symbols)} inputs",
            where="prior",
            remedy="give one probability per input",
        )
    floats = np.array([_probability(v, s) for v, s in zip(values, symbols, strict=True)])
    total = float(floats.sum())
    if not abs(total - 1) <= _SUM_TOLERANCE:
        raise CountError(
            "probabilities do not sum to 1",
            where="prior",
            value=f"{total:.12g}",
            remedy="correct them, or divide them by their sum",
        )
    return floats / total


def _values(prior: object) -> list[Any]:
    if isinstance(prior, Mapping):
        return list(prior.values())
    for name in ("floats", "probabilities"):
        method = getattr(prior, name, None)
        if callable(method):
            return list(method())
    if isinstance(prior, Sequence | np.ndarray) and not isinstance(prior, str):
        return list(prior)
    raise CountError(
        f"a prior of type {type(prior).__name__}",
        value=prior,
        remedy="give a Prior, a mapping from input to probability, or one probability per input",
    )


def _probability(value: Any, symbol: Hashable) -> float:
    name = f"probability of {symbol!r}"
    number = float(value) if isinstance(value, float) else float(exact(value, name=name))
    if not 0 <= number <= 1:
        raise CountError(
            f"{name} outside 0 to 1", where="prior", value=value, remedy="correct the prior"
        )
    return number


def _align(known: tuple[Hashable, ...], wanted: tuple[Hashable, ...], whose: str) -> list[int]:
    position = {label: i for i, label in enumerate(known)}
    for label in wanted:
        if label not in position:
            raise LabelError(
                f"an input without a probability in the {whose}",
                value=label,
                remedy=f"add it to the {whose}, with probability 0 if it never occurs",
            )
    asked = set(wanted)
    for label in known:
        if label not in asked:
            raise LabelError(
                f"a label of the {whose} is not an input",
                value=label,
                remedy="list it among the inputs",
            )
    return [position[label] for label in wanted]


def _distinct(labels: Any) -> tuple[Hashable, ...]:
    names = tuple(labels.tolist() if isinstance(labels, np.ndarray) else labels)
    if not names:
        raise LabelError("no inputs", remedy="list the inputs of the mechanism")
    seen: set[Hashable] = set()
    for position, name in enumerate(names):
        try:
            repeated = name in seen
        except TypeError:
            raise LabelError(
                "an input that cannot be compared",
                where=f"position {position + 1}",
                value=name,
                remedy="use numbers, text or tuples",
            ) from None
        if repeated:
            raise LabelError(
                "input given twice",
                where=f"position {position + 1}",
                value=name,
                remedy="inputs must be different from one another",
            )
        seen.add(name)
    return names


def sides_to_test(claims: Claims, population: Population) -> tuple[Side, ...]:
    """Return the sides to test: those claimed, or all that the prior allows to measure."""
    sides = claims.sides
    if not sides:
        sides = SIDES if population.prior is not None else ("ldp",)
    if len(population) < 2:
        raise InputError(
            "a single input",
            value=population.symbols[0],
            remedy="give at least two: one input alone has nothing to reveal",
        )
    if any(side != "ldp" for side in sides) and int((population.require_prior() > 0).sum()) < 2:
        raise InputError(
            "a prior with a single possible input",
            where="a claim about lifts",
            remedy="every lift is 1 then; give a prior with two possible inputs or more",
        )
    return sides
