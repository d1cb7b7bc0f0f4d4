"""What was reported to a survey: from its store, its server, or files that were exported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from liftlock._runtime.storage import parse_json, read_text
from liftlock.cli.collect._place import PlaceOptions, chosen
from liftlock.collect.store.export import FORMAT, VERSION
from liftlock.collect.survey import Survey
from liftlock.errors import FileError, InputError

if TYPE_CHECKING:
    from liftlock.collect.survey import Collection

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
    files: Sequence[Path],
    place: PlaceOptions,
    questions: Sequence[str] = (),
) -> Found:
    """Read the counts of a survey, or of some of its questions; files are added up."""
    names = chosen(survey, questions)
    if files:
        return Found(add_exports(files, {name: survey.collections()[name] for name in names}))
    with place.open(path) as curator:
        known = curator.collections()
        there = [name for name in names if name in known]
        counts = {name: curator.counts(name).mechanisms for name in there}
        still = tuple(name for name in there if known[name].state == "open")
    return Found(counts, still)


def add_exports(
    files: Sequence[Path], collections: Mapping[str, Collection]
) -> dict[str, dict[str, list[int]]]:
    """Add up what several servers have exported; other questions in the files are left out."""
    total: dict[str, dict[str, list[int]]] = {}
    for place, path in enumerate(files):
        if path in files[:place]:
            raise FileError(
                "a file of counts is given twice",
                where=str(path),
                remedy="give each export once: counts are added up",
            )
        for line in _lines(path):
            collection = collections.get(str(line.get("collection")))
            if collection is None:
                continue
            digest, number = str(line.get("mechanism")), line.get("reports_not_answers")
            known = collection.mechanisms.get(digest)
            if known is None:
                raise InputError(
                    "counts of another mechanism",
                    where=str(path),
                    value=digest,
                    remedy="estimate with the survey that the reports were collected for",
                )
            labels = [str(label) for label in known.mechanism.table.outputs.labels]
            if line.get("output") not in labels or not isinstance(number, int) or number < 0:
                raise FileError("not a count of an output", where=str(path), value=line)
            numbers = total.setdefault(collection.name, {}).setdefault(digest, [0] * len(labels))
            numbers[labels.index(str(line["output"]))] += number
    return total


def _lines(path: Path) -> list[dict[str, Any]]:
    """Read an export in JSON."""
    data = parse_json(read_text(path), path) if path.suffix.lower() == ".json" else None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise FileError(
            "not an export in JSON",
            where=str(path),
            remedy="write it by liftlock collect export SURVEY -o FILE.json",
        )
    lines = data.get("lines")
    if data.get("version") != VERSION or not isinstance(lines, list):
        raise FileError("an export of another version", where=str(path), value=data.get("version"))
    return [line if isinstance(line, dict) else {} for line in lines]
