"""Whoever a certificate names attains what it says: every witness replayed in plain fractions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import mpmath as mp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from liftlock.errors import NotDefined
from liftlock.exact.enclosure import Enclosure
from liftlock.notions import REGISTRY, Claim, Witness, make_notion
from tests import strategies
from tests.oracles import real
from tests.strategies import Case, Row

BUDGETS = {
    "epsilon": "0.2",
    "delta": "0.01",
    "budget": "0.5",
    "alpha": "2",
    "lower": "1",
    "upper": "1",
    "at_least": "0.1",
    "rho1": "0.3",
    "rho2": "0.9",
}
NAMES_NOBODY = {
    "mutual_information",
    "maximal_leakage",
    "total_variation",
    "chi2",
    "sibson",
    "arimoto",
}
"""Means over all outputs."""
NOTIONS = sorted(set(REGISTRY) - NAMES_NOBODY - {"profile"})
FACTOR = mp.exp(mp.mpf(1) / 5)


@dataclass(frozen=True)
class Replay:
    """What a witness attains, by nothing but P(s) and P(y | s)."""

    witness: Witness
    masses: dict[str, Fraction]
    given: dict[str, Row]

    @classmethod
    def of(cls, case: Case, witness: Witness) -> Replay:
        if case.joint is None:
            names = strategies.inputs_of(len(case.rows))
            return cls(
                witness,
                dict(zip(names, case.prior, strict=True)),
                dict(zip(names, case.rows, strict=True)),
            )
        masses = [sum(row, Fraction(0)) for row in case.joint]
        names = [
            name
            for name, mass in zip(strategies.secrets_of(len(masses)), masses, strict=True)
            if mass
        ]
        kept = [mass for mass in masses if mass]
        return cls(
            witness, dict(zip(names, kept, strict=True)), dict(zip(names, case.given, strict=True))
        )

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

    def mean(self, of: Callable[[Fraction], Fraction]) -> Any:
        """Return the mean over the prior of a function of the lifts at the output."""
        y = self.witness.output
        lifts = [(p, self.likelihood(s, y) / self.marginal(y)) for s, p in self.masses.items() if p]
        if of in INVERSE and any(lift == 0 for _, lift in lifts):
            return mp.inf
        return sum((p * of(lift) for p, lift in lifts), Fraction(0))


def log_ratio(top: Fraction, bottom: Fraction) -> Any:
    assert top
    return mp.log(real(top) / real(bottom)) if bottom else mp.inf


def inverse_distance(lift: Fraction) -> Fraction:
    return abs(1 / lift - 1)


def inverse_square(lift: Fraction) -> Fraction:
    return (1 / lift - 1) ** 2


def inverse_power(lift: Fraction) -> Fraction:
    return 1 / lift**2


INVERSE = (inverse_distance, inverse_square, inverse_power)


def attained(quantity: str, at: Replay) -> Any:
    """Return what the witness attains: a Fraction, or an mpmath number."""
    w: Any = at.witness
    match quantity:
        case "max-lift" | "min-lift":
            top, bottom = at.lift()
            return top / bottom if bottom else mp.inf
        case "eps_upper":
            return log_ratio(*at.lift())
        case "eps_lower":
            return log_ratio(*at.lift()[::-1])
        case "delta_def5" | "delta_ediv" | "delta_joint":
            given_secret, whole = at.sums(w.secret)
            up = real(given_secret) - FACTOR * real(whole)
            down = real(whole) - FACTOR * real(given_secret)
            if quantity == "delta_def5":
                return max(up / FACTOR, down)
            weight = real(at.masses[w.secret]) if quantity == "delta_joint" else 1
            return max(weight * up, weight * down)
        case "ldp":
            return log_ratio(at.likelihood(w.secret, w.output), at.likelihood(w.other, w.output))
        case "delta_ldp":
            return real(at.sums(w.secret)[0]) - FACTOR * real(at.sums(w.other)[0])
        case "identifiability":
            odds = [at.masses[s] * at.likelihood(s, w.output) for s in (w.secret, w.other)]
            return log_ratio(*odds)
        case "l1_lift":
            return at.mean(lambda lift: abs(lift - 1))
        case "chi2_lift":
            return at.mean(lambda lift: (lift - 1) ** 2)
        case "l1_lift_inverse":
            return at.mean(inverse_distance)
        case "chi2_lift_inverse":
            return at.mean(inverse_square)
        case "alpha_lift":
            return mp.sqrt(real(at.mean(lambda lift: lift**2)))
        case "alpha_lift_inverse":
            mean = at.mean(inverse_power)
            return mean if mean == mp.inf else mp.sqrt(real(mean))
        case "crowd_mass":
            return sum((at.masses[s] for s in w.secrets or ()), Fraction(0))
        case "highest posterior" | "lowest posterior":
            return at.posterior()
    raise AssertionError(quantity)


def encloses(value: Enclosure, truth: Any) -> bool:
    if truth == mp.inf or value.upper is None:
        return truth == mp.inf and value.upper is None
    if isinstance(truth, Fraction):
        return value.lower <= truth <= value.upper
    hair = mp.mpf(10) ** -60  # of the 80 digits that the truth was computed with
    return bool(real(value.lower) - hair <= truth <= real(value.upper) + hair)


def replay(claim: Claim, case: Case) -> None:
    if claim.witness is None:
        assert claim.quantity == "crowd_mass"
        return
    truth = attained(claim.quantity, Replay.of(case, claim.witness))
    if claim.quantity.startswith("delta"):
        truth = max(truth, mp.mpf(0))
    assert encloses(claim.measured, truth), (claim, truth)


@pytest.mark.parametrize("name", NOTIONS)
@settings(max_examples=25)
@given(case=strategies.cases())
def test_a_prior_or_a_secret_behind_the_data(name: str, case: Case) -> None:
    notion = make_notion(name, {key: BUDGETS[key] for key in REGISTRY[name].parameters})
    found = notion.certify(case.channel, case.context, impossible="ignore")
    assert found.claims
    for claim in found.claims:
        replay(claim, case)


@pytest.mark.parametrize("name", NOTIONS)
@pytest.mark.parametrize("secrets", [None, 3])
def test_tables_without_ties(name: str, secrets: int | None) -> None:
    notion = make_notion(name, {key: BUDGETS[key] for key in REGISTRY[name].parameters})
    for seed in range(8):
        case = strategies.random_case(4, 5, seed=seed, secrets=secrets, zeros=seed % 4 == 3)
        for claim in notion.certify(case.channel, case.context).claims:
            replay(claim, case)


@pytest.mark.parametrize("name", NOTIONS)
@settings(max_examples=15)
@given(data=st.data())
def test_the_worst_prior_of_a_set(name: str, data: st.DataObject) -> None:
    """The prior that is named is one of the extreme ones, and with it the value is attained."""
    rows = data.draw(strategies.rows(3, 3))
    vertices, priors = data.draw(strategies.prior_sets(3))
    notion = make_notion(name, {key: BUDGETS[key] for key in REGISTRY[name].parameters})
    channel = strategies.make_channel(rows)
    try:
        found = notion.certify(channel, priors, impossible="ignore")
    except NotDefined:
        return
    for claim in found.claims:
        assert claim.witness is not None
        if claim.witness.prior is None:
            assert name in ("ldp", "ldp_delta")
            numbers = [1, 1, 1]
        else:
            worst = claim.witness.prior.reordered(channel.inputs)
            masses = [worst[label] for label in channel.inputs.labels]
            assert masses in vertices
            numbers = list(worst.counts)
        replay(claim, strategies.prior_case(numbers, rows))


def test_every_notion_with_witnesses_is_replayed() -> None:
    case = strategies.prior_case([2, 3, 1], [strategies.fractions(row) for row in ([3, 2, 1],) * 3])
    for name in NAMES_NOBODY:
        notion = make_notion(name, {key: BUDGETS[key] for key in REGISTRY[name].parameters})
        assert [claim.witness for claim in notion.certify(case.channel, case.context).claims] == [
            None
        ]
