"""One entry of a ledger, and people grouped by the entries they have in common."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

from liftlock.accounting.release import LeakageLevels, Ratio, Release, edge_levels
from liftlock.accounting.salted_ids import id_text, is_missing
from liftlock.accounting.skeleton import is_visible, mixed_scripts, name_skeletons
from liftlock.errors import FileError, InputError
from liftlock.exact.fingerprint import fingerprint, fraction_text
from liftlock.exact.numbers import exact
from liftlock.mechanism import Mechanism
from liftlock.model import Context
from liftlock.model.alphabet import Alphabet
from liftlock.notions.registry import make_notion

_WHEN = re.compile(r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$")


@dataclass(frozen=True)
class LedgerEntry:
    """One release, chained to the one before by its hash.

    Either a cohort by name, or people (or observations) by salted hashes. `levels` are the exact
    ratios e^eps_lower, e^eps_upper and e^ldp that were proved, or of a graph of profiles that of
    the worst edge; `embedded` says that the ledger holds the mechanism. Of what was read from a
    ledger of observations alone neither time nor context is known, and both are empty.
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
    levels: LeakageLevels
    embedded: bool
    unprotected: int
    note: str
    previous: str
    column: str = ""
    """The columns that the mechanism was made for; empty if it was for none."""

    @property
    def guarantee(self) -> str:
        """The guarantee in short, e.g. ``lip(1)``."""
        return str(make_notion(self.notion, self.budgets))

    @property
    def certified(self) -> str:
        """The guarantee as its certificate writes it, e.g. ``lip(epsilon=1)``."""
        return f"{self.notion}({', '.join(f'{k}={v}' for k, v in self.budgets.items())})"

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
        return people_text(len(self.people), [self]) if self.cohort is None else self.cohort

    @property
    def is_of_observations(self) -> bool:
        """Whether the ids are those of observations of a graph of profiles."""
        return not self.context or self.levels.profile is not None

    def release(self, context: Context | None, mechanism: Mechanism | None) -> Release:
        """Return what accountants know of it: the mechanism, or the levels alone."""
        if mechanism is not None:
            return Release.of(mechanism)
        guarantee, levels = make_notion(self.notion, self.budgets), self.levels
        if context is not None:
            return Release(context.inputs, None, context, guarantee, levels)
        if levels.profile is None and guarantee.profile_budget is not None:
            # A ledger of observations alone kept what was promised, and nothing that was measured.
            levels = edge_levels(guarantee)
        return Release(Alphabet.of(["not kept"]), None, None, guarantee, levels)

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        who = {"people": list(self.people)} if self.cohort is None else {"cohort": self.cohort}
        levels = {
            "eps_lower": _ratio_text(self.levels.lower),
            "eps_upper": _ratio_text(self.levels.upper),
            "ldp": _ratio_text(self.levels.ldp),
            "spread": _ratio_text(self.levels.spread),
        }
        if self.levels.profile is not None:
            levels["profile"] = _ratio_text(self.levels.profile)
        made_for = {"column": self.column} if self.column else {}
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
            "levels": levels,
            "embedded": self.embedded,
            "unprotected": self.unprotected,
            "note": self.note,
            "previous": self.previous,
            **made_for,
        }

    @classmethod
    def from_data(cls, data: Any) -> LedgerEntry:
        """Read the JSON form."""
        who, levels = data["who"], data["levels"]
        if set(who) not in ({"cohort"}, {"people"}) or set(data) - {"column"} != _KEYS:
            raise FileError(
                "an entry with other keys than an entry has",
                value=sorted(set(data) ^ _KEYS) or sorted(who),
                remedy="restore the ledger",
            )
        return cls(
            number=_whole(data["number"]),
            when=read_time(data["when"]) if data["when"] or data["context"] else "",
            cohort=None if "people" in who else _stored_name(who["cohort"], "cohort"),
            people=tuple(bytes.fromhex(digest).hex() for digest in who.get("people", ())),
            about=_stored_name(data["about"], "about"),
            channel=str(data["channel"]),
            context=str(data["context"]),
            context_kind=str(data["context_kind"]),
            notion=str(data["notion"]),
            budgets={str(key): str(value) for key, value in data["budgets"].items()},
            levels=LeakageLevels(
                lower=_read_ratio(levels["eps_lower"]),
                upper=_read_ratio(levels["eps_upper"]),
                ldp=_read_ratio(levels["ldp"]),
                spread=_read_ratio(levels["spread"]),
                profile=_read_ratio(levels.get("profile", "inf")),
            ),
            embedded=data["embedded"] is True,
            unprotected=_whole(data["unprotected"]),
            note=_stored_name(data["note"], "note") if data["note"] else "",
            previous=str(data["previous"]),
            column=str(data.get("column", "")),
        )


_KEYS = {each.name for each in fields(LedgerEntry)} - {"cohort", "people", "column"} | {"who"}


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
    if not is_visible(text):
        raise InputError(
            f"{what} with characters that cannot be seen", value=text, remedy="remove them"
        )
    return text


def _stored_name(value: object, what: str) -> str:
    """Read a name that was recorded: what is refused today may have been accepted then."""
    if isinstance(value, str) and value.strip() and value.isprintable():
        return value
    raise FileError(f"no {what} in an entry", value=value, remedy="restore the ledger")


def read_known(value: object, known: Iterable[str], what: str, *, new: bool = False) -> str:
    """Read a name, but not one that only looks like a known one, or that mixes alphabets.

    Such a slip, or trick, would begin a new history. A `new` name may look as it likes.
    """
    name = read_name(value, what)
    names = tuple(known)
    if new or name in names:
        return name
    noun, looks = "item" if what == "about" else what, name_skeletons(name)
    for other in names:
        if not looks.isdisjoint(name_skeletons(other)):
            raise InputError(
                f"{noun} spelt differently from before",
                value=name,
                remedy=f"the ledger has {other!r}, which looks the same; use that spelling, choose "
                f"a different name, or insist that it is another one ({NEW_NAME})",
            )
    if scripts := mixed_scripts(name):
        raise InputError(
            f"{noun} with a word in letters of {' and '.join(map(str.capitalize, scripts))}",
            value=name,
            remedy=f"write it in one alphabet, or insist on it ({NEW_NAME})",
        )
    return name


NEW_NAME = "--new-name, in Python new_name=True"


def read_note(value: object) -> str:
    """Read a remark, which may be empty."""
    return read_name(value, "note") if id_text(value) else ""


def read_time(value: object) -> str:
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


# --- who took part in what ------------------------------------------------------------------------


@dataclass(frozen=True)
class ReleaseHistory:
    """A cohort, or people who took part in the same releases, and these by data item.

    People with the same releases share one account.
    """

    name: str
    people: int | None
    """How many people; None for a cohort, of which that is not known."""
    items: Mapping[str, tuple[LedgerEntry, ...]]


def group_histories(
    entries: Sequence[LedgerEntry], cohort: str | None = None, people: Collection[str] | None = None
) -> list[ReleaseHistory]:
    """Group people by release history; cohorts are groups of their own.

    A person of a cohort who is also listed by id is in both: nothing in a ledger joins the two.
    With a `cohort` or the hashes of some `people`, only they are looked at.
    """
    everybody = cohort is None and people is None
    chosen = frozenset(people or ())
    cohorts: dict[str, list[LedgerEntry]] = {}
    taken: dict[str, list[int]] = {}
    for place, entry in enumerate(entries):
        if entry.cohort is not None and (everybody or entry.cohort == cohort):
            cohorts.setdefault(entry.cohort, []).append(entry)
        for digest in entry.people:
            if everybody or digest in chosen:
                taken.setdefault(digest, []).append(place)
    groups: dict[tuple[int, ...], int] = {}
    for listed in taken.values():
        groups[tuple(listed)] = groups.get(tuple(listed), 0) + 1
    found = [ReleaseHistory(name, None, _items(listed)) for name, listed in cohorts.items()]
    for places, number in groups.items():
        theirs = [entries[place] for place in places]
        found.append(ReleaseHistory(people_text(number, theirs), number, _items(theirs)))
    return found


def people_text(number: int, entries: Sequence[LedgerEntry]) -> str:
    """Say how many people, or observations, took part in some releases."""
    if all(entry.is_of_observations for entry in entries):
        return f"{number:,} observation{'s' * (number != 1)}"
    return f"{number:,} {'person' if number == 1 else 'people'}"


def _items(entries: list[LedgerEntry]) -> dict[str, tuple[LedgerEntry, ...]]:
    found: dict[str, list[LedgerEntry]] = {}
    for entry in entries:
        found.setdefault(entry.about, []).append(entry)
    return {about: tuple(listed) for about, listed in found.items()}


def whose_text(
    all_entries: Sequence[LedgerEntry], entry: LedgerEntry, entries: Sequence[LedgerEntry]
) -> str:
    """Say which people of an entry have exactly these entries about its item."""
    took = [
        (each in entries, frozenset(each.people))
        for each in all_entries
        if each.about == entry.about
    ]
    those = [
        number
        for number, digest in enumerate(entry.people, start=1)
        if all((digest in people) == wanted for wanted, people in took)
    ]
    everybody = people_text(len(entry.people), [entry])
    if len(those) == len(entry.people):
        return everybody
    return f"{len(those):,} of the {everybody} (the first is number {those[0]:,})"
