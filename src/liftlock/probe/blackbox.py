"""Audit a mechanism that can only be called: search for its worst event, then test that event.

Three stages, each on fresh draws:

1. *explore* (15 %): every input equally often; shortlists the suspicious ones for each side.
2. *refine* (20 %): only the shortlist and the prior, in rounds that leave fewer and fewer; ends
   with one input and one set of outputs for each side.
3. *confirm* (65 %): only that event. A coin chooses for every draw between the input and what it is
   compared with (the rest of the prior, or another input), and one exact bound is computed.

Whatever the first two stages did, the third is a fixed test on independent draws, so the
confidence level is valid at every sample size, and with any seed (`liftlock.probe.coins`). It
supposes that the mechanism answers every call afresh and independently.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from liftlock._runtime.progress import Progress, Step
from liftlock.errors import InputError, NumberError, extra
from liftlock.probe import intervals
from liftlock.probe.coins import Coins, fresh_seed
from liftlock.probe.events import (
    LEAST_SHARE,
    MOST_CELLS,
    CandidateEvent,
    ConfirmationPower,
    OutputCounts,
    Search,
    leakage,
    optimal_share,
    point_estimate,
)
from liftlock.probe.outputs import OutputCodes
from liftlock.probe.population import Population, sides_to_test
from liftlock.probe.result import (
    SLACK,
    Claims,
    Finding,
    ProbeResult,
    Side,
    read_confidence,
    refuse_vacuous,
)

with extra("statistics"):
    from scipy import special

Codes = npt.NDArray[np.int64]

LARGEST_BATCH = 1_000_000
"""Draws made by one call of a vectorised mechanism; bounds the memory of a run."""

_EXPLORE = 0.15
_REFINE = 0.2
_SHORTLISTS = (32, 10, 3)
"""Candidates left for each side in the rounds of the refinement."""

_FLOOR = 0.1
"""Share of the confirmation that every side gets, however unpromising it looks."""


def probe(
    mechanism: Callable[[Any], Any],
    inputs: Sequence[Hashable] | None,
    prior: object = None,
    *,
    lip: object = None,
    eps_lower: object = None,
    eps_upper: object = None,
    ldp: object = None,
    samples: int = 1_000_000,
    confidence: object = 0.999,
    per_value: bool = False,
    seed: int | None = None,
    batch: int = LARGEST_BATCH,
    progress: Progress | None = None,
) -> ProbeResult:
    """Look for a contradiction of a privacy claim in a mechanism that can only be called.

    `mechanism` takes an array of input codes (positions in `inputs`) and returns one output for
    each; with ``per_value=True`` it takes one input itself and returns one output. `prior` is a
    `Prior`, a mapping from input to probability, one probability per input, or a `Joint` (then
    the secrets are what is protected, and inputs are drawn given a secret); it is needed for
    claims about lifts.

    Claims, in nats: ``lip=e`` (every lift within e^-e and e^e), or ``eps_lower`` and
    ``eps_upper`` (within e^-eps_lower and e^eps_upper), and ``ldp`` (every likelihood ratio at
    most e^ldp). Without a claim all sides are measured. Exactly `samples` draws are made, in
    batches; ``progress`` is told after each, and may raise to stop the run. The result holds its
    `seed`, one from the operating system unless it is given: with it, a mechanism that repeats its
    answers gives the same result.

    >>> generator = np.random.default_rng(7)
    >>> def leaky(codes):  # a yes/no question, answered truthfully three times in four
    ...     return np.where(generator.random(len(codes)) < 0.75, codes, 1 - codes)
    >>> result = probe(leaky, ["no", "yes"], [0.5, 0.5], ldp=1, samples=100_000, seed=7)
    >>> result.contradicted, round(result.ldp, 2)  # the truth is ln 3 = 1.0986
    (True, 1.09)
    """
    claims = Claims.of(lip=lip, eps_lower=eps_lower, eps_upper=eps_upper, ldp=ldp)
    population = Population.of(inputs, prior)
    sides = sides_to_test(claims, population)
    level = read_confidence(confidence)
    seed = fresh_seed() if seed is None else seed
    box = _BlackBox(
        mechanism,
        population,
        Coins(seed),
        _read_samples(samples, population),
        per_value=per_value,
        batch=_read_batch(batch),
        progress=progress,
    )
    alpha = (1 - level) / len(sides)

    exploring = int(_EXPLORE * box.total)
    refining = int(_REFINE * box.total)
    confirming = box.total - exploring - refining
    attainable = _largest_bounds(sides, confirming, population, alpha)
    refuse_vacuous(
        claims,
        attainable,
        level,
        f"{box.total:,} samples",
        "give more, a lower confidence, or a stricter claim",
    )
    power = ConfirmationPower(
        deviations=float(special.ndtri(1 - alpha)) + 1, draws=confirming / len(sides)
    )
    targets = _search(box, exploring, refining, power, sides)
    findings = tuple(
        replace(
            _confirm(box, target, draws, claims.limit(target.side), alpha),
            attainable=attainable[target.side],
        )
        for target, draws in zip(targets, _allocate_draws(confirming, targets, claims), strict=True)
    )
    return ProbeResult(
        findings=findings,
        claims=claims,
        confidence=level,
        samples=box.done,
        outputs=len(box.outputs),
        seed=seed,
        impossible=population.impossible,
    )


def _largest_bounds(
    sides: tuple[Side, ...], draws: int, population: Population, alpha: float
) -> dict[Side, float]:
    """Return the largest bounds that any outcome could give, with all draws for one side."""
    prior = population.prior
    rarest = 0.0 if prior is None else float(prior[prior > 0].min())
    best = float(intervals.largest_ratio_lower(draws, draws, alpha, share=LEAST_SHARE))
    return {
        side: max(0.0, float(leakage(side, best, 0.0 if side == "ldp" else rarest)))
        for side in sides
    }


class _BlackBox:
    """The mechanism, called in batches, with its draws counted."""

    def __init__(
        self,
        mechanism: Callable[[Any], Any],
        population: Population,
        coins: Coins,
        total: int,
        *,
        per_value: bool,
        batch: int,
        progress: Progress | None,
    ) -> None:
        self.population = population
        self.generator = coins.toss()
        self.total = total
        self.done = 0
        self.outputs = OutputCodes(most=max(1, MOST_CELLS // len(population)))
        self._mechanism = mechanism
        self._coins = coins
        self._per_value = per_value
        self._batch = batch
        self._progress = progress

    def parts(self, draws: int) -> list[int]:
        """Divide a number of draws into batches."""
        whole, left = divmod(draws, self._batch)
        return [self._batch] * whole + [left] * (left > 0)

    def see(self, counts: Codes) -> None:
        """Toss the coins of all later draws anew, with what these draws gave."""
        self._coins.see(counts)
        self.generator = self._coins.toss()

    def call(self, symbols: Codes, *, learn: bool) -> Codes:
        """Draw one output for every symbol and return the codes of the outputs."""
        codes = self.population.draw_inputs(symbols, self.generator)
        if self._per_value:
            labels = self.population.inputs
            answers: Any = [self._mechanism(labels[code]) for code in codes.tolist()]
        else:
            # A copy: a mechanism that works in place must not change what was asked.
            answers = self._mechanism(codes.copy())
        try:
            number = len(answers)
        except TypeError:
            number = -1
        if number != len(codes):
            raise InputError(
                f"{len(codes)} inputs gave {number} outputs" if number >= 0 else "not a list",
                where="the mechanism",
                value=type(answers).__name__,
                remedy="return one output for each input code, or say per_value=True",
            )
        found = self.outputs.encode(answers, learn=learn)
        self.done += len(codes)
        if self._progress is not None:
            self._progress(Step("probing", self.done, self.total))
        return found

    def tally(
        self, draws: int, choose: Callable[[int], Codes], *, learn: bool = False
    ) -> OutputCounts:
        """Count outputs by symbol; `choose` gives the symbols of a batch of any length."""
        size = len(self.population)
        trials = np.zeros(size, dtype=np.int64)
        total = OutputCounts(np.zeros((size, len(self.outputs)), dtype=np.int64), trials)
        for part in self.parts(draws):
            symbols = choose(part)
            found = self.call(symbols, learn=learn)
            width = len(self.outputs)
            known = found >= 0
            cells = np.bincount(symbols[known] * width + found[known], minlength=size * width)
            total += OutputCounts(
                cells.reshape(size, width), np.bincount(symbols, minlength=size).astype(np.int64)
            )
        self.see(total.counts)
        return total


def _search(
    box: _BlackBox, exploring: int, refining: int, power: ConfirmationPower, sides: tuple[Side, ...]
) -> list[CandidateEvent]:
    """Try every input, then only the suspects, in rounds that leave fewer and fewer of them."""
    size = len(box.population)
    prior = box.population.prior
    lifts = any(side != "ldp" for side in sides)

    def evenly(number: int) -> Codes:
        return np.arange(number, dtype=np.int64) % size

    def crowd_and_suspects(number: int) -> Codes:
        around = number // 2 if lifts else 0
        symbols = focus[np.arange(number) % len(focus)]
        symbols[:around] = box.generator.choice(size, around, p=prior)
        return symbols

    first, second = (box.tally(part, evenly, learn=True) for part in _split_evenly(exploring, 2))
    box.outputs.refuse_continuous(exploring)
    search = Search(first.widen(len(box.outputs)), second, prior, power)
    lists = [search.find_candidates(side, _SHORTLISTS[0]) for side in sides]
    shorter = (*_SHORTLISTS[1:], 1)
    for part, most in zip(_split_evenly(refining, len(shorter)), shorter, strict=True):
        focus = _inputs_of([candidate for candidates in lists for candidate in candidates])
        first, second = (box.tally(half, crowd_and_suspects) for half in _split_evenly(part, 2))
        search = Search(search.first + first, search.second + second, prior, power)
        lists = [
            search.find_candidates(side, most, among=candidates)
            for side, candidates in zip(sides, lists, strict=True)
        ]
    return [candidates[0] for candidates in lists]


def _split_evenly(total: int, number: int) -> list[int]:
    return [total // number + (i < total % number) for i in range(number)]


def _inputs_of(candidates: list[CandidateEvent]) -> Codes:
    symbols = {candidate.symbol for candidate in candidates}
    symbols |= {candidate.against for candidate in candidates if candidate.against is not None}
    return np.array(sorted(symbols), dtype=np.int64)


def _expected_excess(candidate: CandidateEvent, claim: float, draws: int) -> float:
    """Say how many standard errors above the claim a test with so many draws may end."""
    ratio = candidate.top / candidate.bottom
    error = (1 / math.sqrt(candidate.top) + 1 / math.sqrt(candidate.bottom)) / math.sqrt(draws)
    here = candidate.leakage(ratio)
    return (here - claim) / max(here - candidate.leakage(ratio * math.exp(-error)), 1e-300)


def _allocate_draws(draws: int, targets: list[CandidateEvent], claims: Claims) -> list[int]:
    """Give every side a part of the confirmation, and the most promising one all that is left."""
    if not claims.sides:
        parts = [draws // len(targets)] * len(targets)
        parts[0] += draws - sum(parts)
        return parts
    parts = [int(_FLOOR * draws)] * len(targets)
    promises = [_expected_excess(t, claims.limit(t.side) or 0.0, draws) for t in targets]
    parts[int(np.argmax(promises))] += draws - sum(parts)
    return parts


def _confirm(
    box: _BlackBox, target: CandidateEvent, draws: int, claim: float | None, alpha: float
) -> Finding:
    """Test one event on fresh draws: a coin chooses the source of each."""
    method, share = _best_method(target, draws, alpha)
    member = np.zeros(len(box.outputs) + 1, dtype=bool)
    member[target.event] = True
    own_on_top = target.side != "eps_lower"
    chance = share if own_on_top else 1 - share
    crowd = box.population.crowd(target.symbol, target.against)
    hits = np.zeros(2, dtype=np.int64)
    trials = np.zeros(2, dtype=np.int64)
    for part in box.parts(draws):
        own = box.generator.random(part) < chance
        symbols = np.full(part, target.symbol, dtype=np.int64)
        others = part - int(own.sum())
        symbols[~own] = box.generator.choice(len(crowd), others, p=crowd)
        # An output never met before has code -1, which is the last place: outside the event.
        inside = member[box.call(symbols, learn=False)]
        hits += (int((inside & own).sum()), int((inside & ~own).sum()))
        trials += (part - others, others)
    box.see(hits)
    top, bottom = (0, 1) if own_on_top else (1, 0)
    if method == "share":
        ratio = float(intervals.ratio_lower_by_share(hits[top], hits[bottom], share, alpha))
    else:
        ratio = intervals.ratio_lower_by_bounds(
            hits[top], trials[top], hits[bottom], trials[bottom], alpha
        )
    rates = (hits / np.maximum(trials, 1)).tolist()
    labels = box.population.symbols
    outputs = box.outputs.labels
    return Finding(
        side=target.side,
        bound=max(0.0, target.leakage(ratio) - SLACK),
        estimate=point_estimate(target.side, rates[top], rates[bottom], target.probability),
        claim=claim,
        input=labels[target.symbol],
        against=None if target.against is None else labels[target.against],
        event=tuple(outputs[code] for code in target.event.tolist()),
        hits=int(hits[0]),
        draws=int(trials[0]),
        hits_against=int(hits[1]),
        draws_against=int(trials[1]),
        method=method,
    )


def _best_method(
    target: CandidateEvent, draws: int, alpha: float
) -> tuple[Literal["share", "bounds"], float]:
    """Choose, before any confirming draw is made, the bound that promises to be sharper."""
    share = optimal_share(target.top, target.bottom)
    by_share = intervals.ratio_lower_by_share(
        draws * share * target.top, draws * (1 - share) * target.bottom, share, alpha
    )
    # The two standard errors add up here, so the best division follows their cube roots.
    spread = [math.cbrt(max(1 / p - 1, 1e-6)) for p in (target.top, target.bottom)]
    split = min(max(spread[0] / sum(spread), LEAST_SHARE), 1 - LEAST_SHARE)
    first, second = draws * split, draws * (1 - split)
    by_bounds = intervals.ratio_lower_by_bounds(
        first * target.top, first, second * target.bottom, second, alpha
    )
    return ("share", share) if by_share >= by_bounds else ("bounds", split)


def _read_samples(samples: int, population: Population) -> int:
    least = 40 * len(population)
    if samples < least:
        raise NumberError(
            f"too few samples for {len(population)} inputs",
            value=samples,
            remedy=f"give at least {least}",
        )
    return int(samples)


def _read_batch(batch: int) -> int:
    if batch < 1:
        raise NumberError("batch below 1", value=batch, remedy="give a whole number of draws")
    return min(int(batch), LARGEST_BATCH)
