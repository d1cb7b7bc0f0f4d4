"""Whether the reports look as the prior says they should: a goodness-of-fit test with direction."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from liftlock.errors import NotDefined
from liftlock.estimate.aggregate import Aggregate
from liftlock.estimate.maximum_likelihood import maximise_likelihood
from liftlock.estimate.result import Drift, GoodnessOfFit, p_text
from liftlock.exact.integers import Floats
from liftlock.model.alphabet import Alphabet

if TYPE_CHECKING:
    from liftlock.estimate.models import Dense

WRONG = 0.01
"""Below this p-value of the test of the prior, a warning says that it does not fit."""
ENOUGH = 5.0
"""Outputs with fewer expected reports than this are merged."""
MANY = 20.0
"""With fewer than this, the tails of chi-square are off by half, and the test is simulated."""
DRAWS = 1999
SEED = 1
"""How many sets of reports are simulated, and from which seed: the same reports, the same test."""
_MOST_SIMULATED = 512
_WORK = 10**8
"""Simulations of more outputs, or of more products, would take longer than the estimate."""
_TINY = 1e-9
_GONE = 1e-6
_ENOUGH_FOR_A_MEAN = 30
"""The mean of fewer scores is not taken to be normal."""
_CERTAIN = 1e6
"""The score of a symbol that the prior calls impossible when a report shows that it is not."""


def prior_fit(model: Dense, aggregate: Aggregate) -> GoodnessOfFit:
    """Test whether the reports can come from people drawn from the prior.

    Pearson's statistic sum_y (n_y - n P(y))^2 / (n P(y)), with outputs merged until at least 5
    reports are expected of each. With more outputs than inputs most of that is noise that no prior
    could make, so only the part of the deviations is taken that another prior would make: their
    projection onto the rows Q[x, y] / sqrt(P(y)), with a degree less than there are inputs. Where
    single reports weigh much, the distribution of the statistic is simulated.

    The direction is that of the unbiased shares, against their variance under the prior. Where the
    reports do not determine them it is that of the likelihood: the mean lift of symbol x,

        (1/n) sum_y n_y Q[x, y] / P(y) - 1,

    is 0 on average under the prior and grows with the share of x, and its variance under the prior
    is (sum_y Q[x, y]^2 / P(y) - 1) / n.
    """
    if model.masses is None:
        raise NotDefined(
            "a test of the prior", "reports without a prior", "give the prior to be tested"
        )
    masses = model.mixture(model.masses)
    counts = aggregate.floats()
    possible = masses > 0
    drifts = _drifts(model, masses, counts)
    if counts[~possible].any():
        output = model.outputs.labels[int(np.argmax(~possible & (counts > 0)))]
        note = f"the prior says that {output!r} is never reported, and it was"
        return GoodnessOfFit(0.0, math.inf, None, drifts, note)
    observed, expected = counts[possible], counts.sum() * masses[possible] / masses.sum()
    outputs = f"{len(expected)} outputs"
    if len(expected) > model.symbols:
        return GoodnessOfFit(
            *_test_projection(model.rows[:, possible], observed, expected), drifts, outputs
        )
    groups = _group_rare_outputs(expected)
    if 0 < groups.max() < len(groups) - 1:
        observed, expected = _sum_by_group(observed, groups), _sum_by_group(expected, groups)
        outputs += f", merged to {len(expected)}"
    if expected.min() < MANY and len(expected) <= _MOST_SIMULATED:
        note = f"{DRAWS:,} simulations of {outputs} (seed {SEED})"
        return GoodnessOfFit(*_simulate_test(observed, expected), drifts, note)
    note = f"chi-square of {outputs}"
    return GoodnessOfFit(*_chi_square_test(observed, expected, len(expected) - 1), drifts, note)


def add_score_test(
    fit: GoodnessOfFit, scores: Floats, masses: Floats, aggregate: Aggregate, inputs: int
) -> GoodnessOfFit:
    """Add the test of the one number that is asked for, in which a small shift shows best.

    The mean Bayes score of all reports is, under the prior, the prior mean of f(X), with variance
    Var(g(Y)) / n. The p-value is the smaller of both tests', times two; with two inputs, or two
    outputs, there is one direction only, and both are the same test.
    """
    number = aggregate.reports
    expected = float(masses @ scores)
    variance = float(masses @ (scores - expected) ** 2)
    if number < _ENOUGH_FOR_A_MEAN or variance <= _GONE * float(masses @ scores**2):
        return fit
    score = (float(aggregate.floats() @ scores) - number * expected) / math.sqrt(number * variance)
    p_value = fit.p_value
    if min(inputs, int((masses > 0).sum())) > 2:
        p_value = min(1.0, 2.0 * min(p_value, math.erfc(abs(score) / math.sqrt(2.0))))
    return replace(fit, p_value=p_value, shift=score)


def channel_fit(model: Dense, aggregate: Aggregate) -> GoodnessOfFit | None:
    """Test whether ANY prior explains the reports: if none does, another mechanism made them.

    Pearson's statistic at the most likely shares, with rare outputs merged as for the prior. The
    shares that are not 0 leave k - rank degrees of freedom: given which ones those are, the
    distribution of the statistic is at most chi-square with so many. None if nothing is left to
    test.
    """
    counts = aggregate.floats()
    square = model.symbols == len(counts)
    if square and model.inverse.full and (counts @ model.inverse.matrix >= 0).all():
        # These people explain the reports to the last one.
        return None
    start = model.reference
    expected = counts.sum() * model.mixture(maximise_likelihood(model.rows, counts, start).shares)
    possible = expected > 0
    if counts[~possible].any() or not possible.any():
        return None
    groups = _group_rare_outputs(expected[possible])
    rows = _sum_by_group(model.rows[:, possible], groups)
    observed = _sum_by_group(counts[possible], groups)
    left = model.rows[:, ~possible].sum(axis=1)
    if left.any():
        # Outputs that nobody gave and that the shares call impossible are one more class.
        rows, observed = np.column_stack([rows, left]), np.append(observed, 0.0)
    shares = maximise_likelihood(rows, observed, start, gap=1e-9).shares
    expected = counts.sum() * (shares @ rows)
    some = expected > 0
    # Shares that steps of EM have only brought near 0 leave no freedom.
    freedom = int(some.sum()) - int(np.linalg.matrix_rank(rows[np.ix_(shares > _GONE, some)]))
    if freedom < 1 or expected[some].min() < ENOUGH / 2:
        return None
    note = f"chi-square of {int(some.sum())} outputs at the most likely shares"
    return GoodnessOfFit(*_chi_square_test(observed[some], expected[some], freedom), (), note)


def _test_projection(
    rows: Floats, observed: Floats, expected: Floats
) -> tuple[float, float, int | None]:
    """Test the part of the deviations that other shares of the inputs would make."""
    roots = np.sqrt(expected)
    # A basis of what other priors change. Under the prior itself nothing is deviated along one of
    # its directions, the number of reports.
    basis = np.linalg.qr((rows / roots).T)[0]
    freedom = basis.shape[1] - 1

    def statistics(counts: Floats) -> Floats:
        found: Floats = np.square(((counts - expected) / roots) @ basis).sum(axis=-1)
        return found

    statistic = float(statistics(observed))
    # How much one report can weigh; with as many inputs as outputs, 1 / its expected number.
    weight = float((np.square(basis).sum(axis=1) / expected).max())
    if weight <= 1.0 / MANY or DRAWS * basis.size > _WORK:
        return chi_square_tail(statistic, freedom), statistic, freedom
    number = int(observed.sum())
    generator = np.random.default_rng(SEED)
    draws = generator.multinomial(number, expected / expected.sum(), size=DRAWS)
    return _simulated_p_value(statistic, statistics(draws.astype(np.float64))), statistic, None


def _drifts(model: Dense, masses: Floats, counts: Floats) -> tuple[Drift, ...]:
    """Return every symbol with its score, the largest first."""
    assert model.masses is not None
    number = counts.sum()
    possible = masses > 0
    found = None
    if model.inverse.full:
        matrix = model.inverse.matrix
        found = (counts / number) @ matrix
        deviations = found - model.masses
        squares = masses @ matrix**2
        variances = squares - model.masses**2
        # What rounding leaves of a share that the prior is certain of is no variance.
        spread = np.sqrt(np.where(variances > _GONE * squares, variances, 0.0) / number)
    else:
        lifts = model.rows[:, possible] / masses[possible]
        # A report that the prior calls impossible has no lift; it speaks for who gives it.
        deviations = lifts @ (counts[possible] / number) - counts[possible].sum() / number
        spread = np.sqrt(np.maximum((lifts**2) @ masses[possible] - 1.0, 0.0) / number)
    informative = spread > _TINY
    scores = np.divide(deviations, spread, out=np.zeros_like(deviations), where=informative)
    never = (model.masses == 0) & (model.rows[:, ~possible] @ counts[~possible] > 0)
    scores[never] = _CERTAIN
    # In a group that nobody is in, all shares are 0.
    inside = 1.0 if model.groups is None else np.where(model.groups > 0, model.groups, 1.0)
    shares = None if found is None else found / inside
    return sort_drifts(model.inputs, model.masses / inside, shares, scores)


def sort_drifts(
    inputs: Alphabet, masses: Floats, found: Floats | None, scores: Floats
) -> tuple[Drift, ...]:
    """Return every symbol with its share by the prior, the share found and its score."""
    return tuple(
        Drift(
            inputs.labels[x],
            float(masses[x]),
            None if found is None else float(found[x]),
            float(scores[x]),
        )
        for x in np.argsort(-np.abs(scores), kind="stable").tolist()
    )


def _group_rare_outputs(expected: Floats) -> npt.NDArray[np.intp]:
    """Give each output the number of its group: rare ones share one until enough are expected."""
    groups = np.empty(len(expected), dtype=np.intp)
    group, inside = 0, 0.0
    order = np.argsort(expected, kind="stable")
    for place, number in zip(order.tolist(), expected[order].tolist(), strict=True):
        groups[place] = group
        inside += number
        if inside >= ENOUGH:
            group, inside = group + 1, 0.0
    # What is left over is too little for a group of its own.
    if inside > 0 and group > 0:
        groups[groups == group] = group - 1
    return groups


def _sum_by_group(values: Floats, groups: npt.NDArray[np.intp]) -> Floats:
    """Add up the last axis by group."""
    order = np.argsort(groups, kind="stable")
    starts = np.searchsorted(groups[order], np.arange(int(groups.max()) + 1))
    found: Floats = np.add.reduceat(values[..., order], starts, axis=-1)
    return found


def _chi_square_test(observed: Floats, expected: Floats, freedom: int) -> tuple[float, float, int]:
    statistic = float(((observed - expected) ** 2 / expected).sum())
    return chi_square_tail(statistic, freedom), statistic, freedom


def chi_square_tail(statistic: float, freedom: int) -> float:
    """Return P(chi-square of so many degrees >= statistic), for whole degrees a sum of powers.

    With h half of the statistic it is the sum of e^-h h^s / Gamma(s + 1) over s = 0, 1, ... below
    half of the degrees; or, if they are odd, over s = 1/2, 3/2, ..., and erfc(sqrt(h)).

    >>> round(chi_square_tail(3.841, 1), 4), round(chi_square_tail(18.307, 10), 4)
    (0.05, 0.05)
    """
    half = statistic / 2
    if freedom <= 0 or half <= 0:
        return 1.0
    if math.isinf(half):
        return 0.0
    odd = freedom % 2
    first = math.log(2 * math.sqrt(half / math.pi)) if odd else 0.0
    powers = np.arange(1, freedom // 2) + odd / 2
    logs = first - half + np.append(0.0, np.cumsum(np.log(half / powers)))
    terms = float(np.exp(logs).sum()) if freedom > 1 else 0.0
    return min(terms + (math.erfc(math.sqrt(half)) if odd else 0.0), 1.0)


def _simulate_test(observed: Floats, expected: Floats) -> tuple[float, float, None]:
    """Compare Pearson's statistic with simulated ones."""
    number = int(observed.sum())
    masses = expected / expected.sum()
    draws = np.random.default_rng(SEED).multinomial(number, masses, size=DRAWS)
    statistics = ((draws - expected) ** 2 / expected).sum(axis=1)
    statistic = float(((observed - expected) ** 2 / expected).sum())
    return _simulated_p_value(statistic, statistics), statistic, None


def _simulated_p_value(statistic: float, simulated: Floats) -> float:
    """Return the share of simulated statistics that are at least as large, ours among them."""
    # Equal sets of reports have statistics that are equal up to rounding.
    above = int((simulated >= statistic * (1 - 1e-9)).sum())
    return (1 + above) / (1 + len(simulated))


def misfit_warning(
    fit: GoodnessOfFit, key: str, *, free: bool = True, numbers: bool = False
) -> str | None:
    """Return the warning about a prior that does not fit, with the direction, or None if it may.

    `free` says whether the reports can be read without a prior, `numbers` whether a sum or a mean
    is asked for: then higher or lower is what matters.
    """
    if fit.p_value >= WRONG:
        return None
    comma = "; " if fit.users else ", "
    shown = comma.join(str(drift) for drift in fit.drifts[:2] if abs(drift.score) > 2)
    if numbers and fit.shift is not None and abs(fit.shift) > 2:
        shown = f"{'higher' if fit.shift > 0 else 'lower'} numbers than it says"
    seen = f": they show {shown}" if shown else ""
    if not math.isfinite(fit.statistic):
        seen = f": {fit.note}"
    subject = "the prior does"
    leaning = "this estimate does not depend on it, but guarantees under that prior do"
    if key == "bayes":
        other = "unbiased does not" if free else "and these reports cannot be read without one"
        leaning = f"the Bayes estimate leans on that prior, {other}"
    if fit.users:
        subject = "the priors of the users do"
        leaning = (
            "the estimate leans on these priors"
            if key == "bayes"
            else "this estimate does not depend on them, but guarantees under these priors do"
        )
    return f"{subject} not fit the reports (p = {p_text(fit.p_value)}){seen}; {leaning}"
