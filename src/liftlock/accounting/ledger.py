"""A ledger of releases: append-only, of people or cohorts, from which accounts are made.

Every entry carries the hash of the one before, so that one that was changed, removed or moved is
noticed when the file is read. Whoever can write the file can also write all of it anew: keep the
`head` of the ledger elsewhere to notice that too. Mechanisms and contexts are kept once each, and
proved again whenever the file is read; of large mechanisms only the proved levels are kept.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

from liftlock.accounting.accounts import Account, account
from liftlock.accounting.entry import Entry, now, read_known, read_note, read_when
from liftlock.accounting.given import a_mechanism, a_path, several
from liftlock.accounting.histories import histories, whose
from liftlock.accounting.release import Release, levels_of
from liftlock.channel import Channel
from liftlock.context import Context, Joint, context_from_data
from liftlock.errors import FileError, InputError, NotComposable
from liftlock.exact.encoding import fingerprint
from liftlock.file_lock import check_one_name, kept_alone
from liftlock.mechanism import Mechanism
from liftlock.notions.notion import Notion
from liftlock.profile_graph import ProfileGraph
from liftlock.salted_ids import SALT_BYTES, id_text, is_missing, new_salt, salted
from liftlock.storage import Stored, check_format, located, read_json, shaped, write_durably

MOST_CELLS = 65_536
"""Of a mechanism with more cells only the proved levels are kept."""
MOST_CONTEXT_CELLS = 1_000_000
"""A larger context does not fit into a ledger."""

_RESTORE = "restore the ledger: its entries are only ever added, never changed"


@dataclass(frozen=True)
class Ledger(Stored):
    """Releases by person or cohort and by data item; nothing in it is ever changed.

    >>> import liftlock as ll
    >>> fair = ll.Prior.uniform(["no", "yes"])
    >>> flip = ll.design(fair, ll.LIP("ln 3/2"), method="binary")
    >>> ledger = Ledger.new().record(flip, who="staff", about="smokes")
    >>> ledger = ledger.record(flip, who="staff", about="smokes")
    >>> print(ledger.account("smokes", who="staff").spent_text())
    after 2 releases lip is 0.916291 nats, eps_lower is 0.916291 nats, ...
    >>> ledger.record(flip, who="staff", about="smokes", limit=ll.LIP("1"))
    Traceback (most recent call last):
    liftlock.errors.NotComposable: release 3 about 'smokes' of 'staff' exceeds lip(1): ...
    """

    FORMAT: ClassVar[str] = "liftlock.ledger"
    VERSION: ClassVar[int] = 1

    salt: bytes
    entries: tuple[Entry, ...] = ()
    contexts: Mapping[str, Context] = field(default_factory=dict)
    mechanisms: Mapping[str, Mechanism] = field(default_factory=dict)
    """The mechanisms that are small enough to be kept, by the key that entries have for them."""

    @classmethod
    def new(cls) -> Ledger:
        """Return an empty ledger with a salt of its own."""
        return cls(new_salt())

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def head(self) -> str:
        """The hash of the last entry: kept elsewhere, it tells if the ledger was written anew."""
        return (
            self.entries[-1].digest if self.entries else fingerprint([self.FORMAT, self.salt.hex()])
        )

    def digest(self, person: object) -> str:
        """Return the salted hash by which a person is known."""
        return salted(self.salt, person)

    # --- adding ---------------------------------------------------------------------------------

    def record(
        self,
        mechanism: Mechanism,
        *,
        who: str | None = None,
        people: Iterable[object] | None = None,
        about: str,
        note: str = "",
        when: str | None = None,
        limit: Notion | None = None,
        under: Context | None = None,
        place: Callable[[int], str] | None = None,
    ) -> Ledger:
        """Return the ledger with one more release, or refuse it if a limit could be exceeded.

        `who` names a cohort, `people` are ids, of which only salted hashes are kept. Releases
        `about` the same item of the same person are releases of the same value. The `limit` is
        checked `under` a context, by default the one that the mechanisms share. `place` says where
        the id of a number (from 0) comes from.
        """
        if isinstance(a_mechanism(mechanism).context, ProfileGraph):
            raise NotComposable(
                "a mechanism for a graph of profiles does not go into this ledger; "
                "liftlock profiles release keeps a ledger of its own (--ledger)"
            )
        if (who is None) == (people is None):
            raise InputError(
                "neither a cohort nor people" if who is None else "both a cohort and people",
                remedy="give who= or people=",
            )
        item = read_known(about, {entry.about for entry in self.entries}, "about")
        cohort = None
        if who is not None:
            known = {entry.cohort for entry in self.entries if entry.cohort is not None}
            cohort = read_known(who, known, "cohort")
        digests = () if people is None else self._digests(people, place)
        self._check_inputs(mechanism, item)
        entry = self._entry(mechanism, cohort, digests, item, note, when)
        added = self._with(entry, mechanism)
        if limit is not None:
            added.refuse_beyond(limit, entry, under)
        return added

    def _entry(
        self,
        mechanism: Mechanism,
        cohort: str | None,
        people: tuple[str, ...],
        about: str,
        note: str,
        when: str | None,
    ) -> Entry:
        certificate = mechanism.certificate
        return Entry(
            len(self.entries) + 1,
            now() if when is None else read_when(when),
            cohort,
            people,
            about,
            certificate.channel,
            certificate.context,
            mechanism.context.describe(),
            certificate.notion,
            dict(certificate.budgets),
            levels_of(mechanism.channel, mechanism.context),
            is_small(mechanism),
            len(certificate.unprotected),
            read_note(note),
            self.head,
        )

    def _with(self, entry: Entry, mechanism: Mechanism) -> Ledger:
        context = mechanism.context
        if _context_cells(context) > MOST_CONTEXT_CELLS:
            raise InputError(
                "a context too large for a ledger",
                value=context.describe(),
                remedy=f"it holds at most {MOST_CONTEXT_CELLS:,} cells; merge rare symbols",
            )
        mechanisms = dict(self.mechanisms)
        if entry.embedded:
            mechanisms.setdefault(entry.mechanism, replace(mechanism, origin=None))
        contexts = {**self.contexts, entry.context: self.contexts.get(entry.context, context)}
        return Ledger(self.salt, (*self.entries, entry), contexts, mechanisms)

    def _digests(
        self, people: Iterable[object], place: Callable[[int], str] | None
    ) -> tuple[str, ...]:
        seen: dict[str, int] = {}
        for number, person in enumerate(several(people, "ids of people")):
            digest = self.digest(person)
            usable = not is_missing(person) and id_text(person).isprintable()
            if usable and digest not in seen:
                seen[digest] = number
                continue
            where = f"number {number + 1}" if place is None else place(number)
            if not id_text(person).isprintable():
                raise InputError(
                    "an id with characters that cannot be seen",
                    where=where,
                    value=id_text(person),
                    remedy="remove them: with them it is somebody else's id",
                )
            if is_missing(person):
                raise InputError(
                    "a person without an id",
                    where=where,
                    value=id_text(person) or None,
                    remedy="give every person an id",
                )
            raise InputError(
                "a person given twice",
                where=where,
                value=person,
                remedy="one release of each person is one entry; two releases are two entries",
            )
        if not seen:
            raise InputError("no people", remedy="give at least one id")
        return tuple(seen)

    def _check_inputs(self, mechanism: Mechanism, about: str) -> None:
        """Refuse other values under the same name: they would not be the same data."""
        ours = set(mechanism.channel.inputs.labels)
        for entry in self.entries:
            if entry.about != about:
                continue
            known = self.contexts[entry.context].inputs.labels
            if set(known) != ours:
                raise InputError(
                    f"other values than release {entry.number} about {about!r} had",
                    value=sorted(map(str, ours - set(known) or set(known) - ours))[:4],
                    remedy="releases about one item accept the same values; name another item",
                )
            return

    # --- looking --------------------------------------------------------------------------------

    def releases(self, entries: Iterable[Entry]) -> list[Release]:
        """Return what accountants know of some entries."""
        return [
            entry.release(self.contexts[entry.context], self.mechanisms.get(entry.mechanism))
            for entry in entries
        ]

    def history(
        self, about: str, *, who: str | None = None, person: object = None
    ) -> tuple[Entry, ...]:
        """Return the entries about an item, of a cohort or of a person."""
        item = id_text(about)
        if (who is None) == (person is None):
            raise InputError("neither a cohort nor a person, or both", remedy="give one of them")
        name = None if who is None else id_text(who)
        digest = None if person is None else self.digest(person)
        return tuple(
            entry
            for entry in self.entries
            if entry.about == item
            and (entry.cohort == name if name is not None else digest in set(entry.people))
        )

    def account(
        self,
        about: str,
        *,
        who: str | None = None,
        person: object = None,
        under: Context | None = None,
    ) -> Account:
        """Account for all releases about an item, of a cohort or of a person.

        `under` is a context to account under instead of the one that the mechanisms share.
        """
        entries = self.history(about, who=who, person=person)
        if not entries:
            them = f"cohort {id_text(who)!r}" if who is not None else f"person {id_text(person)!r}"
            items = dict.fromkeys(entry.about for entry in self.entries)
            raise InputError(
                f"nothing was released of {them}",
                value=about,
                remedy=f"names are compared as written; the ledger is about {list(items)[:4]}",
            )
        return account(self.releases(entries), under, impossible="ignore")

    def refuse_beyond(self, limit: Notion, entry: Entry, under: Context | None = None) -> None:
        """Refuse a limit that could be exceeded for anybody whom an entry concerns."""
        accounts: dict[tuple[str, ...], Account] = {}
        for history in histories(self.entries):
            if entry.about not in history.items or entry not in history.items[entry.about]:
                continue
            entries = history.items[entry.about]
            key = tuple(sorted(each.mechanism for each in entries))
            if key not in accounts:
                accounts[key] = account(self.releases(entries), under, impossible="ignore")
            accounts[key].refuse_unforeseen(limit)
            if not accounts[key].allows(limit):
                them = repr(history.name) if entry.cohort else whose(self.entries, entry, entries)
                what = f"release {len(entries)} about {entry.about!r} of {them}"
                accounts[key].refuse_beyond(limit, what)

    # --- files ----------------------------------------------------------------------------------

    def content(self) -> dict[str, Any]:
        """Return the JSON form without format and version."""
        return {
            "salt": self.salt.hex(),
            "contexts": {key: context.to_data() for key, context in self.contexts.items()},
            "mechanisms": {
                key: {
                    "channel": mechanism.channel.to_data(),
                    "context": mechanism.context.fingerprint,
                    "certificate": mechanism.certificate.to_data(),
                }
                for key, mechanism in self.mechanisms.items()
            },
            "entries": [entry.to_data() for entry in self.entries],
            "head": self.head,
        }

    @classmethod
    def from_content(cls, data: dict[str, Any]) -> Ledger:
        """Read the content: check the chain, and prove every mechanism again."""
        salt = bytes.fromhex(data["salt"])
        if len(salt) < SALT_BYTES:
            raise FileError("a ledger without its salt", value=len(salt), remedy=_RESTORE)
        contexts = {str(k): context_from_data(v) for k, v in data["contexts"].items()}
        entries = tuple(Entry.from_data(entry) for entry in data["entries"])
        mechanisms = {
            str(key): Mechanism.from_content(
                {
                    "channel": stored["channel"],
                    "context": data["contexts"][stored["context"]],
                    "certificate": stored["certificate"],
                }
            )
            for key, stored in data["mechanisms"].items()
        }
        found = cls(salt, entries, contexts, mechanisms)
        found._check(data.get("head"))
        return found

    def _check(self, head: object) -> None:
        before = Ledger(self.salt).head
        for number, entry in enumerate(self.entries, start=1):
            if entry.number != number or entry.previous != before:
                raise FileError(
                    "an entry was changed, removed or moved before this one",
                    where=f"entry {number}",
                    remedy=_RESTORE,
                )
            before = entry.digest
            self._check_kept(entry)
        if head != before:
            raise FileError(
                "the last entries were changed or removed",
                where=f"entry {len(self.entries)}",
                remedy=_RESTORE,
            )

    def _check_kept(self, entry: Entry) -> None:
        """Refuse a mechanism or context that is not the one that the entry speaks of."""
        where = f"entry {entry.number}"
        context = self.contexts.get(entry.context)
        if context is None or context.fingerprint != entry.context:
            raise FileError("the context of an entry is another", where=where, remedy=_RESTORE)
        mechanism = self.mechanisms.get(entry.mechanism)
        if mechanism is None:
            if entry.embedded:
                raise FileError("the mechanism of an entry is gone", where=where, remedy=_RESTORE)
            return
        kept = mechanism.certificate
        same = (
            (kept.channel, kept.context, kept.notion)
            == (entry.channel, entry.context, entry.notion)
            and dict(kept.budgets) == entry.budgets
            and levels_of(mechanism.channel, mechanism.context) == entry.levels
        )
        if not same:
            raise FileError("the mechanism of an entry is another", where=where, remedy=_RESTORE)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the ledger onto the disk; an interrupted write leaves the old one whole.

        Entries are only ever added: a file that holds others is not replaced.
        """
        place = a_path(path)
        check_one_name(place)
        if place.exists():
            self._check_continues(place)
        # What it lists is released next: it must not be lost if the power fails then.
        write_durably(place, self.to_json() + "\n")

    def _check_continues(self, place: Path) -> None:
        """Refuse to write over a ledger whose entries are not our first ones."""
        data = read_json(place)
        with located(place), shaped():
            check_format(data, self.FORMAT, self.VERSION)
            stored = data["entries"]
            number = len(stored)
            last = stored[-1]["number"] if stored else 0
            ours = self.entries[number - 1].digest if 0 < number <= len(self) else None
            begun = bytes.fromhex(data["salt"]) == self.salt
            kept = begun and (number == 0 or (last == number and data["head"] == ours))
        if not kept:
            raise FileError(
                "the file holds a release that this ledger lacks",
                where=str(place),
                remedy="record in it: with Ledger.opened(path) as ledger",
            )

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Ledger:
        """Read a ledger that exists, and check it."""
        return super().load(a_path(path))

    @classmethod
    @contextmanager
    def opened(cls, path: str | os.PathLike[str]) -> Iterator[Ledger]:
        """Read a ledger, or begin one, and keep others from using it until it is saved.

        Two releases at the same time could each find that the limit allows one more.
        """
        with kept_alone(a_path(path)) as place:
            yield cls.load(place) if place.exists() else cls.new()


def is_small(mechanism: Mechanism) -> bool:
    """Tell whether a mechanism is kept whole."""
    channel = mechanism.channel
    if isinstance(channel, Channel):
        return len(channel.inputs) * len(channel.outputs) <= MOST_CELLS
    return len(channel.inputs) <= MOST_CELLS


def _context_cells(context: Context) -> int:
    if isinstance(context, Joint):
        return len(context.secrets) * len(context.inputs)
    priors = getattr(context, "priors", (context,))
    return len(priors) * len(context.inputs)
