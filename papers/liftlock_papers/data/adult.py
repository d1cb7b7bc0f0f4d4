"""The Adult data as UCI publishes it: no header, fields separated by a comma and a space."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from liftlock import Alphabet, Joint
from liftlock_papers.data.folder import DataFolder, open_text, refused, refused_whole

KEY = "adult"
ROWS, COLUMNS = 32_561, 15
"""Of the file as UCI publishes it."""
OCCUPATION, RELATIONSHIP = 6, 7
OCCUPATIONS = frozenset(
    {
        *("?", "Adm-clerical", "Armed-Forces", "Craft-repair", "Exec-managerial"),
        *("Farming-fishing", "Handlers-cleaners", "Machine-op-inspct", "Other-service"),
        *("Priv-house-serv", "Prof-specialty", "Protective-serv", "Sales", "Tech-support"),
        "Transport-moving",
    }
)
RELATIONSHIPS = frozenset(
    {"Husband", "Not-in-family", "Other-relative", "Own-child", "Unmarried", "Wife"}
)
RAREST = "Other-relative"
"""The rarest of the six relationships. Paper 002 has five; that it leaves out this one is inferred
from its numbers."""


def read_adult(folder: DataFolder, *, without: tuple[str, ...] = ()) -> Joint:
    """Return relationship (the secret) against occupation (the data), as counts.

    A missing occupation, written `?`, is a value like any other: only with it are there fifteen.
    Rows with one of the relationships in `without` are left out.
    """
    (path,) = folder.files(KEY)
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
                raise refused(
                    f"a row of Adult has {COLUMNS} fields", path, number, len(fields), KEY
                )
            secret, value = fields[RELATIONSHIP], fields[OCCUPATION]
            if secret not in RELATIONSHIPS or value not in OCCUPATIONS:
                raise refused(
                    f"fields {OCCUPATION + 1} and {RELATIONSHIP + 1} are occupation, relationship",
                    path,
                    number,
                    f"{value}, {secret}",
                    KEY,
                )
            found[secret, value] += 1
    if not found:
        raise refused_whole("no rows", path, KEY)
    return found


def _joint(found: Counter[tuple[str, str]], without: tuple[str, ...]) -> Joint:
    secrets = sorted({secret for secret, _ in found} - set(without))
    inputs = sorted({value for _, value in found})
    rows = [[found[secret, value] for value in inputs] for secret in secrets]
    return Joint.from_rows(Alphabet.of(secrets), Alphabet.of(inputs), rows)
