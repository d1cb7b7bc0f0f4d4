"""A ledger: an append-only record of releases about people, observations or cohorts.

Every entry carries the hash of the one before, so reading the file detects entries that were
changed, removed or moved. A writer of the file can still rewrite all of it: keep the `head` of the
ledger elsewhere to detect that too. Mechanisms and contexts are stored once each and proved again
whenever the file is read; of large mechanisms only the proved levels are stored.

An observation of a graph of profiles is released once: no sum of budgets bounds a second release.
Ids are stored as salted hashes, so a ledger names nobody; but a holder of the file can test whether
a known id is in it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

from liftlock._runtime.storage import (
    StoredObject,
    check_format,
    errors_at,
    exclusive_access,
    malformed_data_errors,
    read_json,
    refuse_changes,
    refuse_hard_links,
    write_durably,
)
from liftlock.accounting.account import Account, account, protect_together
from liftlock.accounting.composition import NO_RULE, ONCE, second_release_error
from liftlock.accounting.ledger_entry import (
    LedgerEntry,
    group_histories,
    now,
    read_known,
    read_note,
    read_time,
    whose_text,
)
from liftlock.accounting.release import LeakageLevels, Release, column_names
from liftlock.accounting.salted_ids import (
    SALT_BYTES,
    id_look,
    id_text,
    is_missing,
    new_salt,
    salted_hash,
)
from liftlock.accounting.skeleton import is_visible
from liftlock.errors import FileError, InputError, NotComposable, NotDefined
from liftlock.exact.fingerprint import fingerprint
from liftlock.mechanism import Mechanism, require_mechanism
from liftlock.model import Conditional, Context, Joint, ProfileGraph, context_from_data
from liftlock.model._checks import require_list, require_path
from liftlock.model.channel import Channel
from liftlock.notions.base import Notion

OBSERVATION = "observation"
"""The item that a release of observations is about, if nothing else is said."""

MOST_CELLS = 65_536
"""Of a mechanism with more cells only the proved levels are kept."""
MOST_CONTEXT_CELLS = 1_000_000
"""A larger context does not fit into a ledger."""

_OBSERVATIONS = "liftlock.profile-ledger"
"""The format of ledgers that only held observations: their ids, mechanisms and guarantees."""
_RESTORE = "restore the ledger: its entries are only ever added, never changed"
_GUARANTEE = re.compile(r"^([\w-]+)\((.*)\)$")


@dataclass(frozen=True)
class Ledger(StoredObject):
    """Releases by person, observation or cohort and by data item; nothing in it is ever changed.

    Source: 000 Thm 4; 004 Obs 13.

    >>> import liftlock as ll
    >>> fair = ll.Prior.uniform(["no", "yes"])
    >>> flip = ll.design(fair, ll.LIP("ln 3/2"), method="binary")
    >>> ledger = Ledger.new().record(flip, who="staff", about="smokes")
    >>> ledger = ledger.record(flip, who="staff", about="smokes")
    >>> print(ledger.account("smokes", who="staff").loss_text())
    after 2 releases lip is 0.916291 nats, eps_lower is 0.916291 nats, ...
    >>> ledger.record(flip, who="staff", about="smokes", limit=ll.LIP("1"))
    Traceback (most recent call last):
    liftlock.errors.NotComposable: release 3 about 'smokes' of 'staff' exceeds lip(1): ...
    """

    FORMAT: ClassVar[str] = "liftlock.ledger"
    VERSION: ClassVar[int] = 2
    FORMER: ClassVar[tuple[int, ...]] = (1,)

    salt: bytes
    entries: tuple[LedgerEntry, ...] = ()
    contexts: Mapping[str, Context] = field(default_factory=dict)
    mechanisms: Mapping[str, Mechanism] = field(default_factory=dict)
    """The mechanisms that are small enough to be kept, by the key that entries have for them."""
    as_written: bool = False
    """Whether ids are known by their text and not by their look, as in files of version 1."""

    @classmethod
    def new(cls) -> Ledger:
        """Return an empty ledger with a new salt."""
        return cls(new_salt())

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def head(self) -> str:
        """The hash of the last entry: kept elsewhere, it tells if the ledger was written anew."""
        if self.entries:
            return self.entries[-1].digest
        how = [] if self.as_written else ["ids by look"]
        return fingerprint([self.FORMAT, self.salt.hex(), *how])

    @property
    def version(self) -> int:
        """The version it is written in: hashes of ids cannot be made anew."""
        return 1 if self.as_written else self.VERSION

    @property
    def cohorts(self) -> tuple[str, ...]:
        """The names of the cohorts, in the order in which they came."""
        return tuple(dict.fromkeys(e.cohort for e in self.entries if e.cohort is not None))

    @property
    def items(self) -> tuple[str, ...]:
        """The data items that releases were about, in the order in which they came."""
        return tuple(dict.fromkeys(entry.about for entry in self.entries))

    @property
    def people(self) -> frozenset[str]:
        """The salted hashes of everybody who is listed by id."""
        return frozenset(digest for entry in self.entries for digest in entry.people)

    def digest(self, person: object) -> str:
        """Return the salted hash by which a person is known."""
        return salted_hash(self.salt, person, as_written=self.as_written)

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
        new_name: bool = False,
        same_value: bool = False,
        insist: bool = False,
    ) -> Ledger:
        """Return the ledger with one more release, or refuse it if a limit could be exceeded.

        `who` names a cohort, `people` are ids (of observations, in a graph of profiles), of which
        only salted hashes are kept. Releases `about` the same item of the same person are releases
        of the same value. The `limit` is checked `under` a context, by default the one that the
        mechanisms share. `place` says where the id of a number (from 0) comes from. A name that
        looks like a known one, or that mixes alphabets, is refused unless it is a `new_name`; a
        mechanism for another column than the item had, unless that holds the `same_value`.

        Releases that add up to more than 10 nats protect nothing: without a `limit`, which says how
        much is meant, they are refused, unless you `insist`.

        An observation of a graph of profiles is released once, unless a `limit` is given that all
        its releases together keep.
        """
        require_mechanism(mechanism)
        if (who is None) == (people is None):
            raise InputError(
                "neither a cohort nor people" if who is None else "both a cohort and people",
                remedy="give who= or people=",
            )
        if is_unaccounted(mechanism):
            divided = mechanism.person is not None and mechanism.person.mode == "divide"
            raise divided_error(about) if divided else several_error(about)
        item = read_known(about, self.items, "about", new=new_name)
        cohort = None if who is None else read_known(who, self.cohorts, "cohort", new=new_name)
        once = limit is None and isinstance(mechanism.context, ProfileGraph)
        before = [entry for entry in self.entries if once and entry.about == item]
        where = place or (lambda number: f"number {number + 1}")
        digests = () if people is None else self._digests(people, mechanism, before, where)
        for entry in before:
            if cohort is not None and entry.cohort == cohort:
                raise _second_release_error(f"{cohort!r} was released before", mechanism, entry)
        self._check_inputs(mechanism, item)
        if not same_value:
            self._check_column(mechanism, item)
        entry = self._entry(mechanism, cohort, digests, item, note, when)
        added = self._append(entry, mechanism)
        if limit is not None:
            added.refuse_beyond(limit, entry, under)
        elif not insist:
            added.refuse_useless(entry, under)
        return added

    def _digests(
        self,
        ids: Iterable[object],
        mechanism: Mechanism,
        before: Sequence[LedgerEntry],
        where: Callable[[int], str],
    ) -> tuple[str, ...]:
        """Return the salted hashes; refuse ids that are none, twice, or in an entry before."""
        released = {digest: entry for entry in before for digest in entry.people}
        seen: list[str] = []
        looks: dict[str, str] = {}
        for number, identity in enumerate(require_list(ids, "ids of people")):
            digest, text, look = self.digest(identity), id_text(identity), id_look(identity)
            twice = looks.get(look) == text
            if is_missing(identity) or not is_visible(text) or twice or digest in released:
                before_it = released.get(digest)
                raise _id_error(identity, where(number), mechanism, before_it, twice=twice)
            if look in looks or self._looks_known(digest, text, look):
                raise _look_error(text, where(number), looks.get(look))
            looks[look] = text
            seen.append(digest)
        if not seen:
            raise InputError("no people", remedy="give at least one id")
        return tuple(seen)

    def _looks_known(self, digest: str, text: str, look: str) -> bool:
        """Tell whether an id looks like one of a ledger that knows ids by their text."""
        if not self.as_written or text == look:
            return False
        return digest not in self.people and self.digest(look) in self.people

    def _entry(
        self,
        mechanism: Mechanism,
        cohort: str | None,
        people: tuple[str, ...],
        about: str,
        note: str,
        when: str | None,
    ) -> LedgerEntry:
        certificate = mechanism.certificate
        kept = _is_kept(mechanism.context)
        return LedgerEntry(
            len(self.entries) + 1,
            now() if when is None else read_time(when),
            cohort,
            people,
            about,
            certificate.channel,
            certificate.context if kept else "",
            mechanism.context.describe(),
            certificate.notion,
            dict(certificate.budgets),
            Release.of(mechanism).levels(mechanism.context),
            kept and is_small(mechanism),
            len(certificate.unprotected),
            read_note(note),
            self.head,
            "" if self.as_written else column_names(mechanism),
        )

    def _append(self, entry: LedgerEntry, mechanism: Mechanism) -> Ledger:
        mechanisms, contexts = dict(self.mechanisms), dict(self.contexts)
        if entry.embedded:
            mechanisms.setdefault(entry.mechanism, replace(mechanism, origin=None))
        if entry.context:
            contexts.setdefault(entry.context, mechanism.context)
        return replace(
            self, entries=(*self.entries, entry), contexts=contexts, mechanisms=mechanisms
        )

    def _check_inputs(self, mechanism: Mechanism, about: str) -> None:
        """Refuse other values under the same name: they would not be the same data."""
        if isinstance(mechanism.context, ProfileGraph):
            return  # of each observation there is one release
        given = isinstance(mechanism.context, Conditional)
        ours = set((mechanism.context if given else mechanism.channel).inputs.labels)
        for entry in self.entries:
            if entry.about != about or not entry.context:
                continue
            known = self.contexts[entry.context].inputs.labels
            if set(known) != ours:
                raise InputError(
                    f"other values than release {entry.number} about {about!r} had",
                    value=sorted(map(str, ours - set(known) or set(known) - ours))[:4],
                    remedy="releases about one item accept the same values; name another item",
                )
            return

    def _check_column(self, mechanism: Mechanism, about: str) -> None:
        """Refuse a mechanism for another column: its value would be counted as the same."""
        column = column_names(mechanism)
        for entry in self.entries:
            if column and entry.about == about and entry.column not in ("", column):
                raise InputError(
                    f"release {entry.number} about {about!r} was by a mechanism for the column "
                    f"{entry.column!r}, this one is for another",
                    value=column,
                    remedy="different values are different items: name another one; if both "
                    "columns hold the same value, say so (--same-value, in Python same_value=True)",
                )

    # --- looking --------------------------------------------------------------------------------

    def releases(self, entries: Iterable[LedgerEntry]) -> list[Release]:
        """Return what accountants know of some entries."""
        return [
            entry.release(self.contexts.get(entry.context), self.mechanisms.get(entry.mechanism))
            for entry in entries
        ]

    def history(
        self, about: str, *, who: str | None = None, person: object = None
    ) -> tuple[LedgerEntry, ...]:
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
            raise InputError(
                f"nothing was released of {them}",
                value=about,
                remedy=f"check the spelling; the ledger is about {list(self.items[:4])}",
            )
        return account(self.releases(entries), under, reading="same", impossible="ignore")

    def refuse_beyond(
        self, limit: Notion, entry: LedgerEntry, under: Context | None = None
    ) -> None:
        """Refuse a limit that could be exceeded for anybody whom an entry concerns."""
        accounts: dict[tuple[str, ...], Account] = {}
        people = None if entry.cohort else entry.people
        for history in group_histories(self.entries, entry.cohort, people):
            entries = history.items[entry.about]
            key = tuple(sorted(each.mechanism for each in entries))
            if key not in accounts:
                accounts[key] = account(
                    self.releases(entries), under, reading="same", impossible="ignore"
                )
            accounts[key].refuse_newly_unprotected(limit)
            if not accounts[key].allows(limit):
                them = (
                    repr(history.name) if entry.cohort else whose_text(self.entries, entry, entries)
                )
                what = f"release {len(entries)} about {entry.about!r} of {them}"
                accounts[key].refuse_beyond(limit, what)

    def refuse_useless(self, entry: LedgerEntry, under: Context | None = None) -> None:
        """Refuse an entry after which somebody's releases protect nothing together."""
        people = None if entry.cohort else entry.people
        seen: set[tuple[str, ...]] = set()
        for history in group_histories(self.entries, entry.cohort, people):
            entries = history.items[entry.about]
            key = tuple(sorted(each.mechanism for each in entries))
            releases = self.releases(entries)
            if key in seen or len(entries) < 2 or protect_together(releases, under):
                continue
            seen.add(key)
            found = account(releases, under, reading="same", impossible="ignore")
            found.refuse_useless(f"release {len(entries)} about {entry.about!r}")

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
    def from_data(cls, data: Any) -> Ledger:
        """Read the JSON form, also of a ledger that only held observations."""
        if not isinstance(data, dict) or data.get("format") != _OBSERVATIONS:
            return super().from_data(data)
        check_format(data, _OBSERVATIONS, 1)
        with malformed_data_errors():
            found = cls(_read_salt(data["salt"]), as_written=True)
            for told in data["releases"]:
                entry = _read_observations_entry(told, len(found) + 1, found.head)
                found = replace(found, entries=(*found.entries, entry))
        return found

    @classmethod
    def from_content(cls, data: dict[str, Any]) -> Ledger:
        """Read the content: check the chain, and prove every mechanism again."""
        salt = _read_salt(data["salt"])
        contexts = {str(k): context_from_data(v) for k, v in data["contexts"].items()}
        entries = tuple(LedgerEntry.from_data(entry) for entry in data["entries"])
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
        found = cls(salt, entries, contexts, mechanisms, as_written=data["version"] == 1)
        found._check(data.get("head"))
        return found

    def _check(self, head: object) -> None:
        before = replace(self, entries=()).head
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

    def _check_kept(self, entry: LedgerEntry) -> None:
        """Refuse a mechanism or context that is not the one that the entry speaks of."""
        where = f"entry {entry.number}"
        if not entry.context and not entry.embedded:
            return
        context = self.contexts.get(entry.context)
        if context is None or context.fingerprint != entry.context:
            raise FileError("the context of an entry is another", where=where, remedy=_RESTORE)
        mechanism = self.mechanisms.get(entry.mechanism)
        if mechanism is None and entry.embedded:
            raise FileError("the mechanism of an entry is gone", where=where, remedy=_RESTORE)
        computed = replace(entry, context_kind=context.describe())
        if mechanism is not None:
            kept = mechanism.certificate
            computed = replace(
                computed,
                channel=kept.channel,
                notion=kept.notion,
                budgets=dict(kept.budgets),
                levels=Release.of(mechanism).levels(mechanism.context),
                embedded=True,
                unprotected=len(kept.unprotected),
            )
        refuse_changes(entry.to_data(), computed.to_data(), f"entries[{entry.number - 1}]")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the ledger onto the disk; an interrupted write leaves the old one whole.

        Entries are only ever added: a file that holds others is not replaced.
        """
        place = require_path(path)
        refuse_hard_links(place)
        if place.exists():
            self._check_continues(place)
        # What it lists is released next: it must not be lost if the power fails then.
        write_durably(place, self.to_json() + "\n")

    def _check_continues(self, place: Path) -> None:
        """Refuse to write over a ledger whose entries are not our first ones."""
        data = read_json(place)
        with errors_at(place), malformed_data_errors():
            if isinstance(data, dict) and data.get("format") == _OBSERVATIONS:
                data = Ledger.from_data(data).to_data()
            check_format(data, self.FORMAT, *self.FORMER, self.VERSION)
            stored = data["entries"]
            number = len(stored)
            last = stored[-1]["number"] if stored else 0
            ours = self.entries[number - 1].digest if 0 < number <= len(self) else None
            begun = (bytes.fromhex(data["salt"]), data["version"]) == (self.salt, self.version)
            kept = begun and (number == 0 or (last == number and data["head"] == ours))
        if not kept:
            raise FileError(
                "the file holds a release that this ledger lacks",
                where=str(place),
                remedy="record in it: with Ledger.open(path) as ledger",
            )

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Ledger:
        """Read a ledger that exists, and check it."""
        return super().load(require_path(path))

    @classmethod
    @contextmanager
    def open(cls, path: str | os.PathLike[str]) -> Iterator[Ledger]:
        """Read a ledger, or begin one, and keep others from using it until it is saved.

        Two releases at the same time could each find that the limit allows one more.
        """
        with exclusive_access(require_path(path)) as place:
            yield cls.load(place) if place.exists() else cls.new()


def _look_error(text: str, where: str, like: str | None) -> InputError:
    """Return the refusal of an id that looks like another one, here or in the ledger."""
    other = "one that the ledger has" if like is None else repr(like)
    return InputError(
        f"an id that looks like {other}",
        where=where,
        value=text,
        remedy="write the id of a person in one way; if they are two people, give one of them an "
        "id that looks different",
    )


def _id_error(
    identity: object,
    where: str,
    mechanism: Mechanism,
    before: LedgerEntry | None,
    *,
    twice: bool,
) -> InputError | NotComposable:
    """Return what is wrong with an id: none, given twice, in an entry before, or invisible."""
    observations = isinstance(mechanism.context, ProfileGraph)
    if not is_missing(identity) and not is_visible(id_text(identity)):
        return InputError(
            "an id with characters that cannot be seen",
            where=where,
            value=id_text(identity),
            remedy="remove them: with them it is somebody else's id",
        )
    if is_missing(identity):
        noun = "an observation" if observations else "a person"
        every = "observation a separate id" if observations else "person an id"
        return InputError(
            f"{noun} without an id",
            where=where,
            value=id_text(identity) or None,
            remedy=f"give every {every}",
        )
    if observations:
        known = "is given twice" if twice else "was released before"
        what = f"{identity!r} at {where} {known}"
        return _second_release_error(what, mechanism, None if twice else before)
    return InputError(
        "a person given twice",
        where=where,
        value=identity,
        remedy="one release of each person is one entry; two releases are two entries",
    )


def _second_release_error(
    what: str, mechanism: Mechanism, before: LedgerEntry | None = None
) -> NotComposable:
    """Refuse a second release; what both lose is known only if they are by the same mechanism."""
    certificate = mechanism.certificate
    now = certificate.channel, certificate.guarantee
    told = None if before is None else (before.channel, before.certified)
    if told is None or told == now:
        reason = second_release_error([mechanism, mechanism])
        return NotComposable(f"{what}: {reason}", reason.together)
    return NotComposable(
        f"{what} by mechanism {told[0][:16]}, {told[1]}, which differs from "
        f"{now[0][:16]}, {now[1]}: {NO_RULE}, and what the two lose together is not known; {ONCE}"
    )


def _read_observations_entry(told: Any, number: int, previous: str) -> LedgerEntry:
    """Return the entry of a release in a ledger that only held observations."""
    guarantee = _GUARANTEE.match(str(told["guarantee"]))
    if guarantee is None:
        raise FileError("not a guarantee", where=f"release {number}", value=told["guarantee"])
    budgets = dict(part.split("=", 1) for part in guarantee[2].split(", "))
    return LedgerEntry(
        number,
        "",
        None,
        tuple(bytes.fromhex(digest).hex() for digest in told["digests"]),
        OBSERVATION,
        str(told["mechanism"]),
        "",
        "a graph of profiles",
        guarantee[1],
        budgets,
        LeakageLevels(None, None, None, None),
        embedded=False,
        unprotected=0,
        note="",
        previous=previous,
    )


def _read_salt(text: Any) -> bytes:
    salt = bytes.fromhex(text)
    if len(salt) < SALT_BYTES:
        raise FileError("a ledger without its salt", value=len(salt), remedy=_RESTORE)
    return salt


def is_small(mechanism: Mechanism) -> bool:
    """Tell whether a mechanism is kept whole."""
    channel = mechanism.channel
    if isinstance(channel, Channel):
        return len(channel.inputs) * len(channel.outputs) <= MOST_CELLS
    return len(channel.inputs) <= MOST_CELLS


def is_unaccounted(mechanism: Mechanism) -> bool:
    """Tell whether a ledger would account for a part only of what a mechanism tells.

    What holds for whoever does not see a given value is no guarantee of another secret.
    """
    rule, context = mechanism.person, mechanism.context
    unseen = context.whole if isinstance(context, Conditional) else None
    several = any(each.context != unseen for each in mechanism.also)
    return several or (rule is not None and rule.mode == "divide")


def several_error(about: str) -> NotDefined:
    """Say that entries have one context each."""
    return NotDefined(
        "an account of several guarantees",
        f"{about!r}, which has several",
        "a ledger adds up what is told of one secret: release it without --ledger, or by a "
        "mechanism with one guarantee",
    )


def divided_error(about: str) -> NotDefined:
    """Say that entries are one release of a value each."""
    return NotDefined(
        "an account of rows that share a budget",
        f"{about!r}, of which a person has several",
        "a ledger holds one release of a value: give each person one report (--per-person repeat)",
    )


def _is_kept(context: Context) -> bool:
    """Tell whether a context is kept; without a graph observations are still counted once."""
    if _context_cells(context) <= MOST_CONTEXT_CELLS:
        return True
    if isinstance(context, ProfileGraph):
        return False
    raise InputError(
        "a context too large for a ledger",
        value=context.describe(),
        remedy=f"it holds at most {MOST_CONTEXT_CELLS:,} cells; merge rare symbols",
    )


def _context_cells(context: Context) -> int:
    if isinstance(context, Conditional):
        return len(context) * len(context.secrets) * len(context.inputs)
    if isinstance(context, Joint | ProfileGraph):
        return len(context.secrets) * len(context.inputs)
    priors = getattr(context, "priors", (context,))
    return len(priors) * len(context.inputs)
