"""What all released columns tell together about one secret, and each of them alone."""

from __future__ import annotations

from fractions import Fraction

from liftlock.accounting.account import Account
from liftlock.exact import enclosure
from liftlock.exact.decimals import down_to, fold, moves
from liftlock.notions.lift import extremes
from liftlock.protection.limits import keeps, limits_of
from liftlock.protection.result import CombinedLeak, Protection
from liftlock.report.account import how
from liftlock.report.html.elements import (
    Content,
    Markup,
    listed,
    markup,
    named,
    table,
    tag,
    warned,
)


def together_section(protection: Protection) -> Markup | None:
    """Account for columns that tell about the same secret."""
    if not protection.combined:
        return None
    parts: list[Content] = [
        tag("h2", "What the columns tell together", id="together"),
        tag(
            "p",
            "Whoever sees several released columns of the same person learns more than from each "
            "alone, and the budgets do not simply add up. This is what was proved about all of "
            "them together.",
        ),
    ]
    for leak in protection.combined:
        parts.append(_one(protection, leak))
    return tag("section", parts)


def _one(protection: Protection, leak: CombinedLeak) -> Markup:
    account = leak.account
    up, down = factors(account)
    rows = _alone(leak)
    limits = limits_of(protection, leak)
    rows.append(
        [
            tag("strong", "all together"),
            fold(up),
            down_to(down),
            _kind(account),
        ]
    )
    parts: list[Content] = [
        tag("h3", "About ", named(leak.secret)),
        tag(
            "p",
            "Whoever sees the released ",
            listed(leak.columns),
            " of a person may raise the probability of any ",
            "true " if leak.secret in leak.columns else None,
            named(leak.secret),
            f" {moves(up, down)}.",
        ),
        table(
            "Largest changes of a probability, alone and together",
            ["Released column", "Raised at most", "Lowered at most to", "How it is known"],
            rows,
            numbers=(1, 2),
        ),
    ]
    beyond = [name for name, notion in limits.items() if not keeps(account, notion)]
    if beyond:
        parts.append(
            warned(
                "Together the columns tell more about ",
                named(leak.secret),
                ", or may do so, than the budget of ",
                listed(beyond),
                " allows for one column. Protect them as one value (",
                tag("code", "--together"),
                "), release fewer columns, or give each a smaller budget, unless this was "
                "intended.",
            )
        )
    elif limits:
        parts.append(tag("p", "This stays within the budget of every single one of these columns."))
    if account.unprotected:
        parts.append(
            warned(
                "Nothing is promised about ",
                listed(account.unprotected),
                ", which never occur according to what is assumed.",
            )
        )
    return markup(*parts)


def factors(account: Account) -> tuple[Fraction | None, Fraction]:
    """Return the largest rise (None: no limit) and the smallest share left, on the safe side."""
    up, fall = (_ratio(account, name) for name in ("eps_upper", "eps_lower"))
    return up, Fraction(0) if fall is None else 1 / fall


def _ratio(account: Account, name: str) -> Fraction | None:
    """Return a leakage as a factor that is not too small; None if nothing limits it."""
    if name not in account:
        return None
    reading = account[name]
    if reading.ratio is not None or reading.value.upper is None:
        return reading.ratio
    # What is known as a sum of budgets has no exact factor.
    return enclosure.exp(reading.value.upper).upper


def _alone(leak: CombinedLeak) -> list[list[Content]]:
    """Measure each column by itself under the same joint, whatever secret it was made for."""
    context = leak.account.context
    rows: list[list[Content]] = []
    for name, release in zip(leak.columns, leak.account.releases, strict=False):
        if release.channel is None or context is None:
            rows.append([named(name), "not known", "not known", "no table was accounted for"])
            continue
        found = extremes(release.channel, context)
        least = found.smallest.lift
        rows.append(
            [
                named(name),
                fold(found.largest.lift),
                down_to(Fraction(0) if least is None else least),
                "measured exactly",
            ]
        )
    return rows


def _kind(account: Account) -> str:
    names = [name for name in ("eps_upper", "eps_lower") if name in account]
    if not names:
        return "nothing is proved"
    if all(account.is_exact(name) for name in names):
        return "measured exactly"
    words = {how(account.best[name]) for name in names}
    return "; ".join(sorted(words))
