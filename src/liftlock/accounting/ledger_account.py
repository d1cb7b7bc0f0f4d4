"""The accounts of all people in a ledger, and the cost of one more release."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from liftlock.accounting.account import Account, account, combine_accounts
from liftlock.accounting.accountants.base import PrivacyLoss
from liftlock.accounting.ledger import Ledger
from liftlock.accounting.ledger_entry import LedgerEntry, ReleaseHistory, group_histories
from liftlock.accounting.readings import Reading, ReadingKind
from liftlock.accounting.release import Release
from liftlock.accounting.salted_ids import id_text
from liftlock.errors import InputError, listed
from liftlock.mechanism import Mechanism, require_mechanism
from liftlock.model import Context, ProfileGraph
from liftlock.model._checks import require_list


@dataclass(frozen=True)
class ItemAccount:
    """The account of one data item of one group, and the cost of one more release."""

    about: str
    entries: tuple[LedgerEntry, ...]
    account: Account
    one_more: Mapping[str, Account]
    """The account after one more release, by the name of the mechanism."""


@dataclass(frozen=True)
class GroupAccount:
    """All accounts of one group; `together` bounds all its items at once, if there are several."""

    history: ReleaseHistory
    items: tuple[ItemAccount, ...]
    together: PrivacyLoss | None
    reading: Reading
    """What different items are read as."""


@dataclass(frozen=True)
class Overlap:
    """What somebody has spent on an item who is in a cohort and is listed by id too, at most."""

    about: str
    cohort: str
    account: Account | None
    """None if there are too many pairs of a cohort and a group of people."""

    def most(self) -> float:
        """Return the leakage by which overlaps are compared."""
        found = self.account
        names = [name for name in ("lip", "ldp") if found is not None and name in found]
        return float(found[names[0]]) if found is not None and names else 0.0

    def __str__(self) -> str:
        spent = "not accounted for" if self.account is None else self.account.loss_text()
        return (
            f"whoever is in the cohort {self.cohort!r} and listed by id has spent both on "
            f"{self.about!r}, at most: {spent}"
        )


_MOST_OVERLAPS = 100
"""More pairs of a cohort and a group of people are not accounted for."""


class LedgerAccount:
    """The accounts of everybody in a ledger; equal histories are accounted for once.

    `under` is a context to account under, `one_more` the mechanisms of a next release (by default
    those that were used before), `about` the only item to look at, `who` the only cohort, and
    `people` the ids of the only persons. Who is not in the ledger is refused. Different items of a
    person are different values, whatever they have in common, unless they are `independent`.
    """

    def __init__(
        self,
        ledger: Ledger,
        under: Context | None = None,
        one_more: Mapping[str, Mechanism] | None = None,
        about: str | None = None,
        *,
        who: str | None = None,
        people: Iterable[object] | None = None,
        place: Callable[[int], str] | None = None,
        independent: bool = False,
    ) -> None:
        if not isinstance(ledger, Ledger):
            raise InputError(
                "not a ledger", value=str(ledger)[:40], remedy="give Ledger.load(path)"
            )
        if one_more is not None and not isinstance(one_more, Mapping):
            raise InputError(
                "not mechanisms by their names", value=type(one_more).__name__, remedy="give a dict"
            )
        for name, mechanism in (one_more or {}).items():
            require_mechanism(mechanism, str(name))
        if who is not None and people is not None:
            raise InputError("both a cohort and people", remedy="give who= or people=")
        self.ledger = ledger
        self.about = None if about is None else id_text(about)
        self.who = None if who is None else _cohort(ledger, who)
        self.people = None if people is None else _known_people(ledger, people, place)
        if self.about is not None and not self.entries:
            raise _nothing_error(self)
        self.under = under
        self.reading: ReadingKind = "independent" if independent else "different"
        self.asked = one_more
        self._accounts: dict[tuple[str, ...], Account] = {}

    @cached_property
    def entries(self) -> tuple[LedgerEntry, ...]:
        """The entries that are looked at."""
        return tuple(entry for entry in self.concerning if self.about in (None, entry.about))

    @cached_property
    def concerning(self) -> tuple[LedgerEntry, ...]:
        """The entries of the cohort or of the people that are looked at, about any item."""
        return tuple(
            entry
            for entry in self.ledger.entries
            if (self.who is None or entry.cohort == self.who)
            and (self.people is None or not self.people.isdisjoint(entry.people))
        )

    @cached_property
    def groups(self) -> tuple[GroupAccount, ...]:
        """The accounts of every cohort and of every group of people."""
        found = []
        for history in group_histories(self.ledger.entries, self.who, self.people):
            items = tuple(
                self._item(about, entries)
                for about, entries in history.items.items()
                if self.about in (None, about)
            )
            if not items:
                continue
            together = None
            if len(items) > 1:
                together = combine_accounts([item.account for item in items], self.reading)
            found.append(GroupAccount(history, items, together, Reading(self.reading, len(items))))
        return tuple(found)

    @cached_property
    def overlaps(self) -> tuple[Overlap, ...]:
        """What whoever is in a cohort and listed by id has spent, for each item of both: the most.

        Nothing in a ledger tells whether anybody is.
        """
        cohorts = [group for group in self.groups if group.history.people is None]
        listed = [group for group in self.groups if group.history.people is not None]
        few = len(cohorts) * len(listed) <= _MOST_OVERLAPS
        found: dict[str, list[Overlap]] = {}
        for cohort, people in itertools.product(cohorts, listed):
            for one, other in itertools.product(cohort.items, people.items):
                if one.about == other.about and one.account.headline != "profile":
                    spent = self._account(one.entries + other.entries) if few else None
                    each = Overlap(one.about, cohort.history.name, spent)
                    found.setdefault(one.about, []).append(each)
        return tuple(max(each, key=Overlap.most) for each in found.values())

    def _item(self, about: str, entries: tuple[LedgerEntry, ...]) -> ItemAccount:
        extra = self._known_mechanisms(about) if self.asked is None else self.asked
        more = {
            name: self._account(entries, mechanism)
            for name, mechanism in extra.items()
            if self._fits(mechanism, entries)
        }
        return ItemAccount(about, entries, self._account(entries), more)

    def _known_mechanisms(self, about: str) -> dict[str, Mechanism]:
        """Return the mechanisms that were used for an item before, by a short name."""
        found: dict[str, Mechanism] = {}
        for entry in self.ledger.entries:
            mechanism = self.ledger.mechanisms.get(entry.mechanism)
            if entry.about == about and mechanism is not None:
                found.setdefault(f"{entry.guarantee} {entry.channel[:8]}", mechanism)
        return found

    def _fits(self, mechanism: Mechanism, entries: tuple[LedgerEntry, ...]) -> bool:
        """Tell whether one more release by a mechanism would be one of the same data."""
        context = self.ledger.contexts.get(entries[0].context)
        if context is None:
            return False
        if isinstance(mechanism.context, ProfileGraph) or isinstance(context, ProfileGraph):
            return mechanism.context.fingerprint == context.fingerprint
        return set(mechanism.channel.inputs.labels) == set(context.inputs.labels)

    def _account(self, entries: tuple[LedgerEntry, ...], extra: Mechanism | None = None) -> Account:
        key = tuple(sorted(entry.mechanism for entry in entries))
        if extra is not None:
            certificate = extra.certificate
            key = (*key, "+", certificate.channel, certificate.context, certificate.guarantee)
        if key not in self._accounts:
            releases = self.ledger.releases(entries)
            if extra is not None:
                releases.append(Release.of(extra))
            self._accounts[key] = account(releases, self.under, reading="same", impossible="ignore")
        return self._accounts[key]

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "format": "liftlock.account",
            "version": 1,
            "entries": len(self.ledger),
            "head": self.ledger.head,
            "groups": [
                {
                    "who": group.history.name,
                    "people": group.history.people,
                    "items": [
                        {
                            "about": item.about,
                            "entries": [entry.number for entry in item.entries],
                            **item.account.to_data(),
                            "one_more": {
                                name: after.best_data() for name, after in item.one_more.items()
                            },
                        }
                        for item in group.items
                    ],
                    "together": None
                    if group.together is None
                    else group.together.to_data() | {"read_as": group.reading.to_data()},
                }
                for group in self.groups
            ],
            "overlaps": [
                {
                    "about": each.about,
                    "cohort": each.cohort,
                    "spent": {} if each.account is None else each.account.best_data(),
                }
                for each in self.overlaps
            ],
        }


def _cohort(ledger: Ledger, who: object) -> str:
    name = id_text(who)
    if name not in ledger.cohorts:
        raise InputError("no such cohort in the ledger", value=name, remedy=_contents_text(ledger))
    return name


def _known_people(
    ledger: Ledger, people: Iterable[object], place: Callable[[int], str] | None
) -> frozenset[str]:
    known = ledger.people
    found = set()
    for number, person in enumerate(require_list(people, "ids of people")):
        digest = ledger.digest(person)
        if digest not in known:
            raise InputError(
                "a person who is not in the ledger",
                where="" if place is None else place(number),
                value=person,
                remedy=_contents_text(ledger) + "; ids are compared as written",
            )
        found.add(digest)
    if not found:
        raise InputError("no people", remedy="give at least one id")
    return frozenset(found)


def _contents_text(ledger: Ledger) -> str:
    """Say whom a ledger has."""
    cohorts, number = ledger.cohorts, len(ledger.people)
    words = []
    if cohorts:
        words.append(f"the cohort{'s' * (len(cohorts) != 1)} {listed(cohorts)}")
    if number:
        words.append(f"{number:,} {'person' if number == 1 else 'people'} by id")
    return f"it has {' and '.join(words) or 'nobody'}"


def _nothing_error(found: LedgerAccount) -> InputError:
    items = list(dict.fromkeys(entry.about for entry in found.concerning))
    whose = "" if found.who is None and found.people is None else " of them"
    return InputError(
        f"nothing was released about it{whose}",
        value=found.about,
        remedy=f"the ledger has releases about {listed(items) or 'nothing'}{whose}",
    )
