"""Tables whose rows tell more than their columns, and what a row tells, in fractions from raw rows.

Nothing here uses the library: a mechanism is read from the JSON of its file, a table is a list of
dicts. What a published row tells of a secret is

    P(s | k, y) / P(s)       against the population, and
    P(s | k, y) / P(s | k)   beyond what the kept cells k tell alone,

with the y of one mechanism, or of several that draw independently.
"""

from __future__ import annotations

import csv
import math
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

Row = dict[str, str]


# --- tables ---------------------------------------------------------------------------------------


def xor(rows: int = 4000, seed: int = 1) -> list[Row]:
    """The code is hiv xor team: by itself it says nothing, beside the team it says all."""
    draw = random.Random(seed)
    found = []
    for _ in range(rows):
        hiv, team = draw.random() < 0.5, draw.random() < 0.5
        found.append({"hiv": str(int(hiv)), "team": "ab"[team], "code": str(int(hiv != team))})
    return found


def sites(rows: int = 4000, seed: int = 2) -> list[Row]:
    """Two sites code the secret the other way round, in 90 % of their rows."""
    draw = random.Random(seed)
    found = []
    for _ in range(rows):
        hiv, site = draw.random() < 0.5, draw.random() < 0.5
        told = hiv if draw.random() < 0.9 else not hiv
        found.append(
            {"hiv": "yes" if hiv else "no", "site": "NS"[site], "code": "uv"[told != site]}
        )
    return found


def clinic(rows: int = 4000, seed: int = 3) -> list[Row]:
    """A clinic of its own for one or two patients in 49 % of the rows: there it gives hiv away."""
    draw = random.Random(seed)
    found = []
    for row in range(rows):
        hiv = draw.random() < 0.3
        rare = row % 100 < 49
        # Rare clinics are of two kinds: those for hiv, and those for all else.
        name = f"{'h' if hiv else 'g'}{row // 2}" if rare else draw.choice("ABCDE")
        dept = draw.choices("abcd", [5, 3, 2, 1] if hiv else [1, 2, 3, 5])[0]
        found.append({"clinic": name, "hiv": str(int(hiv)), "dept": dept})
    return found


def hospital(rows: int = 8000, seed: int = 4) -> list[Row]:
    """Departments whose link to hiv differs from region to region."""
    draw = random.Random(seed)
    departments = ["surgery", "infection", "dental", "eyes", "heart"]
    found = []
    for _ in range(rows):
        region = draw.choices(["north", "east", "south", "west"], [4, 3, 2, 1])[0]
        hiv = draw.random() < {"north": 0.08, "east": 0.12, "south": 0.18, "west": 0.25}[region]
        usual = [5, 1, 3, 2, 4]
        where = {"north": 1, "east": 2, "south": 3, "west": 0}[region]
        weights = [w * (6 if hiv and at == where else 1) for at, w in enumerate(usual)]
        department = draw.choices(departments, weights)[0]
        age = str(draw.randint(18, 90))
        found.append(
            {
                "region": region,
                "age": age,
                "hiv": "positive" if hiv else "negative",
                "department": department,
            }
        )
    return found


TABLES: dict[str, Callable[[], list[Row]]] = {
    "xor": xor,
    "sites": sites,
    "clinic": clinic,
    "hospital": hospital,
}


def write_csv(path: Path, rows: Sequence[Row]) -> Path:
    """Write a table as a CSV."""
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def read_csv(path: Path) -> list[Row]:
    """Read a table back."""
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


# --- what a row tells -----------------------------------------------------------------------------


class Extremes(NamedTuple):
    """The smallest and the largest ratio of beliefs; None: no end (a division by 0 cannot be)."""

    smallest: Fraction
    largest: Fraction

    @property
    def eps_lower(self) -> float:
        return math.inf if not self.smallest else -math.log(self.smallest)

    @property
    def eps_upper(self) -> float:
        return math.log(self.largest)


class RowLifts(NamedTuple):
    """What a row (kept cells, released value) tells of a secret."""

    population: Extremes
    beyond: Extremes
    alone: Extremes
    """What the kept cells tell without the released value."""
    released: Extremes
    """What the released value tells without the kept cells."""


Law = Mapping[Any, Fraction]
"""How likely each output is."""


def row_lifts(
    rows: Sequence[Mapping[str, Any]],
    secret: str | Callable[[Mapping[str, Any]], Any],
    kept: Sequence[str],
    law: Callable[[Mapping[str, Any]], Law],
) -> RowLifts:
    """Compute from raw rows what (kept, y) tells; `law` is the distribution of y given a row.

    >>> table = xor(400)
    >>> found = row_lifts(table, "hiv", ["team"], lambda row: {row["code"]: Fraction(1)})
    >>> found.beyond.smallest, found.alone.largest < 2
    (Fraction(0, 1), True)
    """
    read = secret if callable(secret) else lambda row: row[secret]
    joint: Counter[tuple[Any, ...]] = Counter()
    laws: dict[Any, Law] = {}
    for row in rows:
        given = law(row)
        mark = tuple(sorted(((repr(y), y, p) for y, p in given.items()), key=lambda each: each[0]))
        key = tuple((each[0], each[2]) for each in mark)
        laws[key] = given
        joint[read(row), tuple(row[name] for name in kept), key] += 1
    total = sum(joint.values())
    of_secret: Counter[Any] = Counter()
    of_kept: Counter[Any] = Counter()
    of_both: Counter[Any] = Counter()
    seen: dict[tuple[Any, Any, Any], Fraction] = {}
    for (s, k, key), count in joint.items():
        of_secret[s] += count
        of_kept[k] += count
        of_both[s, k] += count
        for y, chance in laws[key].items():
            if chance:
                seen[s, k, y] = seen.get((s, k, y), Fraction(0)) + chance * count
    of_row: dict[tuple[Any, Any], Fraction] = {}
    of_report: dict[Any, Fraction] = {}
    of_told: dict[tuple[Any, Any], Fraction] = {}
    for (s, k, y), mass in seen.items():
        of_row[k, y] = of_row.get((k, y), Fraction(0)) + mass
        of_report[y] = of_report.get(y, Fraction(0)) + mass
        of_told[s, y] = of_told.get((s, y), Fraction(0)) + mass
    population, beyond, alone, released = [], [], [], []
    for s, count in of_secret.items():
        base = Fraction(count, total)
        for (k, y), mass in of_row.items():
            belief = seen.get((s, k, y), Fraction(0)) / mass
            population.append(belief / base)
            if of_both[s, k]:
                beyond.append(belief / Fraction(of_both[s, k], of_kept[k]))
        for k, size in of_kept.items():
            alone.append(Fraction(of_both[s, k], size) / base)
        for y, mass in of_report.items():
            released.append(of_told.get((s, y), Fraction(0)) / mass / base)
    return RowLifts(
        *(Extremes(min(each), max(each)) for each in (population, beyond, alone, released))
    )


def law_of_file(data: Mapping[str, Any]) -> Callable[[str], Law]:
    """Read the channel of a mechanism's JSON: from the text of a cell to its law of outputs.

    For mechanisms of one column of categories without rules for rare or missing values.
    """
    channel = data["channel"]
    bits = int(channel["bits"])
    table = {
        str(_label(label)): {
            _label(output): Fraction(int(weight), 1 << bits)
            for output, weight in zip(_labels(channel["outputs"]), row, strict=True)
        }
        for label, row in zip(_labels(channel["inputs"]), channel["weights"], strict=True)
    }
    return lambda cell: table[cell]


def law_of_given_file(data: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], Law]:
    """Read the channel of a mechanism that uses columns that stay: from a row to its law.

    Rows hold the cells as they are, or the band where a given column is cut into bands.
    """
    channel, context = data["channel"], data["context"]
    bits = int(channel["bits"])
    outputs = [_label(output) for output in _labels(channel["outputs"])]
    table = {
        (_label(group), str(_label(x))): {
            y: Fraction(int(weight), 1 << bits) for y, weight in zip(outputs, row, strict=True)
        }
        for (group, x), row in zip(_labels(channel["inputs"]), channel["weights"], strict=True)
    }
    listed = [_label(label) for label in context["given"]]
    group_of = dict(zip(listed, (listed[at] for at in context["groups"]), strict=True))
    names = [column["name"] for column in data["given"]["columns"]]
    released = data["column"]["name"]

    def law(row: Mapping[str, Any]) -> Law:
        cells = tuple(row[name] for name in names)
        key = cells if len(cells) > 1 else cells[0]
        return table[group_of.get(key, "(other)"), str(row[released])]

    return law


def _labels(data: Any) -> list[Any]:
    """Read an alphabet: labels, with coordinates beside them if they are numbers."""
    return list(data["labels"] if isinstance(data, dict) else data)


def _label(data: Any) -> Any:
    return tuple(map(_label, data)) if isinstance(data, list) else data
