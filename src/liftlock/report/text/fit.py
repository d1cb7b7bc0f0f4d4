"""A fitted law as text for a terminal."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from liftlock.line.fitting import Fit
from liftlock.line.grid import GridPrior
from liftlock.line.law import Mixture
from liftlock.report.format import grid_of


def fit_report(found: Fit, prior: GridPrior) -> RenderableType:
    """Return the law, its components and scores, how well it fits, and how it is cut."""
    parts: list[RenderableType] = [Text(found.describe(), style="bold")]
    if found.far:
        parts.append(
            Text("that is far from the data: under this prior a mechanism may leak more", "red")
        )
    if isinstance(found.law, Mixture):
        table = grid_of()
        for name in ("weight", "mean", "deviation"):
            table.add_column(name, justify="right")
        for weight, mean, deviation in zip(
            found.law.weights, found.law.means, found.law.deviations, strict=True
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
            name = str(score.components) if found.choice == "mixture" else score.law
            chosen = "least" if score.bic == best and len(found.scores) > 1 else ""
            table.add_row(name, f"{score.bic:,.1f}", chosen)
        parts += [Text(), table]
    parts += [Text(), Text(prior.grid.describe())]
    clamped = prior.grid.clamped()
    parts.append(Text(clamped if clamped else "nothing lies outside the domain"))
    return Group(*parts)
