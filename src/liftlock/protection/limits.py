"""Whether columns together keep what each of them promises."""

from __future__ import annotations

from liftlock.accounting.account import Account
from liftlock.errors import LiftlockError
from liftlock.mechanism import Mechanism
from liftlock.notions.base import Notion
from liftlock.protection.result import CombinedLeak, ProtectedColumn, Protection


def guards(column: ProtectedColumn, secret: str) -> bool:
    """Tell whether a column is protected so that this is not inferred; it may be its own value."""
    return secret == (column.name if column.secret is None else column.secret)


def keeps(account: Account, notion: Notion) -> bool:
    """Tell whether everything together certainly keeps a guarantee; what is not known does not."""
    try:
        return account.allows(notion)
    except LiftlockError:
        return False


def limits_of(protection: Protection, leak: CombinedLeak) -> dict[str, Notion]:
    """Return what the columns that hide a secret promise, each by itself."""
    return {
        column.name: column.mechanism.notion
        for column in protection.columns
        if column.name in leak.columns
        and guards(column, leak.secret)
        and isinstance(column.mechanism, Mechanism)
    }


def exceeds(protection: Protection) -> tuple[str, ...]:
    """Return the secrets about which columns together tell more than one of them may."""
    found = []
    for leak in protection.combined:
        if any(not keeps(leak.account, notion) for notion in limits_of(protection, leak).values()):
            found.append(leak.secret)
    return tuple(found)
