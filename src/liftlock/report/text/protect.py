"""What protecting a table came to, as text for a terminal and as data for programs."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from liftlock.model.structured import UserChannel
from liftlock.report.format import (
    amount,
    grid_of,
    least_nats,
    most_nats,
    moved_by,
    nats,
    percent,
    printable,
    shown,
    title_of,
)
from liftlock.report.text.audit import certificate_lines, guarantee_lines

if TYPE_CHECKING:
    from rich.table import Table as Grid

    from liftlock.notions.lift import LeakRange
    from liftlock.tables.protect.result import (
        CombinedLeak,
        ProtectedColumn,
        Protection,
        RowLeak,
        TotalBudget,
    )
    from liftlock.tables.protect.verdict import Verdict

FORMAT = "liftlock.protection"
VERSION = 1
_SIDES = ("eps_lower", "eps_upper")


def protection_report(protection: Protection) -> RenderableType:
    """Return each column with its guarantee and worth, and what all of them tell together."""
    parts: list[RenderableType] = []
    for column in protection.columns:
        parts += _column(column)
        parts.append(Text())
    if protection.combined:
        parts.append(_combined(protection))
        if protection.total is not None:
            parts += _total(protection.total)
        beyond = protection.exceeded_secrets()
        if beyond:
            about = ", ".join(shown(secret) for secret in beyond)
            parts.append(
                Text(
                    f"WARNING: together they reveal more about {about} than the budget of one "
                    "allows; protect them as one value (--together)",
                    style="bold",
                )
            )
        parts.append(Text())
    if protection.kept:
        parts += [*_kept(protection), Text()]
    if protection.rows_out:
        parts += [*_rows(protection.rows_out), Text()]
    names = ", ".join(named(column) for column in protection.columns)
    left_out = ", ".join(shown(name) for name in protection.dropped)
    line = f"{protection.rows:,} rows: {names} replaced"
    parts.append(Text(f"{line}, {left_out} left out" if left_out else line, style="bold"))
    return Group(*parts)


_STYLES: dict[str, str] = {"kept": "green", "conditional": "yellow", "broken": "red"}
_MOST_FINDINGS = 6


def verdict_report(verdict: Verdict) -> RenderableType:
    """Return the verdict on the table that goes out, and what is against it, the worst first."""
    style = f"bold {_STYLES[verdict.level]}"
    parts: list[RenderableType] = [
        Text(f"{verdict.words.upper()}: {verdict.sentence}", style=style)
    ]
    for finding in verdict.findings[:_MOST_FINDINGS]:
        words = finding.sentence
        if finding.remedies:
            words += f"; {' or '.join(remedy.words for remedy in finding.remedies)}"
        parts.append(Padding(Text(f"- {printable(words)}"), (0, 0, 0, 2)))
    more = len(verdict.findings) - _MOST_FINDINGS
    if more > 0:
        parts.append(Padding(Text(f"- and {more} more (--report, --json)"), (0, 0, 0, 2)))
    return Group(*parts)


def named(column: ProtectedColumn) -> str:
    """Name a column, or several that are one value."""
    made = column.mechanism
    if made.encoding is not None and made.encoding.alone is None:
        return " + ".join(shown(name) for name in made.encoding.names)
    return shown(column.name)


def _column(column: ProtectedColumn) -> list[RenderableType]:
    told = dict.fromkeys(about for about, _ in column.promises)
    hidden = ["its own value" if each is None else shown(each) for each in told]
    secret = " and ".join([*([", ".join(hidden[:-1])] if hidden[1:] else []), hidden[-1]])
    parts: list[RenderableType] = [
        Text(f"{named(column)}, hiding {secret}", style="bold underline")
    ]
    made = column.mechanism
    if made.per_user:
        parts.append(Text(f"{made.channel}; a value of probability 0 is refused"))
        parts.append(certificate_lines(made.certificate))
        return parts
    if made.encoding is not None and made.encoding.columns[0].keeps_missing:
        parts.append(Text("among those who have a value: who has none can be seen"))
    parts += guarantee_lines(made)
    if said := made.describe_person():
        parts.append(Text(said, style="bold"))
    origin = made.origin
    if origin is not None:
        words = f"{title_of(origin.utility, origin.title)}: {amount(origin.objective)}"
        if origin.nothing is not None and origin.truth is not None:
            words += f" (no release {amount(origin.nothing)}, no noise {amount(origin.truth)})"
        if origin.describe_gap():
            words += f", {origin.describe_gap()}"
        parts.append(Text(words))
        parts.append(Text(f"method: {origin.method}"))
        parts += [Text(printable(remark), style="dim") for remark in origin.remarks]
    if column.learned and column.in_table is None:
        parts.append(
            Text(
                "learned from this table: proved for its rows, not for the people that they are a "
                "sample of",
                style="dim",
            )
        )
    own = column.in_table
    if own is not None:
        words = (
            f"{'counts were smoothed' if column.learned else 'given, not learned'}: by the table's "
            f"own counts beliefs fall {moved_by(own.eps_lower)} and rise {moved_by(own.eps_upper)}"
        )
        if own.holds:
            parts.append(Text(words, style="dim"))
        else:
            parts.append(Text(f"WARNING: {words}, which is beyond the budget", style="bold"))
    return parts


def _combined(protection: Protection) -> Grid:
    grid = grid_of("all released columns together")
    grid.add_column("about", no_wrap=True)
    grid.add_column("columns", overflow="fold")
    grid.add_column("beliefs fall by", justify="right")
    grid.add_column("rise by", justify="right")
    grid.add_column("nats", no_wrap=True)
    for leak in protection.combined:
        names = ", ".join(shown(name) for name in leak.columns)
        lower, upper = (_spent(leak, side) for side in _SIDES)
        exact = all(_is_exact(leak, side) for side in _SIDES)
        grid.add_row(shown(leak.secret), names, lower, upper, "exact" if exact else "at most")
    return grid


def _total(total: TotalBudget) -> list[RenderableType]:
    """Return the budget of all columns together, what each got of it, and what that is worth."""
    grid = grid_of()
    grid.add_column("column", no_wrap=True)
    grid.add_column("its share", overflow="fold")
    grid.add_column("keeps", justify="right")
    grid.add_column("with an equal split", justify="right")
    for share in total.shares:
        equal = "none was proved"
        if share.equal is not None and share.equal_kept is not None:
            equal = f"{100 * share.equal_kept:.1f} % ({share.equal_text})"
        grid.add_row(shown(share.column), share.text, f"{100 * share.kept:.1f} %", equal)
    how = "so that the product of what the columns keep is largest"
    if total.weighted:
        how = "by the weights given"
    return [
        Text(
            f"PROVED: all released columns together keep {total.notion.guarantee} about each of "
            "these secrets, in this table",
            style="bold",
        ),
        Text(f"split {how}; keeps: from 0 % (no release) to 100 % (no noise)"),
        grid,
    ]


def _kept(protection: Protection) -> list[RenderableType]:
    grid = grid_of()
    grid.add_column("kept unchanged", no_wrap=True)
    grid.add_column("about", no_wrap=True)
    grid.add_column("beliefs fall by", justify="right")
    grid.add_column("rise by", justify="right")
    rules = [column.mechanism.encoding for column in protection.columns]
    given = {name for each in rules if each and each.given for name in each.given.names}
    for leak in protection.kept:
        name = f"{shown(leak.name)} (given)" if leak.name in given else shown(leak.name)
        grid.add_row(name, shown(leak.secret), nats(leak.eps_lower), nats(leak.eps_upper))
    others = dict.fromkeys(leak.name for leak in protection.kept if leak.name not in given)
    said = "kept columns reveal" if len(protection.kept) > 1 else "a kept column reveals"
    said += " more about a secret than the budget allows"
    answers = []
    if others:
        answers.append(f"drop {_them(others)} (--drop), or protect {_them(others)} too (--column)")
    if len(others) < len({leak.name for leak in protection.kept}):
        answers.append("the promise does not limit what given columns tell by themselves")
    return [
        Text(f"WARNING: {said}" if others else said, style="bold"),
        grid,
        Text(f"in nats, in this table; {'; '.join(answers)}"),
    ]


def _them(names: Collection[str]) -> str:
    return "them" if len(names) > 1 else "it"


_MOST_ROWS = 8


def _rows(leaks: Sequence[RowLeak]) -> list[RenderableType]:
    """Return what rows tell: the worst of them, and pairs only where they tell more than each."""
    chosen = [leak for leak in leaks if not _is_told_by_fewer(leak, leaks)]
    chosen.sort(key=lambda leak: (-max(leak.at_least), -max(leak.beyond), leak.kept))
    grid = grid_of("what a row tells: released cells and kept ones together, in nats")
    for name in ("kept", "about"):
        grid.add_column(name, overflow="fold")
    for name in ("against population", "beyond kept", "at least", "at most"):
        grid.add_column(name, justify="right", overflow="fold")
    several = len({leak.released for leak in leaks}) > 1
    for leak in chosen[:_MOST_ROWS]:
        beside = f"{', '.join(map(shown, leak.released))} beside " if several else ""
        most = _both(leak.at_most)
        if leak.unbounded_share:
            most = f"unbounded in {percent(leak.unbounded_share)}"
        grid.add_row(
            beside + ", ".join(map(shown, leak.kept)),
            shown(leak.secret),
            _both(leak.population),
            _both(leak.beyond),
            _both(leak.at_least, least_nats),
            most,
        )
    said = (
        "beliefs fall by / rise by: exact in this table against the population, and beyond what "
        "the kept cells tell alone; at least and at most: bounds of the latter for the people whom "
        "the rows were drawn from, right in 99 of 100 tables"
    )
    banded = dict.fromkeys(name for leak in leaks for name in leak.banded)
    if banded:
        said += f"; in bands: {', '.join(map(shown, banded))}"
    if len(leaks) > min(len(chosen), _MOST_ROWS):
        said += f"; {len(leaks) - min(len(chosen), _MOST_ROWS)} more with --json"
    return [grid, Text(said, style="dim")]


def _is_told_by_fewer(leak: RowLeak, leaks: Sequence[RowLeak]) -> bool:
    """Tell whether fewer kept columns surely tell as much as several do."""
    return len(leak.kept) > 1 and any(
        other.secret == leak.secret
        and other.released == leak.released
        and set(other.kept) < set(leak.kept)
        and all(one >= more for one, more in zip(other.at_least, leak.at_least, strict=True))
        for other in leaks
    )


def _both(leak: LeakRange, text: Callable[[float], str] = most_nats) -> str:
    return " / ".join(map(text, leak))


def _spent(leak: CombinedLeak, side: str) -> str:
    return nats(float(leak.account[side].value)) if side in leak.account else "unknown"


def _is_exact(leak: CombinedLeak, side: str) -> bool:
    return side in leak.account and leak.account.is_exact(side)


def protection_data(protection: Protection) -> dict[str, Any]:
    """Return the JSON form, without the tables of the mechanisms."""
    data = _protection_data(protection)
    whose = protection.person
    if whose is not None:
        data["person"] = {
            "column": whose.column,
            "mode": whose.mode,
            "people": whose.people,
            "most_rows": whose.most_rows,
            "ways": [
                {
                    "mode": cost.mode,
                    "kept": cost.kept,
                    "same": cost.same,
                    "notions": list(cost.notions),
                    "refused": cost.reason or None,
                }
                for cost in whose.costs
            ],
        }
    if protection.repeating:
        data["repeating"] = [
            {
                "name": each.name,
                "values": each.values,
                "most_rows": each.most_rows,
                "reason": each.reason,
                "loss": _finite(each.loss),
                "same": each.same,
            }
            for each in protection.repeating
        ]
    total = protection.total
    if total is None:
        return data
    return data | {
        "total": {
            "guarantee": total.notion.guarantee,
            "secrets": [leak.secret for leak in total.leaks],
            "split": "weights" if total.weighted else "searched",
            "shares": [
                {
                    "column": share.column,
                    "guarantee": share.notion.guarantee,
                    "noise": float(share.noise),
                    "kept": share.kept,
                    "equal": None if share.equal is None else share.equal.guarantee,
                    "equal_kept": share.equal_kept,
                }
                for share in total.shares
            ],
        }
    }


def _protection_data(protection: Protection) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "version": VERSION,
        "table": protection.source,
        "output": protection.output,
        "sha256": protection.sha256,
        "rows": protection.rows,
        "verdict": protection.verdict.to_data(),
        "columns": [_column_data(column) for column in protection.columns],
        "combined": [
            {
                "secret": leak.secret,
                "columns": list(leak.columns),
                "account": leak.account.to_data(),
            }
            for leak in protection.combined
        ],
        "kept": [
            {
                "name": leak.name,
                "secret": leak.secret,
                "eps_lower": _finite(leak.eps_lower),
                "eps_upper": _finite(leak.eps_upper),
                "pooled": leak.pooled,
            }
            for leak in protection.kept
        ],
        "rows_out": [_row_data(leak) for leak in protection.rows_out],
        "not_measured": list(protection.not_measured),
        "dropped": list(protection.dropped),
    }


def _row_data(leak: RowLeak) -> dict[str, Any]:
    data: dict[str, Any] = {
        "secret": leak.secret,
        "released": list(leak.released),
        "kept": list(leak.kept),
    }
    for name, told in (
        ("population", leak.population),
        ("beyond", leak.beyond),
        ("alone", leak.alone),
        ("at_least", leak.at_least),
        ("at_most", leak.at_most),
        ("population_at_least", leak.population_at_least),
    ):
        data[name] = {side: _finite(value) for side, value in told._asdict().items()}
    data |= {
        "values": leak.values,
        "unbounded_share": leak.unbounded_share,
        "banded": list(leak.banded),
    }
    if leak.witness is not None:
        data["witness"] = {
            "secret": str(leak.witness.secret),
            "kept": [None if cell is None else str(cell) for cell in leak.witness.kept],
            "released": [str(label) for label in leak.witness.released],
        }
    return data


def _column_data(column: ProtectedColumn) -> dict[str, Any]:
    made = column.mechanism
    data: dict[str, Any] = {
        "name": column.name,
        "secret": column.secret,
        "learned": column.learned,
        "file": column.file,
    }
    if isinstance(made.channel, UserChannel):
        data["guarantee"] = made.certificate.guarantee
        data["method"] = made.channel.form
    else:
        data["certificate"] = made.certificate.to_data()
        if made.also:
            data["also"] = [each.summary_data() for each in made.also]
        if made.origin is not None:
            data["origin"] = made.origin.to_data()
    if column.in_table is not None:
        data["in_table"] = {
            "eps_lower": _finite(column.in_table.eps_lower),
            "eps_upper": _finite(column.in_table.eps_upper),
            "holds": column.in_table.holds,
            "mapped": column.in_table.mapped,
        }
    if column.curve is not None:
        data["curve"] = [
            {"scale": point.scale, "guarantee": point.guarantee, "utility": point.utility}
            for point in column.curve.points
        ]
    return data


def _finite(value: float) -> float | str:
    return value if math.isfinite(value) else "infinity"
