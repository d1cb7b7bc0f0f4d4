"""Paper 000, Fig. 12: salaries that employees release, with noise or by sampling."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from liftlock_papers.figure import Curve, Figure, Finding, Panel
from liftlock_papers.paper_000.comparing import below, judged, times
from liftlock_papers.paper_000.salary_release import salary_points
from liftlock_papers.points import Points

DELTAS = ("b", "c", "d")

_NOISE, _NOISE_EACH = "Gaussian, as published", "Gaussian by instance, as published"
_NOISE_LDP, _SAMPLING, _SAMPLING_NORMAL = (
    "Gaussian, LDP", "sampling, mixture fit", "sampling, normal fit",
)  # fmt: skip
_SAFE, _SAFE_EACH = "Gaussian, certified", "Gaussian by instance, certified"
_SAFE_LDP = "Gaussian, LDP, certified"
_PURE, _NOTHING = "optimum, δ = 0", "no release"


NOTES = (
    "The paper counts 13,812 employees, which are the lines of the city's file with its header. "
    "The mixture has three normal laws, the fewest that show both peaks. Published noise is added "
    "as it is and taken at face value; its deviation is that of Cor. 10 with the mixture as prior,"
    " by instance, or the largest of the data's range for all; LDP's is that of eq. (24) for the "
    "same range. Sampling has the rate of Prop. 2. Numbers at rings are the true δ, not an ε: for "
    "these curves leakage and budget are the δ of Def. 5 at this ε. That of noise is computed for "
    "the people themselves, with the output cut into 512 cells, which hides less than a hundredth "
    "of it; that of sampling is in closed form, max{λ/e^ε, ∫(λf − (1 − λ)(e^ε − 1)g)₊}, with the "
    "histogram of (a) as f and the fit as g; for LDP it is the δ of LDP. At 28,000 dollars four "
    "curves lie on one another: no release, and the three kinds of certified noise. Certified "
    "mechanisms are made for 512 cells of equal mass (quick: 48) of [0, 300,000] dollars, for the "
    "δ of Def. 5, and their reports are read as the median of what they say. The optimum is ε-LIP "
    "with the least absolute error, certified on the same cells without a δ; its leakage and its "
    "budget are an ε. All errors are expectations, exact, of the people and not of the cells."
)


def judge_salaries(points: Points) -> list[Finding]:
    """Judge what the paper says about Fig. 12."""
    return [
        _two_peaks(points),
        _noise_for_small_delta(points),
        _fits_alike(points),
        _wrong_fit_leaks(points),
        _ldp_below_by_instance(points),
        _ldp_above_common(points),
        _lip_above_ldp(points),
        _worth_of_instance(points),
        _common_kept(points),
        _instance_kept(points),
        _sampling_kept(points),
        _delta_needed(points),
    ]


def _range(points: Points, panels: Iterable[str], curve: str) -> str:
    found = np.concatenate([points.y(panel, curve) for panel in panels])
    return f"{found.min():,.0f} to {found.max():,.0f}"


def _two_peaks(points: Points) -> Finding:
    """Count the peaks of means of three bins, those of one per cent of the highest or more."""
    x, y = points.x("a", "gross pay"), points.y("a", "gross pay")
    smooth = np.convolve(y, np.full(3, 1 / 3), "same")
    inner = smooth[1:-1]
    tops = (inner > smooth[:-2]) & (inner > smooth[2:]) & (inner > 0.01 * smooth.max())
    shown = " and ".join(f"{1000 * top:,.0f}" for top in x[1:-1][tops])
    return judged(
        "The density of the pay has two peaks.",
        [int(tops.sum()) == 2],
        f"the histogram, with means of three bins of 5,000 dollars, peaks at {shown} dollars",
        "It has another number of peaks.",
    )


def _noise_for_small_delta(points: Points) -> Finding:
    wins = [win for noise in (_NOISE, _NOISE_EACH) for win in below(points, "b", noise, _SAMPLING)]
    return judged(
        "When δ is small, Gaussian noise is better than sampling.",
        wins,
        f"δ = 10⁻⁴: one deviation for all {_range(points, 'b', _NOISE)} dollars, by instance "
        f"{_range(points, 'b', _NOISE_EACH)}, sampling {_range(points, 'b', _SAMPLING)}",
        "So small a δ takes noise as wide as the whole payroll. Sampling nearly always reports "
        "somebody else's pay, which is never so far off; guessing the median for everybody, "
        "without any report, is better than either.",
    )


def _fits_alike(points: Points) -> Finding:
    ratios = np.concatenate(
        [points.y(panel, _SAMPLING_NORMAL) / points.y(panel, _SAMPLING) for panel in DELTAS]
    )
    apart = np.abs(ratios - 1.0)
    return judged(
        "Which density is fitted hardly matters to the error of sampling.",
        (apart <= 0.02).tolist(),
        f"the errors differ by {100 * apart.max():.2g} % at most",
        "Some differ by more than 2 %.",
    )


def _wrong_fit_leaks(points: Points) -> Finding:
    ratios = np.concatenate(
        [
            points.leakage(panel, _SAMPLING_NORMAL) / points.leakage(panel, _SAMPLING)
            for panel in DELTAS
        ]
    )
    more = (ratios > 1 + 1e-9).tolist()
    return judged(
        "Implied: sampling from the less accurate fit leaks more (the text: it could).",
        more,
        f"the true δ of sampling from the normal fit is larger than that from the mixture fit "
        f"{times(more)} times, by {100 * (ratios.max() - 1):.2g} % at most",
        "What decides δ is that the value itself is reported with probability λ, which is the same "
        "for every density. A wrong one would leak more only if it were very thin where many "
        "people are; the normal fit is not.",
    )


def _ldp_below_by_instance(points: Points) -> Finding:
    published = below(points, DELTAS, _NOISE_EACH, _NOISE_LDP)
    certified = below(points, DELTAS, _SAFE_EACH, _SAFE_LDP)
    gain = max(
        float((1.0 - points.y(panel, _SAFE_EACH) / points.y(panel, _SAFE_LDP)).max())
        for panel in DELTAS
    )
    claim = "LDP's Gaussian noise is worse than LIP's noise by instance."
    ours = (
        f"as published {times(published)} times, certified {times(certified)} times, there "
        f"by {100 * gain:.2g} % at most"
    )
    kept = [not row.broken for panel in DELTAS for row in points.of(panel, _NOISE_EACH)]
    why = (
        "The large gap in the paper's figure is noise that breaks its own δ, which does not count. "
        "With deviations that keep it, and reports read by their medians, LIP is ahead by far less."
    )
    fair = [win and keeps for win, keeps in zip(published, kept, strict=True)]
    return judged(claim, [*fair, *certified], ours, why)


def _ldp_above_common(points: Points) -> Finding:
    wins = [
        win for other in (_NOISE, _SAMPLING) for win in below(points, DELTAS, _NOISE_LDP, other)
    ]
    return judged(
        "LDP's Gaussian noise is better than LIP with one deviation for all, and than sampling.",
        wins,
        f"LDP {_range(points, DELTAS, _NOISE_LDP)} dollars, LIP with one deviation "
        f"{_range(points, DELTAS, _NOISE)}, sampling {_range(points, DELTAS, _SAMPLING)}",
        "LDP implies LIP with the same ε and δ, so the least noise for LIP is never more than that "
        "for LDP. One deviation that suffices for the largest pay is still less than LDP's.",
    )


def _lip_above_ldp(points: Points) -> Finding:
    noise = [
        win
        for better in (_SAFE, _SAFE_EACH, _PURE)
        for win in below(points, DELTAS, better, _SAFE_LDP)
    ]
    sampled = below(points, DELTAS, _SAMPLING, _SAFE_LDP)
    return judged(
        "In every scenario LIP mechanisms are better than LDP ones (contribution 4).",
        [*noise, *sampled],
        f"against certified noise for LDP: certified noise for LIP and the optimum {times(noise)} "
        f"times, sampling {times(sampled)}; at ε = 1, δ = 10⁻² noise for LIP errs by "
        f"{points.at('d', _SAFE, 1.0):,.0f} dollars, for LDP by "
        f"{points.at('d', _SAFE_LDP, 1.0):,.0f}, sampling by "
        f"{points.at('d', _SAMPLING, 1.0):,.0f}, the optimum by {points.at('d', _PURE, 1.0):,.0f}",
        "Like against like, LIP needs less noise. Sampling is a LIP mechanism too, and nearly "
        "always reports somebody else's pay: it is worse than LDP unless ε and δ are large.",
    )


def _worth_of_instance(points: Points) -> Finding:
    gains = np.concatenate(
        [1.0 - points.y(panel, _SAFE_EACH) / points.y(panel, _SAFE) for panel in DELTAS]
    )
    worth = (gains > 0.01).tolist()
    claim = "Noise by instance is worth it: less where the prior is dense."
    ours = (
        f"certified, it lowers the error by {100 * gains.min():.2g} to {100 * gains.max():.2g} %, "
        f"by more than 1 % {times(worth)} times; as published by {_published_gain(points)}"
    )
    why = (
        "The published deviations take the output for what it would be if all had the same noise. "
        "With the true output, little can be gained unless ε and δ are large."
    )
    return judged(claim, worth, ours, why)


def _published_gain(points: Points) -> str:
    gains = np.concatenate(
        [1.0 - points.y(panel, _NOISE_EACH) / points.y(panel, _NOISE) for panel in DELTAS]
    )
    return f"{100 * gains.min():.2g} to {100 * gains.max():.2g} %"


def _common_kept(points: Points) -> Finding:
    return _delta_kept(
        points,
        _NOISE,
        "Gaussian noise with one deviation for all keeps (ε, δ)-LIP.",
        "The density of the people is not that of the mixture.",
    )


def _instance_kept(points: Points) -> Finding:
    return _delta_kept(
        points,
        _NOISE_EACH,
        "Gaussian noise by instance keeps (ε, δ)-LIP.",
        "Noise that depends on the value changes the law of the output, which Cor. 10 does not "
        "take into account. It holds with one deviation for all.",
    )


def _sampling_kept(points: Points) -> Finding:
    return _delta_kept(
        points,
        _SAMPLING,
        "Sampling with the rate of Prop. 2 keeps (ε, δ)-LIP.",
        "It does where the fit is not too thin.",
    )


def _delta_kept(points: Points, curve: str, claim: str, why: str) -> Finding:
    """Judge a guarantee: one point that breaks it is enough."""
    rows = [row for panel in DELTAS for row in points.of(panel, curve)]
    broken = [row for row in rows if row.broken]
    worst = max(rows, key=lambda row: (row.leakage or 0.0) / (row.budget or 1.0))
    return judged(
        claim,
        [not broken],
        f"{len(broken)} of {len(rows)} points need more than their δ; at worst "
        f"{(worst.leakage or 0.0) / (worst.budget or 1.0):,.4g} times that of {worst.budget:g}, at "
        f"ε = {worst.x:g}",
        why,
    )


def _delta_needed(points: Points) -> Finding:
    others = (_NOISE, _NOISE_EACH, _NOISE_LDP, _SAMPLING, _SAMPLING_NORMAL, _SAFE, _SAFE_EACH)
    wins = below(points, DELTAS, _PURE, *others)
    claim = "Implied: a continuous value can be released only with a δ (Section IV-C)."
    ours = (
        f"ε-LIP without a δ is better than everything here {times(wins)} times: "
        f"{_range(points, 'b', _PURE)} dollars, no release {points.at('b', _NOTHING, 1.0):,.0f}"
    )
    why = (
        "Added noise and sampling need the δ. Reports on cells of the line do not: a lift within a "
        "cell is that of the cell, so the certificate holds for the pay itself."
    )
    return judged(claim, [not win for win in wins], ours, why)


SALARIES = Figure(
    key="000-fig12",
    leaks="true δ",
    name="Fig. 12",
    title="Gross pay of a city's employees: the fits, and the error of a release",
    says=(
        "Employees release their gross pay. Noise by instance is best, LDP's Gaussian noise comes "
        "next, and noise of one deviation and sampling are last; which density is fitted hardly "
        "matters to sampling."
    ),
    compute=salary_points,
    judge=judge_salaries,
    panels=(
        Panel(
            "a", "gross pay (thousand dollars)", "density (per thousand dollars)", "(a) the fits"
        ),
        *(
            Panel(
                panel,
                "ε (nats)",
                "mean absolute error (dollars)",
                f"({panel}) δ = {delta}",
                y_scale="log",
            )
            for panel, delta in zip(DELTAS, ("10⁻⁴", "10⁻³", "10⁻²"), strict=True)
        ),
    ),
    curves=(
        Curve("gross pay", "grey", kind="steps"),
        Curve("mixture fit", "teal", "solid", label="mixture fit, and sampling from it"),
        Curve("normal fit", "purple", "dashed", label="normal fit, and sampling from it"),
        Curve(_NOISE_LDP, "grey", "solid", "v", label="Gaussian, LDP, as published"),
        Curve(_NOISE, "orange", "solid", "o"),
        Curve(_NOISE_EACH, "orange", "dashed", "s"),
        Curve(_SAMPLING, "teal", "solid", label=""),
        Curve(_SAMPLING_NORMAL, "purple", "dashed", label=""),
        Curve(_NOTHING, "gold", "dotted", width=1.3),
        Curve(_SAFE_LDP, "grey", "dashed"),
        Curve(_SAFE, "green", "solid"),
        Curve(_SAFE_EACH, "green", "dashdot"),
        Curve(_PURE, "blue", "solid", "o", width=2.2, label="certified optimum, δ = 0"),
    ),
    needs=("baltimore_salaries",),
    notes=NOTES,
    columns=2,
)
