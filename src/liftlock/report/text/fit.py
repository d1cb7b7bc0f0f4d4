"""A fitted distribution as text for a terminal."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from liftlock.model.continuous.distribution import Mixture
from liftlock.model.continuous.fit import Fit
from liftlock.model.continuous.grid import GridPrior
from liftlock.report.format import grid_of


def fit_report(found: Fit, prior: GridPrior) -> RenderableType:
    """Return the distribution, its components and scores, how well it fits, and how it is cut."""
    parts: list[RenderableType] = [Text(found.describe(), style="bold")]
    if found.is_far:
        parts.append(
            Text("that is far from the data: under this prior a mechanism may leak more", "red")
        )
    if isinstance(found.distribution, Mixture):
        table = grid_of()
        for name in ("weight", "mean", "deviation"):
            table.add_column(name, justify="right")
        for weight, mean, deviation in zip(
            found.distribution.weights,
            found.distribution.means,
            found.distribution.deviations,
            strict=True,
        ):
            table.add_row(f"{weight:.4f}", f"{mean:.6g}", f"{deviation:.6g}")
        parts += [Text(), table]
    if found.scores:
        best = min(score.bic for score in found.scores)
        table = grid_of()
        table.add_column("components" if found.choice == "mixture" else "law", justify="right")
        table.add_column("BIC", justify="right")
        table.add_column("", no_wrap=True)
        for score in found.scores:
            name = str(score.components) if found.choice == "mixture" else score.distribution
            chosen = "least" if score.bic == best and len(found.scores) > 1 else ""
            table.add_row(name, f"{score.bic:,.1f}", chosen)
        parts += [Text(), table]
    parts += [Text(), Text(prior.grid.describe())]
    clamped = prior.grid.describe_clamping()
    parts.append(Text(clamped if clamped else "nothing lies outside the domain"))
    return Group(*parts)
