"""Audit from records: pairs of an input and the output it got, made by somebody else.

The records are split at random into two halves. One half chooses the input and the set of outputs
to look at, the other half tests them, so the confidence level is valid at every number of records,
and with any seed (`liftlock.probe.coins`). It supposes that, given the inputs, the outputs were
drawn independently of one another (one record per release, nothing selected by its output).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from liftlock.errors import CountError, InputError, LabelError, extra
from liftlock.model.prior import sort_labels
from liftlock.probe import intervals
from liftlock.probe.coins import Coins
from liftlock.probe.events import (
    MOST_CELLS,
    CandidateEvent,
    ConfirmationPower,
    OutputCounts,
    Search,
    largest_bounds,
    point_estimate,
)
from liftlock.probe.outputs import UNKNOWN, OutputCodes
from liftlock.probe.population import Population, sides_to_test
from liftlock.probe.result import (
    SLACK,
    Claims,
    Finding,
    ProbeResult,
    read_confidence,
    refuse_vacuous,
)

with extra("statistics"):
    from scipy import special

if TYPE_CHECKING:
    from liftlock.exact.integers import Floats
    from liftlock.probe.intervals import Counts

Mask: TypeAlias = npt.NDArray[np.bool_]

_CHUNK = 1_000_000
_SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
_SHARE_ROWS = np.array(_SHARES)[:, None]
_CUTS = 24
_MISFIT = 1e-9
"""How improbable the recorded inputs must be before `sampled_from_prior` is not believed."""


def probe_pairs(
    inputs: Sequence[Hashable] | npt.NDArray[Any],
    outputs: Sequence[Hashable] | npt.NDArray[Any],
    prior: object = None,
    *,
    lip: object = None,
    eps_lower: object = None,
    eps_upper: object = None,
    ldp: object = None,
    confidence: object = 0.999,
    sampled_from_prior: bool = False,
    labels: Sequence[Hashable] | None = None,
    seed: int = 1,
) -> ProbeResult:
    """Look for a contradiction of a privacy claim in recorded pairs of inputs and outputs.

    `inputs` and `outputs` are two columns of the same length. `prior` and the claims are those of
    `probe`; the inputs need not have been recorded in the proportions of the prior. If they
    were (each one an independent draw from it) say ``sampled_from_prior=True``: the bounds get
    sharper. `labels` is the alphabet of the inputs, when the prior does not name it (a bare list
    of probabilities belongs to the codes 0, 1, 2, ...). The same records give the same result, in
    any order; another `seed` splits them in another way.

    >>> generator = np.random.default_rng(7)
    >>> asked = generator.integers(0, 2, 40_000)
    >>> answered = np.where(generator.random(40_000) < 0.75, asked, 1 - asked)
    >>> result = probe_pairs(asked, answered, [0.5, 0.5], ldp=1)
    >>> result.contradicted, round(result.ldp, 2)  # the truth is ln 3 = 1.0986
    (True, 1.04)
    """
    claims = Claims.of(lip=lip, eps_lower=eps_lower, eps_upper=eps_upper, ldp=ldp)
    level = read_confidence(confidence)
    population = Population.of(_alphabet(labels, prior, inputs), prior)
    sides = sides_to_test(claims, population)
    table, seen_outputs = _count(inputs, outputs, population)
    recorded = table.sum(axis=1)
    if sampled_from_prior:
        _check_sampled(recorded, population)
    coins = Coins(seed)
    coins.see(table)
    generator = coins.toss()
    alpha = (1 - level) / len(sides)
    # Every record tosses its own coins, so the counts of each cell split binomially.
    confirming = generator.binomial(table, 0.5)
    selecting = table - confirming
    attainable = largest_bounds(
        sides,
        confirming.sum(axis=1),
        population.prior,
        alpha,
        sampled_from_prior=sampled_from_prior,
    )
    refuse_vacuous(
        claims,
        attainable,
        level,
        f"{int(recorded.sum()):,} records (at most {int(recorded.max()):,} of one input)",
        "give more records of each input, a lower confidence, or a stricter claim",
    )
    first = generator.binomial(selecting, 0.5)
    search = Search(
        _tally(first),
        _tally(selecting - first),
        population.prior,
        ConfirmationPower(deviations=float(special.ndtri(1 - alpha)) + 1),
    )
    findings = []
    for side in sides:
        candidate = search.find_candidates(side, 1)[0]
        test = _Confirmation(candidate, population, selecting, confirming, sampled_from_prior)
        outputs_of_event = tuple(seen_outputs[code] for code in candidate.event.tolist())
        found = test.finding(alpha, claims.limit(side), outputs_of_event, generator)
        findings.append(replace(found, attainable=attainable[side]))
    prior_mass = np.ones(len(population)) if population.prior is None else population.prior
    return ProbeResult(
        findings=tuple(findings),
        claims=claims,
        confidence=level,
        samples=int(recorded.sum()),
        outputs=len(seen_outputs),
        seed=seed,
        unseen=tuple(
            symbol
            for symbol, mass, number in zip(
                population.symbols, prior_mass, recorded.tolist(), strict=True
            )
            if mass > 0 and number == 0
        ),
        impossible=population.impossible,
    )


@dataclass(frozen=True, slots=True)
class _RatioBound:
    """One valid way to bound the ratio, fixed before the outputs of the confirming half are seen.

    direct: the records are draws from the prior, so a coin already chose between the sources.
    thinned: a random part of the records is kept, chosen as a coin and the prior would.
    bounds: each source is bounded by itself; `apart` are inputs too rare to be pooled.
    """

    kind: Literal["direct", "thinned", "direct bounds", "bounds"]
    share: float = 0.5
    apart: Mask | None = None


_THINNED = tuple(_RatioBound("thinned", share) for share in _SHARES)


@dataclass(frozen=True)
class _Confirmation:
    """The confirmation of one suspicion on the second half of the records."""

    candidate: CandidateEvent
    population: Population
    selecting: Counts
    confirming: Counts
    sampled_from_prior: bool

    @cached_property
    def rest(self) -> Floats:
        """The weights of what the input is compared with."""
        return self.population.crowd(self.candidate.symbol, self.candidate.against)

    @cached_property
    def crowd(self) -> Mask:
        """Which inputs those are."""
        return self.rest > 0

    def finding(
        self,
        alpha: float,
        claim: float | None,
        event: tuple[Hashable, ...],
        generator: np.random.Generator,
    ) -> Finding:
        candidate = self.candidate
        trials = self.confirming.sum(axis=1)
        hits = self.confirming[:, candidate.event].sum(axis=1)
        plan = self._best_plan(trials, alpha)
        ratio = self._ratio(plan, hits, trials, alpha, generator)
        own, crowd = candidate.symbol, self.crowd
        labels = self.population.symbols
        return Finding(
            side=candidate.side,
            bound=max(0.0, candidate.leakage(ratio) - SLACK),
            estimate=self._estimate(hits, trials),
            claim=claim,
            input=labels[own],
            against=None if candidate.against is None else labels[candidate.against],
            event=event,
            hits=int(hits[own]),
            draws=int(trials[own]),
            hits_against=int(hits[crowd].sum()),
            draws_against=int(trials[crowd].sum()),
            method="share" if plan.kind in ("direct", "thinned") else "bounds",
        )

    def _estimate(self, hits: Counts, trials: Counts) -> float:
        weights = np.where(trials > 0, self.rest, 0.0)
        if trials[self.candidate.symbol] == 0 or weights.sum() == 0:
            return 0.0
        rates = hits / np.maximum(trials, 1)
        own, crowd = rates[self.candidate.symbol], weights @ rates / weights.sum()
        top, bottom = (crowd, own) if self.candidate.side == "eps_lower" else (own, crowd)
        return point_estimate(self.candidate.side, top, bottom, self.candidate.probability)

    def _best_plan(self, trials: Counts, alpha: float) -> _RatioBound:
        """Choose the plan of the best forecast, by the rates of the selecting half."""
        tried = self.selecting.sum(axis=1)
        rates = (self.selecting[:, self.candidate.event].sum(axis=1) + 0.5) / (tried + 1)

        def best(plans: list[_RatioBound], numbers: Counts) -> _RatioBound:
            forecasts = self._forecasts(plans, rates * numbers, numbers, alpha)
            return plans[int(np.argmax(forecasts))]

        if self.sampled_from_prior:
            # How often each input occurs is a part of this experiment, so the choice for or
            # against a direct plan must not depend on the inputs of the confirming half.
            plan = best([*self._direct_plans(), *self._general_plans(tried)], tried)
            if plan.kind in ("direct", "direct bounds"):
                return plan
        # All that is left holds for any given inputs, so it may depend on them.
        return best(self._general_plans(trials), trials)

    def _direct_plans(self) -> list[_RatioBound]:
        prior = self.population.require_prior()
        mine, theirs = float(prior[self.candidate.symbol]), float(prior[self.crowd].sum())
        plans = [_RatioBound("direct bounds")]
        if mine > 0 and theirs > 0:
            plans.append(_RatioBound("direct", share=mine / (mine + theirs)))
        return plans

    def _general_plans(self, trials: Counts) -> list[_RatioBound]:
        rest = self.rest
        plans = list(_THINNED)
        # Inputs with the fewest records for their weight limit the pool most: leave out 0, 1, ...
        needed = np.flatnonzero(rest > 0)
        scarce = needed[np.argsort(trials[needed] / rest[needed], kind="stable")]
        cuts = np.unique(np.linspace(0, len(scarce), min(len(scarce) + 1, _CUTS)).astype(int))
        for cut in cuts.tolist():
            apart = np.zeros(len(rest), dtype=bool)
            apart[scarce[:cut]] = True
            plans.append(_RatioBound("bounds", apart=apart))
        return plans

    def _forecasts(
        self, plans: list[_RatioBound], hits: npt.NDArray[Any], trials: Counts, alpha: float
    ) -> list[float]:
        """Forecast the ratio of every plan, from the hits to be expected."""
        thinned = iter(self._thinned_forecasts(hits, trials, alpha))
        own = self._own_bound(hits, trials, alpha / 2)
        return [
            next(thinned)
            if plan.kind == "thinned"
            else self._ratio(plan, hits, trials, alpha, None, own=own)
            for plan in plans
        ]

    def _thinned_forecasts(
        self, hits: npt.NDArray[Any], trials: Counts, alpha: float
    ) -> list[float]:
        """What `_ratio` would say of the plans in `_THINNED`, all at once."""
        own, crowd = self.candidate.symbol, np.flatnonzero(self.crowd)
        shares = _SHARE_ROWS[:, 0]
        weights = (1 - _SHARE_ROWS) * self.rest
        weights[:, own] += shares
        needed = np.append(crowd, own)
        sizes = intervals.thinned_sizes(weights[:, needed], trials[needed])
        rates = hits / np.maximum(trials, 1)
        mine = sizes * weights[:, own] * rates[own]
        theirs = sizes * (weights[:, crowd] @ rates[crowd])
        if self.candidate.side == "eps_lower":
            mine, theirs, shares = theirs, mine, 1 - shares
        ratios: list[float]
        ratios = intervals.ratio_lower_by_share(mine, theirs, shares, alpha).tolist()
        return ratios

    def _own_bound(self, hits: npt.NDArray[Any], trials: Counts, alpha: float) -> float:
        """Bound the probability of the event given the input: above for eps_lower, else below."""
        own = self.candidate.symbol
        lower = self.candidate.side == "eps_lower"
        bound = intervals.proportion_upper if lower else intervals.proportion_lower
        return float(bound(hits[own], trials[own], alpha))

    def _ratio(
        self,
        plan: _RatioBound,
        hits: npt.NDArray[Any],
        trials: Counts,
        alpha: float,
        generator: np.random.Generator | None,
        *,
        own: float | None = None,
    ) -> float:
        """Bound top / bottom by a plan; without a generator this is only a forecast.

        `own` is `_own_bound` at alpha / 2, when it is known already.
        """
        symbol, rest = self.candidate.symbol, self.rest
        crowd = self.crowd
        lower = self.candidate.side == "eps_lower"
        if plan.kind in ("direct", "thinned"):
            kept: npt.NDArray[Any] | None = hits
            if plan.kind == "thinned":
                weights = (1 - plan.share) * rest
                weights[symbol] += plan.share
                size = intervals.thinned_size(weights, trials)
                kept = intervals.thinned_hits(weights, hits, trials, size, generator)
            if kept is None:
                return 0.0
            mine, theirs = float(kept[symbol]), float(kept[crowd].sum())
            if lower:
                return float(intervals.ratio_lower_by_share(theirs, mine, 1 - plan.share, alpha))
            return float(intervals.ratio_lower_by_share(mine, theirs, plan.share, alpha))
        level = alpha / 2
        if plan.kind == "direct bounds":
            # The crowd is then one binomial sample already.
            bound = intervals.proportion_lower if lower else intervals.proportion_upper
            other = float(bound(hits[crowd].sum(), trials[crowd].sum(), level))
        else:
            weighted = intervals.weighted_sum_lower if lower else intervals.weighted_sum_upper
            other = weighted(rest, hits, trials, level, generator=generator, apart=plan.apart)
        if own is None:
            own = self._own_bound(hits, trials, level)
        return other / own if lower else own / other


def _alphabet(
    labels: Sequence[Hashable] | None, prior: object, inputs: Any
) -> Sequence[Hashable] | None:
    if labels is not None:
        return labels
    if prior is None:
        # Only likelihood ratios can be tested then, and only between inputs that occur.
        return sort_labels(
            dict.fromkeys(inputs.tolist() if isinstance(inputs, np.ndarray) else inputs)
        )
    if isinstance(prior, Sequence | np.ndarray) and not isinstance(prior, str):
        return range(len(prior))
    return None


def _count(
    inputs: Any, outputs: Any, population: Population
) -> tuple[Counts, tuple[Hashable, ...]]:
    """Count the pairs in a table of inputs (rows) and outputs (columns)."""
    number = len(inputs)
    if len(outputs) != number:
        raise InputError(
            f"{number} inputs and {len(outputs)} outputs",
            where="the recorded pairs",
            remedy="give two columns of the same table",
        )
    if number == 0:
        raise InputError("no records", where="the recorded pairs", remedy="give at least one pair")
    size = len(population)
    rows = OutputCodes(most=size)
    rows.encode(list(population.symbols), learn=True)
    columns = OutputCodes(most=max(1, MOST_CELLS // size))
    total = np.zeros((size, 0), dtype=np.int64)
    for start in range(0, number, _CHUNK):
        part = slice(start, start + _CHUNK)
        codes = rows.encode(inputs[part], learn=False)
        if np.any(codes == UNKNOWN):
            position = start + int(np.argmax(codes == UNKNOWN))
            value = inputs[position]
            raise LabelError(
                "an input outside the alphabet",
                where=f"record {position + 1}",
                value=value.item() if isinstance(value, np.generic) else value,
                remedy="add it to the prior (with probability 0 if it should not occur)",
            )
        found = columns.encode(outputs[part], learn=True)
        width = len(columns)
        cells = np.bincount(codes * width + found, minlength=size * width).reshape(size, width)
        total = np.pad(total, ((0, 0), (0, width - total.shape[1]))) + cells
    columns.refuse_continuous(number)
    # In a fixed order, so that the split does not depend on the order of the records.
    labels = sort_labels(columns.labels)
    return total[:, columns.encode(labels, learn=False)], tuple(labels)


def _tally(counts: Counts) -> OutputCounts:
    return OutputCounts(counts, counts.sum(axis=1))


def _check_sampled(recorded: Counts, population: Population) -> None:
    prior = population.require_prior()
    total, level = int(recorded.sum()), _MISFIT / (2 * len(prior))
    low = intervals.proportion_lower(recorded, total, level)
    high = intervals.proportion_upper(recorded, total, level)
    wrong = np.flatnonzero((prior < low) | (prior > high) | ((prior == 0) & (recorded > 0)))
    if wrong.size:
        symbol = int(wrong[0])
        raise CountError(
            "the recorded inputs were not drawn from the prior",
            where=f"input {population.symbols[symbol]!r}",
            value=f"{int(recorded[symbol])} of {total} records, prior {prior[symbol]:.6g}",
            remedy="leave out sampled_from_prior, or correct the prior",
        )
