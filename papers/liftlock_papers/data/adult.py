"""The Adult data as UCI publishes it: no header, fields separated by a comma and a space."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from liftlock import Alphabet, InputError, Joint
from liftlock_papers.data.folder import DataFolder, open_text

COLUMNS = 15
OCCUPATION, RELATIONSHIP = 6, 7
RAREST = "Other-relative"
"""The rarest of the six relationships. Paper 002 has five, and its numbers are those without it."""


def read_adult(folder: DataFolder, *, without: tuple[str, ...] = ()) -> Joint:
    """Return relationship (the secret) against occupation (the data), as counts.

    A missing occupation, written `?`, is a value like any other: only with it are there fifteen.
    Rows with one of the relationships in `without` are left out.
    """
    (path,) = folder.files("adult")
    return _joint(count_pairs(path), without)


def count_pairs(path: Path) -> Counter[tuple[str, str]]:
    """Count relationship and occupation, row by row; empty lines at the end are no rows."""
    found = Counter[tuple[str, str]]()
    with open_text(path) as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            fields = [field.strip() for field in line.split(",")]
            if len(fields) != COLUMNS:
                raise InputError(
                    f"a row of Adult has {COLUMNS} fields",
                    where=f"{path.name}, line {number}",
                    value=len(fields),
                    remedy="give adult.data as UCI publishes it",
                )
            found[fields[RELATIONSHIP], fields[OCCUPATION]] += 1
    if not found:
        raise InputError("no rows", where=path.name, remedy="give adult.data as UCI publishes it")
    return found


def _joint(found: Counter[tuple[str, str]], without: tuple[str, ...]) -> Joint:
    secrets = sorted({secret for secret, _ in found} - set(without))
    inputs = sorted({value for _, value in found})
    rows = [[found[secret, value] for value in inputs] for secret in secrets]
    return Joint.from_rows(Alphabet.of(secrets), Alphabet.of(inputs), rows)
