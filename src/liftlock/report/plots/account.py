"""The leakage after 1, 2, 3, ... releases as a picture: the truth, the bounds, the false sum."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from liftlock.accounting.account import Account, account
from liftlock.accounting.ledger_account import LedgerAccount
from liftlock.accounting.release import Release
from liftlock.errors import InputError
from liftlock.model import Context
from liftlock.report.plots.figure import check_picture, picture, tidy, write_names

MOST_RELEASES = 8
_STYLES = {
    "exact": ("#1b4f8a", "-", "o", "exact"),
    "tight": ("#b3500a", "--", "s", "tight bound"),
    "pairwise": ("#3d7a35", "-.", "^", "pairs of inputs"),
    "ldp-sum": ("#8a2f6b", "--", "D", "sum of LDP levels"),
    "published": ("#777777", ":", "v", "published bound"),
}
_FALSE = "#c0392b"


@dataclass(frozen=True)
class Repetition:
    """One mechanism in one context, released again and again."""

    release: Release
    context: Context

    def after(self, number: int) -> Account:
        """Return the account of so many releases."""
        return account([self.release] * number, self.context, impossible="ignore")


def drawable(found: LedgerAccount) -> Repetition:
    """Choose what to draw: the last release of the ledger whose context is known."""
    for entry in reversed(found.entries):
        (release,) = found.ledger.releases([entry])
        context = found.under if found.under is not None else release.context
        if context is not None:
            return Repetition(release, context)
    raise InputError("nothing to draw", remedy="record a release first")


def draw_spent(chosen: Repetition, path: Path, most: int = MOST_RELEASES) -> None:
    """Draw the leakage against the number of releases by one mechanism."""
    check_picture(path)
    accounts = [chosen.after(number) for number in range(1, most + 1)]
    curves: dict[str, list[tuple[int, float]]] = {}
    for number, found in enumerate(accounts, start=1):
        for spent in found.spent:
            if spent.accountant in _STYLES and found.headline in spent.measurements:
                value = float(spent[found.headline])
                if math.isfinite(value):
                    curves.setdefault(spent.accountant, []).append((number, value))
    if not curves:
        raise InputError("nothing to draw: the leakage is infinite", remedy="leave out --plot")
    told = accounts[0].budgets
    once = float(told) if told is not None else float(accounts[0][accounts[0].headline])
    with picture(path, 8.0, 5.0) as figure:
        axes = figure.add_subplot()
        names: list[tuple[float, float, str, str]] = []
        for key, (colour, line, marker, name) in _STYLES.items():
            points = curves.get(key)
            if not points:
                continue
            across, up = zip(*points, strict=True)
            axes.plot(
                across,
                up,
                color=colour,
                linestyle=line,
                marker=marker,
                markersize=4.5,
                linewidth=4.0 if key == "exact" else 1.4,
                zorder=2 if key == "exact" else 3,
            )
            names.append((across[-1], up[-1], name, colour))
        numbers = range(1, most + 1)
        sums = [number * once for number in numbers]
        axes.plot(numbers, sums, color=_FALSE, linestyle=(0, (1, 2)), linewidth=1.6, zorder=2)
        names.append((most, sums[-1], "plain sum: NOT a bound", _FALSE))
        axes.set_xlim(0.8, most + 0.1)
        axes.set_ylim(bottom=0.0)
        axes.set_xticks(list(numbers))
        axes.set_xlabel("releases of the same value")
        edges = accounts[0].headline == "profile"
        axes.set_ylabel("loss of the worst edge (nats)" if edges else "LIP leakage (nats)")
        guarantee = chosen.release.guarantee
        what = "a mechanism" if guarantee is None else str(guarantee)
        axes.set_title(f"Releasing again by {what}, {chosen.context.describe()}", fontsize=11)
        tidy(axes)
        write_names(axes, names)
