"""How often intervals of 95 % hold the truth, by kind and setting, also where a kind fails.

Surveys are simulated by the thousand (20,000 for formulas and for two outputs, whose few outcomes
need one interval each). A star marks what is outside 93.5 to 96.5 %, an exclamation mark an
interval whose remarks say that the level may not be kept. The settings are a plain grid.

Bootstrap and credible intervals promise less: quantiles of simulated estimates are cautious near
the edges, and credible intervals keep their level on average over shares drawn from their prior.
"""

from __future__ import annotations

from itertools import product

from rich.console import Group
from rich.table import Table as Grid

from liftlock.estimate.intervals import Kind
from liftlock.estimate.models import OutputSums
from liftlock.estimate.question import ABOUT
from tests.statistical.coverage import Setting

RUNS = 20_000
BAND = (0.935, 0.965)
_CAUTIOUS = ("few reports decide", "is rough", "bootstrap intervals", "on average over")


def told(setting: Setting, kind: Kind) -> bool:
    """Whether the interval of a typical survey says that its level may not be kept."""
    if setting.weighted:
        tally, _ = setting.simulated(1, 1)
        one = OutputSums(tally.counts[0], tally.amounts[0], tally.squares[0], True)
        errors = setting.spread(kind, one).errors
        assert errors is not None
        remarks = setting.model.normality_remarks(setting.linear, one, errors)
    else:
        remarks = setting.made(kind, setting.typical()).remarks
    return any(text in remark for remark in remarks for text in _CAUTIOUS)


def cell(setting: Setting, kind: Kind, runs: int = RUNS) -> tuple[str, bool]:
    """Return the measured coverage (of all answers: from to), and whether it is in the band."""
    found = setting.coverage(kind, runs)
    kept = bool(((found >= BAND[0]) & (found <= BAND[1])).all())
    numbers = f"{100 * found.min():.1f}"
    if len(found) > 2:
        numbers += f" to {100 * found.max():.1f}"
    return numbers + ("" if kept else " *") + (" !" if told(setting, kind) else ""), kept


def table(title: str, settings: list[Setting], kinds: tuple[Kind, ...]) -> Grid:
    """Return a row for each setting and a column for each kind."""
    grid = Grid(title=title)
    for name in ("about", "asked", "prior", "channel", "eps", "people"):
        grid.add_column(name, justify="right" if name in ("eps", "people") else "left")
    for kind in kinds:
        grid.add_column(kind, justify="right")
    totals = dict.fromkeys(kinds, 0)
    for setting in settings:
        cells = []
        for kind in kinds:
            text, kept = cell(setting, kind)
            cells.append(text)
            totals[kind] += kept
        asked = f"{setting.of}, weighted" if setting.weighted else setting.of
        if setting.method in ("likelihood", "consistent"):
            asked += f", {setting.method}"
        grid.add_row(
            setting.about,
            asked,
            setting.prior,
            setting.channel,
            f"{setting.epsilon:g}",
            str(setting.reports),
            *cells,
        )
    grid.add_section()
    shares = [f"{totals[kind]} of {len(settings)}" for kind in kinds]
    grid.add_row("in band", *[""] * 5, *shares)
    return grid


def run() -> Group:
    """Measure all settings; a few minutes."""
    counts = [
        Setting(prior, channel, epsilon, reports, "survey", about)
        for about, prior, channel, epsilon, reports in product(
            ABOUT, ("even", "skewed", "rare"), ("rr", "optimal"), (0.5, 1.0, 2.0), (30, 50, 100)
        )
    ]
    formulas = [
        Setting(prior, channel, epsilon, reports, of, about, weighted=weighted)
        for about, prior, (channel, epsilon), (of, weighted), reports in product(
            ABOUT,
            ("skewed", "three", "zipf"),
            (("rr", 1.0), ("optimal", 2.0), ("subset", 0.5)),
            (("histogram", False), ("mean", False), ("survey", True), ("sum", True)),
            (32, 100, 1000),
        )
    ]
    posterior = [
        Setting(prior, channel, epsilon, reports, "survey", method="bayes")
        for prior, channel, epsilon, reports in product(
            ("even", "skewed", "rare"), ("rr", "optimal"), (0.5, 1.0, 2.0), (30, 100, 1000)
        )
    ]
    sums = [
        Setting(prior, channel, 1.0, reports, of, method="bayes", weighted=weighted)
        for prior, channel, (of, weighted), reports in product(
            ("three", "zipf"),
            ("rr", "optimal", "subset"),
            (("histogram", False), ("mean", False), ("sum", True)),
            (32, 100, 1000),
        )
    ]
    others = [
        Setting(prior, channel, epsilon, reports, "survey", about, method)
        for method, about, (prior, channel), epsilon, reports in product(
            ("likelihood", "consistent"),
            ABOUT,
            (("even", "rr"), ("skewed", "optimal")),
            (0.5, 2.0),
            (30, 100),
        )
    ]
    return Group(
        table(
            "unbiased counts, two symbols: % of surveys whose interval holds the truth",
            counts,
            ("normal", "exact", "bootstrap", "credible"),
        ),
        table("unbiased, more symbols, outputs and weights", formulas, ("normal",)),
        table("Bayes counts, right prior", posterior, ("normal", "exact", "bootstrap")),
        table("Bayes histograms, means and sums, right prior", sums, ("normal",)),
        table("likelihood and consistent counts, two symbols", others, ("auto", "bootstrap")),
    )
