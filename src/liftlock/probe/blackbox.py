"""Audit a mechanism that can only be called: search for its worst event, then test that event.

Three rounds, each on fresh draws:

1. *explore* (10 %): every input equally often; shortlists the suspicious ones for each side.
2. *refine* (10 %): only the shortlist and the prior; picks one input and one set of outputs a side.
3. *confirm* (80 %): only that event. A coin chooses for every draw between the input and what it is
   compared with (the rest of the prior, or another input), and one exact bound is computed.

Whatever the first two rounds did, the third is a fixed test on independent draws, so the
confidence level is valid at every sample size. It supposes that the mechanism answers every call
afresh and independently.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy import special

from liftlock.errors import InputError, NumberError
from liftlock.probe import intervals
from liftlock.probe.claims import SIDES, Claims, Side, read_confidence
from liftlock.probe.events import (
    MOST_CELLS,
    Estimate,
    Halves,
    Horizon,
    Suspicion,
    Tally,
    best_share,
    leakage,
    of_inputs,
    of_rests,
    ordered,
    point_estimate,
    prefix_scores,
)
from liftlock.probe.outputs import OutputCodes
from liftlock.probe.population import Population
from liftlock.probe.result import Finding, ProbeResult

Codes = npt.NDArray[np.int64]

LARGEST_BATCH = 1_000_000
"""Draws made by one call of a vectorised mechanism; bounds the memory of a run."""

SLACK = 1e-9
"""Nats taken off every bound: far more than the rounding errors of the floats involved."""

_EXPLORE = 0.15
_REFINE = 0.2
_SHORTLISTS = (24, 6)
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
    progress: Callable[[int, int], None] | None = None,
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
    batches; ``progress(done, total)`` is called after each, and may raise to stop the run.

    >>> generator = np.random.default_rng(7)
    >>> def leaky(codes):  # a yes/no question, answered truthfully three times in four
    ...     return np.where(generator.random(len(codes)) < 0.75, codes, 1 - codes)
    >>> result = probe(leaky, ["no", "yes"], [0.5, 0.5], ldp=1, samples=100_000, seed=7)
    >>> result.contradicted, round(result.ldp, 2)  # the truth is ln 3 = 1.0986
    (True, 1.06)
    """
    claims = Claims.of(lip=lip, eps_lower=eps_lower, eps_upper=eps_upper, ldp=ldp)
    population = Population.of(inputs, prior)
    sides = tested_sides(claims, population)
    level = read_confidence(confidence)
    root = np.random.SeedSequence(seed)
    box = _Box(
        mechanism,
        population,
        np.random.default_rng(root),
        _read_samples(samples, population),
        per_value=per_value,
        batch=_read_batch(batch),
        progress=progress,
    )
    alpha = (1 - level) / len(sides)

    exploring = int(_EXPLORE * box.total)
    refining = int(_REFINE * box.total)
    confirming = box.total - exploring - refining
    horizon = Horizon(deviations=float(special.ndtri(1 - alpha)) + 1, draws=confirming / len(sides))
    halves = _explore(box, exploring, horizon)
    targets = _refine(box, refining, halves, sides)
    findings = tuple(
        _confirm(box, target, draws, claims.limit(target.side), alpha)
        for target, draws in zip(targets, _divide(confirming, targets, claims), strict=True)
    )
    return ProbeResult(
        findings=findings,
        claims=claims,
        confidence=level,
        samples=box.done,
        outputs=len(box.outputs),
        seed=_entropy(root),
        impossible=population.impossible,
    )


def tested_sides(claims: Claims, population: Population) -> tuple[Side, ...]:
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
    if any(side != "ldp" for side in sides) and int((population.known_prior() > 0).sum()) < 2:
        raise InputError(
            "a prior with a single possible input",
            where="a claim about lifts",
            remedy="every lift is 1 then; give a prior with two possible inputs or more",
        )
    return sides


class _Box:
    """The mechanism, called in batches, with its draws counted."""

    def __init__(
        self,
        mechanism: Callable[[Any], Any],
        population: Population,
        generator: np.random.Generator,
        total: int,
        *,
        per_value: bool,
        batch: int,
        progress: Callable[[int, int], None] | None,
    ) -> None:
        self.population = population
        self.generator = generator
        self.total = total
        self.done = 0
        self.outputs = OutputCodes(most=max(1, MOST_CELLS // len(population)))
        self._mechanism = mechanism
        self._per_value = per_value
        self._batch = batch
        self._progress = progress

    def parts(self, draws: int) -> list[int]:
        """Divide a number of draws into batches."""
        whole, left = divmod(draws, self._batch)
        return [self._batch] * whole + [left] * (left > 0)

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
            self._progress(self.done, self.total)
        return found

    def tally(self, draws: int, choose: Callable[[int], Codes], *, learn: bool = False) -> Tally:
        """Count outputs by symbol; `choose` gives the symbols of a batch of any length."""
        size = len(self.population)
        trials = np.zeros(size, dtype=np.int64)
        total = Tally(np.zeros((size, len(self.outputs)), dtype=np.int64), trials)
        for part in self.parts(draws):
            symbols = choose(part)
            found = self.call(symbols, learn=learn)
            width = len(self.outputs)
            known = found >= 0
            cells = np.bincount(symbols[known] * width + found[known], minlength=size * width)
            total += Tally(
                cells.reshape(size, width), np.bincount(symbols, minlength=size).astype(np.int64)
            )
        return total


@dataclass(frozen=True, slots=True)
class _Target:
    """The one comparison that a side will be tested on, with its estimated probabilities."""

    side: Side
    symbol: int
    against: int | None
    event: Codes
    top: float
    bottom: float
    probability: float

    def leakage(self, ratio: float) -> float:
        return float(leakage(self.side, ratio, self.probability))

    def promise(self, claim: float, draws: int) -> float:
        """Say how many standard errors above the claim a test with so many draws may end."""
        ratio = self.top / self.bottom
        error = (1 / math.sqrt(self.top) + 1 / math.sqrt(self.bottom)) / math.sqrt(draws)
        here = self.leakage(ratio)
        return (here - claim) / max(here - self.leakage(ratio * math.exp(-error)), 1e-300)


def _explore(box: _Box, draws: int, horizon: Horizon) -> Halves:
    size = len(box.population)

    def evenly(number: int) -> Codes:
        return np.arange(number, dtype=np.int64) % size

    first = box.tally(draws // 2, evenly, learn=True)
    second = box.tally(draws - draws // 2, evenly, learn=True)
    box.outputs.refuse_continuous(draws)
    return Halves(first.widened(len(box.outputs)), second, box.population.prior, horizon)


def _refine(box: _Box, draws: int, halves: Halves, sides: tuple[Side, ...]) -> list[_Target]:
    """Shorten the lists of suspects round by round, each time with more draws for each of them.

    In every round all earlier draws put the outputs in order, and only the new ones judge.
    """
    size = len(box.population)
    prior = box.population.prior
    lifts = any(side != "ldp" for side in sides)
    lists = [halves.shortlist(side, _SHORTLISTS[0]) for side in sides]
    seen = halves.first + halves.second
    for part, following in zip(
        _portions(draws, len(_SHORTLISTS)), (*_SHORTLISTS[1:], 1), strict=True
    ):
        focus = _inputs_of([suspect for suspects in lists for suspect in suspects])
        crowd = part // 2 if lifts else 0
        around = box.tally(crowd, lambda n: box.generator.choice(size, n, p=prior))
        direct = box.tally(part - crowd, lambda n, focus=focus: focus[np.arange(n) % len(focus)])
        earlier = of_inputs(seen)
        rests = of_rests(seen, box.population.known_prior()) if lifts else earlier
        direct += around
        seen += direct
        judged = [
            sorted(
                (
                    (*_best_event(suspect, halves, direct, around, earlier, rests), suspect)
                    for suspect in suspects
                ),
                key=lambda item: -item[0],
            )
            for suspects in lists
        ]
        lists = [[suspect for _, _, suspect in ranked[:following]] for ranked in judged]
    return [ranked[0][1] for ranked in judged]


def _portions(total: int, number: int) -> list[int]:
    return [total // number + (i < total % number) for i in range(number)]


def _inputs_of(suspects: list[Suspicion]) -> Codes:
    symbols = {suspect.symbol for suspect in suspects}
    symbols |= {suspect.against for suspect in suspects if suspect.against is not None}
    return np.array(sorted(symbols), dtype=np.int64)


def _best_event(
    candidate: Suspicion,
    halves: Halves,
    direct: Tally,
    around: Tally,
    earlier: Estimate,
    rests: Estimate,
) -> tuple[float, _Target]:
    """Choose the outputs: ordered by what was explored, judged on the draws of this round."""
    own = np.array([candidate.symbol])
    source = of_inputs(Tally(direct.counts[own], direct.trials[own]))
    if candidate.against is not None:
        other = np.array([candidate.against])
        known = (earlier.rows(own), earlier.rows(other))
        fresh = (source, of_inputs(Tally(direct.counts[other], direct.trials[other])))
        probability = 0.0
    else:
        assert halves.prior is not None
        crowd = of_inputs(
            Tally(
                around.counts.sum(axis=0, keepdims=True) - around.counts[own],
                around.trials.sum(keepdims=True) - around.trials[own],
            )
        )
        known, fresh = (earlier.rows(own), rests.rows(own)), (source, crowd)
        if candidate.side == "eps_lower":
            known, fresh = known[::-1], fresh[::-1]
        probability = float(halves.prior[candidate.symbol])
    order = ordered(*known)
    scores = prefix_scores(candidate.side, order, *fresh, np.array([probability]), halves.horizon)[
        0
    ]
    length = int(np.argmax(scores)) + 1
    event = order[0, :length]
    target = _Target(
        candidate.side,
        candidate.symbol,
        candidate.against,
        event,
        *(float(max(e.value[0, event].sum(), e.unit[0])) for e in fresh),
        probability,
    )
    return float(scores[length - 1]), target


def _divide(draws: int, targets: list[_Target], claims: Claims) -> list[int]:
    """Give every side a part of the confirmation, and the most promising one all that is left."""
    if not claims.sides:
        parts = [draws // len(targets)] * len(targets)
        parts[0] += draws - sum(parts)
        return parts
    parts = [int(_FLOOR * draws)] * len(targets)
    promises = [target.promise(claims.limit(target.side) or 0.0, draws) for target in targets]
    parts[int(np.argmax(promises))] += draws - sum(parts)
    return parts


def _confirm(box: _Box, target: _Target, draws: int, claim: float | None, alpha: float) -> Finding:
    """Test one event on fresh draws: a coin chooses the source of each."""
    method, share = _best_method(target, draws, alpha)
    member = np.zeros(len(box.outputs) + 1, dtype=bool)
    member[target.event] = True
    own_on_top = target.side != "eps_lower"
    chance = share if own_on_top else 1 - share
    rest = None if target.against is not None else box.population.rest(target.symbol)
    hits = np.zeros(2, dtype=np.int64)
    trials = np.zeros(2, dtype=np.int64)
    for part in box.parts(draws):
        own = box.generator.random(part) < chance
        symbols = np.full(part, target.symbol, dtype=np.int64)
        others = part - int(own.sum())
        if rest is None:
            symbols[~own] = target.against
        else:
            symbols[~own] = box.generator.choice(len(rest), others, p=rest)
        # An output never met before has code -1, which is the last place: outside the event.
        inside = member[box.call(symbols, learn=False)]
        hits += (int((inside & own).sum()), int((inside & ~own).sum()))
        trials += (part - others, others)
    top, bottom = (0, 1) if own_on_top else (1, 0)
    if method == "share":
        ratio = intervals.ratio_lower_by_share(hits[top], hits[bottom], share, alpha)
    else:
        ratio = intervals.ratio_lower_by_bounds(
            hits[top], trials[top], hits[bottom], trials[bottom], alpha
        )
    labels = box.population.symbols
    outputs = box.outputs.labels
    return Finding(
        side=target.side,
        bound=max(0.0, target.leakage(ratio) - SLACK),
        estimate=point_estimate(
            target.side, hits[[top, bottom]], trials[[top, bottom]], target.probability
        ),
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
    target: _Target, draws: int, alpha: float
) -> tuple[Literal["share", "bounds"], float]:
    """Choose, before any confirming draw is made, the bound that promises to be sharper."""
    share = best_share(target.top, target.bottom)
    by_share = intervals.ratio_lower_by_share(
        draws * share * target.top, draws * (1 - share) * target.bottom, share, alpha
    )
    # The two standard errors add up here, so the best division follows their cube roots.
    spread = [math.cbrt(max(1 / p - 1, 1e-6)) for p in (target.top, target.bottom)]
    split = min(max(spread[0] / sum(spread), 0.125), 0.875)
    first, second = draws * split, draws * (1 - split)
    by_bounds = intervals.ratio_lower_by_bounds(
        first * target.top, first, second * target.bottom, second, alpha
    )
    return ("share", share) if by_share >= by_bounds else ("bounds", split)


def _entropy(root: np.random.SeedSequence) -> int:
    entropy = root.entropy
    assert isinstance(entropy, int)
    return entropy


def _read_samples(samples: int, population: Population) -> int:
    least = 40 * len(population)
    if isinstance(samples, bool) or not isinstance(samples, int | np.integer) or samples < least:
        raise NumberError(
            f"too few samples for {len(population)} inputs",
            value=samples,
            remedy=f"give a whole number of at least {least}",
        )
    return int(samples)


def _read_batch(batch: int) -> int:
    if isinstance(batch, bool) or not isinstance(batch, int | np.integer) or batch < 1:
        raise NumberError("batch is not a whole number of 1 or more", value=batch)
    return min(int(batch), LARGEST_BATCH)
