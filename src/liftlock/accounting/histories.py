"""Who has what behind them: people with the same history are one group."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from liftlock.accounting.entry import Entry


@dataclass(frozen=True)
class History:
    """A cohort, or people who took part in the same releases, and these by data item."""

    name: str
    people: int | None
    """How many people; None for a cohort, of which that is not known."""
    items: Mapping[str, tuple[Entry, ...]]


def histories(
    entries: Sequence[Entry], cohort: str | None = None, people: Collection[str] | None = None
) -> list[History]:
    """Group people by what they took part in; cohorts are groups of their own.

    A person of a cohort who is also listed by id is in both: nothing in a ledger joins the two.
    With a `cohort` or the hashes of some `people`, only they are looked at.
    """
    everybody = cohort is None and people is None
    chosen = frozenset(people or ())
    cohorts: dict[str, list[Entry]] = {}
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
    found = [History(name, None, _items(listed)) for name, listed in cohorts.items()]
    for places, number in groups.items():
        noun = "person" if number == 1 else "people"
        theirs = [entries[place] for place in places]
        found.append(History(f"{number:,} {noun}", number, _items(theirs)))
    return found


def _items(entries: list[Entry]) -> dict[str, tuple[Entry, ...]]:
    found: dict[str, list[Entry]] = {}
    for entry in entries:
        found.setdefault(entry.about, []).append(entry)
    return {about: tuple(listed) for about, listed in found.items()}


def whose(all_entries: Sequence[Entry], entry: Entry, entries: Sequence[Entry]) -> str:
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
    everybody = f"{len(entry.people):,} {'person' if len(entry.people) == 1 else 'people'}"
    if len(those) == len(entry.people):
        return everybody
    return f"{len(those):,} of the {everybody} (the first is number {those[0]:,})"
