"""One line of the ledger: what was released, about what, of whom, and what was proved of it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

from liftlock.accounting.release import Levels, Ratio, Release
from liftlock.context import Context
from liftlock.errors import FileError, InputError
from liftlock.exact.encoding import fingerprint, fraction_text
from liftlock.exact.numbers import exact
from liftlock.mechanism import Mechanism
from liftlock.notions.registry import make_notion
from liftlock.salted_ids import id_text, is_missing

_WHEN = re.compile(r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$")


@dataclass(frozen=True)
class Entry:
    """One release, chained to the one before by its hash.

    Either a cohort by name or people by salted hashes. `levels` are the exact ratios e^eps_lower,
    e^eps_upper and e^ldp that were proved; `embedded` says that the ledger holds the mechanism.
    """

    number: int
    when: str
    cohort: str | None
    people: tuple[str, ...]
    about: str
    channel: str
    context: str
    context_kind: str
    notion: str
    budgets: dict[str, str]
    levels: Levels
    embedded: bool
    unprotected: int
    note: str
    previous: str

    @property
    def guarantee(self) -> str:
        """The guarantee in short, e.g. ``lip(1)``."""
        return str(make_notion(self.notion, self.budgets))

    @property
    def mechanism(self) -> str:
        """The key of the mechanism: its channel, its context, and what was certified."""
        return fingerprint([self.channel, self.context, self.notion, self.budgets])

    @property
    def digest(self) -> str:
        """The sha256 that the next entry carries."""
        return fingerprint(self.to_data())

    @property
    def who(self) -> str:
        """Say whose data it was about."""
        if self.cohort is not None:
            return self.cohort
        return f"{len(self.people):,} {'person' if len(self.people) == 1 else 'people'}"

    def release(self, context: Context, mechanism: Mechanism | None) -> Release:
        """Return what accountants know of it: the mechanism, or the levels alone."""
        if mechanism is not None:
            return Release.of(mechanism)
        guarantee = make_notion(self.notion, self.budgets)
        return Release(context.inputs, None, context, guarantee, self.levels)

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        who = {"people": list(self.people)} if self.cohort is None else {"cohort": self.cohort}
        return {
            "number": self.number,
            "when": self.when,
            "who": who,
            "about": self.about,
            "channel": self.channel,
            "context": self.context,
            "context_kind": self.context_kind,
            "notion": self.notion,
            "budgets": dict(self.budgets),
            "levels": {
                "eps_lower": _ratio_text(self.levels.lower),
                "eps_upper": _ratio_text(self.levels.upper),
                "ldp": _ratio_text(self.levels.ldp),
                "spread": _ratio_text(self.levels.spread),
            },
            "embedded": self.embedded,
            "unprotected": self.unprotected,
            "note": self.note,
            "previous": self.previous,
        }

    @classmethod
    def from_data(cls, data: Any) -> Entry:
        """Read the JSON form."""
        who, levels = data["who"], data["levels"]
        if set(who) not in ({"cohort"}, {"people"}) or set(data) != _KEYS:
            raise FileError(
                "an entry with other keys than an entry has",
                value=sorted(set(data) ^ _KEYS) or sorted(who),
                remedy="restore the ledger",
            )
        return cls(
            number=_whole(data["number"]),
            when=read_when(data["when"]),
            cohort=None if "people" in who else read_name(who["cohort"], "cohort"),
            people=tuple(bytes.fromhex(digest).hex() for digest in who.get("people", ())),
            about=read_name(data["about"], "about"),
            channel=str(data["channel"]),
            context=str(data["context"]),
            context_kind=str(data["context_kind"]),
            notion=str(data["notion"]),
            budgets={str(key): str(value) for key, value in data["budgets"].items()},
            levels=Levels(
                lower=_read_ratio(levels["eps_lower"]),
                upper=_read_ratio(levels["eps_upper"]),
                ldp=_read_ratio(levels["ldp"]),
                spread=_read_ratio(levels["spread"]),
            ),
            embedded=data["embedded"] is True,
            unprotected=_whole(data["unprotected"]),
            note=read_note(data["note"]),
            previous=str(data["previous"]),
        )


_KEYS = frozenset(
    (
        *("number", "when", "who", "about", "channel", "context", "context_kind", "notion"),
        *("budgets", "levels", "embedded", "unprotected", "note", "previous"),
    )
)


def read_name(value: object, what: str) -> str:
    """Read the name of a cohort or of a data item; blanks around it do not count.

    >>> read_name(" salary ", "about")
    'salary'
    """
    if is_missing(value):
        raise InputError(
            f"no {what}",
            value=value,
            remedy="say whose data it is" if what == "cohort" else "name the data item",
        )
    text = id_text(value)
    if not text.isprintable():
        raise InputError(f"{what} with characters that cannot be printed", value=text)
    return text


def read_known(value: object, known: set[str], what: str) -> str:
    """Read a name, but not one that differs from a known one only in case.

    Such a slip would begin a new history.
    """
    name = read_name(value, what)
    for other in known:
        if other != name and other.casefold() == name.casefold():
            raise InputError(
                f"{'item' if what == 'about' else what} spelt otherwise than before",
                value=name,
                remedy=f"the ledger has {other!r}; write it so, or choose a different name",
            )
    return name


def read_note(value: object) -> str:
    """Read a remark, which may be empty."""
    return read_name(value, "note") if id_text(value) else ""


def read_when(value: object) -> str:
    """Read a time in UTC, such as ``2030-01-31T12:00:00Z``."""
    text = str(value)
    try:
        if _WHEN.match(text):
            datetime.fromisoformat(text)
            return text
    except ValueError:
        pass
    raise InputError("not a time in UTC", value=value, remedy="write it like 2030-01-31T12:00:00Z")


def now() -> str:
    """Return the time in UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _ratio_text(ratio: Ratio) -> str:
    return "inf" if ratio is None else fraction_text(ratio)


def _read_ratio(text: Any) -> Ratio:
    if text == "inf":
        return None
    ratio: Fraction = exact(text, name="level")
    if ratio < 1:
        raise FileError("a level below 1", value=str(text)[:40], remedy="restore the ledger")
    return ratio


def _whole(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise FileError("not a whole number", value=value, remedy="restore the ledger")
    return value
