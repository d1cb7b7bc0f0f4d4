"""Mechanisms that were kept beside a survey, so that they need not be designed again.

``health.mechanisms/`` beside ``health.yaml`` has a file for each mechanism, named by the sha256 of
its bytes, and an index that says what each was made for. Nothing of this is believed: a file that
is read must have the bytes that its name says, is proved again, and must promise what is asked.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from liftlock._runtime.storage import errors_at, parse_json, read_text, write_atomically
from liftlock.collect.survey.context import Population
from liftlock.errors import FileError
from liftlock.exact.fingerprint import fingerprint

if TYPE_CHECKING:
    from liftlock.collect.survey.question import Level, Question
    from liftlock.mechanism import Mechanism

FORMAT, VERSION = "liftlock.kept-mechanisms", 1
INDEX = "index.json"


def purpose(question: Question, population: Population, level: Level) -> str:
    """Return the sha256 of all that a mechanism depends on.

    Not of what is merely said of the question, which may be corrected without a new design.
    """
    told = {"method": question.method, "utility": question.utility, "file": question.file}
    context = None if population.context is None else population.context.fingerprint
    return fingerprint(
        [
            "kept-mechanism",
            question.kind,
            question.name if question.kind == "number" else "",
            question.values.to_data(),
            {} if question.domain is None else question.domain.content(),
            [question.answer.of, question.panel is not None],
            {name: value for name, value in told.items() if value is not None},
            [context, population.group, level.name, level.notion.guarantee],
        ]
    )


@dataclass(frozen=True)
class KeptMechanisms:
    """The mechanisms that a folder has, by what they are for."""

    folder: Path | None
    digests: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def beside(cls, survey: str) -> KeptMechanisms:
        """Look for the folder of a survey file."""
        if not survey:
            return cls(None)
        folder = Path(survey).with_suffix(".mechanisms")
        index = folder / INDEX
        if not index.is_file():
            return cls(folder)
        data = parse_json(read_text(index), index)
        known = isinstance(data, dict) and data.get("format") == FORMAT
        if not known or data.get("version") != VERSION or not isinstance(data["mechanisms"], dict):
            raise FileError(
                "not an index of kept mechanisms",
                where=str(index),
                remedy="delete the folder: the mechanisms will be designed again",
            )
        return cls(folder, {str(key): str(digest) for key, digest in data["mechanisms"].items()})

    def find(
        self, question: Question, population: Population, level: Level
    ) -> tuple[bytes, Mechanism] | None:
        """Return the bytes of a mechanism and what they say, proved again; None if it has none.

        A file that the question names is read itself: it may have been changed since.
        """
        if question.file is not None:
            return None
        digest = self.digests.get(purpose(question, population, level))
        raw = None if digest is None else self.read(digest)
        if digest is None or raw is None:
            return None
        path = Path(self.place(digest))
        if hashlib.sha256(raw).hexdigest() != digest:
            raise FileError(
                "a kept mechanism was changed",
                where=str(path),
                remedy="delete it: it will be designed again",
            )
        from liftlock.mechanism import Mechanism

        with errors_at(path):
            made = Mechanism.from_data(parse_json(raw.decode("utf-8"), path))
        context = population.context_for(question.values)
        if made.notion != level.notion or made.context.fingerprint != context.fingerprint:
            raise FileError(
                "a kept mechanism promises something else",
                where=str(path),
                value=made.guarantee,
                remedy=f"delete the folder: the index is wrong, and {level.notion} is asked for",
            )
        return raw, made

    def place(self, digest: str) -> str:
        """Say where a mechanism is kept."""
        return f"{digest}.json" if self.folder is None else str(self.folder / f"{digest}.json")

    def read(self, digest: str) -> bytes | None:
        """Return the bytes of a mechanism, None if they are not there."""
        path = Path(self.place(digest))
        return path.read_bytes() if self.folder is not None and path.is_file() else None


def keep_mechanisms(folder: Path, made: Iterable[tuple[str, str, bytes]]) -> None:
    """Write mechanisms, given with their purpose and digest, and then the index of them."""
    folder.mkdir(exist_ok=True)
    index: dict[str, str] = {}
    for key, digest, raw in made:
        path = folder / f"{digest}.json"
        if not path.is_file():
            write_atomically(path, raw.decode("utf-8"))
        index[key] = digest
    data = {"format": FORMAT, "version": VERSION, "mechanisms": index}
    write_atomically(folder / INDEX, json.dumps(data, indent=1) + "\n")
