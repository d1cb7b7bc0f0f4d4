"""How a mechanism came about, how close to the best it is, and how anybody can check it again."""

from __future__ import annotations

import shlex

from liftlock.forms import UserChannel
from liftlock.mechanism import Mechanism
from liftlock.protection.result import ProtectedColumn
from liftlock.report.amounts import amount, title_of
from liftlock.report.html.elements import Content, Markup, markup, table, tag


def origin_section(column: ProtectedColumn, made: Mechanism) -> Markup:
    """Say which method made a mechanism, and give what it takes to check it."""
    rows: list[list[Content]] = []
    remarks: tuple[str, ...] = ()
    if isinstance(made.channel, UserChannel):
        rows.append(["Method", tag("code", made.channel.form)])
        rows.append(["Mechanism", _print(made.user_model.fingerprint)])
    else:
        origin = made.origin
        if origin is None:
            rows.append(["Method", "given, not designed here"])
        else:
            remarks = origin.remarks
            rows.append(["Method", tag("code", origin.method)])
            rows.append([title_of(origin.utility, origin.title), amount(origin.objective)])
            if origin.nothing is not None and origin.truth is not None:
                ends = f"{amount(origin.nothing)} and {amount(origin.truth)}"
                rows.append(["Releasing nothing, and the truth", ends])
            if origin.bound is not None:
                kind = origin.kind or "mechanism with this guarantee"
                rows.append([f"Best that any {kind} could reach", amount(origin.bound)])
            rows.append(["How close to the best", origin.closeness() or "nothing was proved"])
        rows.append(["Assumed", made.context.describe()])
        rows.append(["Table", str(made.channel)])
        rows.append(["Fingerprint of the table", _print(made.channel.fingerprint)])
        rows.append(["Fingerprint of what is assumed", _print(made.context.fingerprint)])
    if column.file:
        rows.append(["File", tag("code", column.file)])
    parts: list[Content] = [
        tag("h3", "How it was made, and how to check it"),
        table("Origin and fingerprints", ["What", "Value"], rows),
    ]
    if remarks:
        parts.append(tag("ul", [tag("li", remark) for remark in remarks]))
    parts.append(_again(column, made))
    return markup(*parts)


def _print(fingerprint: str) -> Markup:
    return tag("code", fingerprint, class_="print")


def _again(column: ProtectedColumn, made: Mechanism) -> Markup:
    if made.per_user:
        return tag(
            "p",
            "The integers of the law are proved again to keep the budgets whenever the file is "
            "loaded.",
        )
    file = column.file or "MECHANISM.json"
    return tag(
        "p",
        "Anybody who has the mechanism file can prove the guarantee again, without trusting this "
        "report: ",
        tag("code", f"liftlock audit {shlex.quote(file)}"),
        ". It compares the same integers in exact arithmetic; the fingerprints above say whether "
        "it is the same file.",
    )
