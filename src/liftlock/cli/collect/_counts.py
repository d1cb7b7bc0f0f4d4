"""What was reported to a survey: from its store, or from the server that has it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from liftlock.cli.collect._place import PlaceOptions, chosen
from liftlock.collect.survey import Survey

Numbers = Mapping[str, Sequence[int]]
"""How often each output was reported, by the digest of the mechanism."""


@dataclass(frozen=True)
class Found:
    """The counts of each collection that has any, and the collections that are still open."""

    counts: Mapping[str, Numbers]
    open: tuple[str, ...] = ()


def read_counts(
    survey: Survey,
    path: Path,
    place: PlaceOptions,
    questions: Sequence[str] = (),
) -> Found:
    """Read the counts of a survey, or of some of its questions."""
    names = chosen(survey, questions)
    with place.open(path) as curator:
        known = curator.collections()
        there = [name for name in names if name in known]
        counts = {name: curator.counts(name).mechanisms for name in there}
        still = tuple(name for name in there if known[name].state == "open")
    return Found(counts, still)
