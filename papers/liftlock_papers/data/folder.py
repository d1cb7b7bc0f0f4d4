"""Where the data sets are: a folder that holds their files, in folders of their own or not."""

from __future__ import annotations

import csv
import gzip
import hashlib
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from liftlock import InputError


@dataclass(frozen=True)
class DataSet:
    """A public data set, and the files that it may come in."""

    key: str
    title: str
    files: tuple[tuple[str, ...], ...]
    """What is needed: for each part, the names it may have, the preferred ones first."""
    source: str
    """Who publishes it."""


ADULT = DataSet(
    "adult",
    "Adult",
    (("adult.data", "adult.data.gz"),),
    "UCI Machine Learning Repository, Adult",
)
STUDENTS = DataSet(
    "student_performance",
    "Student Performance",
    (("student-mat.csv",),),
    "UCI Machine Learning Repository, Student Performance",
)
SALARIES = DataSet(
    "baltimore_salaries",
    "Baltimore City Employee Salaries FY2019",
    (("baltimore_fy2019.csv", "Baltimore_City_Employee_Salaries_FY2019.csv"),),
    "Open Baltimore, Baltimore City Employee Salaries FY2019",
)
KOSARAK = DataSet(
    "kosarak",
    "Kosarak",
    (("kosarak.dat", "kosarak.dat.gz", "kosarak_item_clicks_ge991.csv"),),
    "Frequent Itemset Mining Dataset Repository, kosarak",
)
GOWALLA = DataSet(
    "gowalla",
    "Gowalla",
    (
        (
            "loc-gowalla_totalCheckins.txt",
            "loc-gowalla_totalCheckins.txt.gz",
            "world1000_checkins.csv.gz",
        ),
    ),
    "Stanford Large Network Dataset Collection, loc-gowalla",
)
SETS: Mapping[str, DataSet] = {
    each.key: each for each in (ADULT, STUDENTS, SALARIES, KOSARAK, GOWALLA)
}


class Absent(InputError):
    """A data set is not in the folder."""


def _usual_places() -> tuple[Path, ...]:
    checkout = Path(__file__).resolve().parents[3]
    return (Path("../shared/data"), checkout.parent / "shared/data")


@dataclass(frozen=True)
class DataFolder:
    """The folder that the user gave, or else the usual one."""

    given: Path | None = None
    _sums: dict[Path, str] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.given is not None and not self.given.is_dir():
            raise InputError(
                "this folder of data sets does not exist",
                where=str(self.given),
                remedy="give a folder that holds, for example, adult/adult.data",
            )

    def files(self, key: str) -> list[Path]:
        """Return the files of a data set, one for each part; say what is missing."""
        wanted = SETS[key]
        places = (self.given,) if self.given is not None else _usual_places()
        found = []
        for names in wanted.files:
            candidates = [
                folder / name
                for name in names
                for place in places
                for folder in (place / key, place)
            ]
            path = next((path for path in candidates if path.is_file()), None)
            if path is None:
                raise Absent(
                    f"the data set {wanted.title} is not there",
                    where="" if self.given is None else str(self.given),
                    remedy=f"get it ({wanted.source}) and put {names[0]} "
                    f"into DIR/{key}, then --data DIR",
                )
            found.append(path)
        return found

    def has(self, key: str) -> bool:
        """Say whether a data set is there."""
        try:
            self.files(key)
        except Absent:
            return False
        return True

    def sums(self, key: str) -> dict[str, str]:
        """Return the SHA-256 of each file of a data set, by name."""
        found = {}
        for path in self.files(key):
            if path not in self._sums:
                with path.open("rb") as file:
                    self._sums[path] = hashlib.file_digest(file, "sha256").hexdigest()
            found[path.name] = self._sums[path]
        return found


@contextmanager
def open_text(path: Path) -> Iterator[IO[str]]:
    """Open a file that may be packed; what cannot be read is refused by its name."""
    packed = path.suffix == ".gz"
    try:
        with (
            gzip.open(path, "rt", encoding="utf-8-sig", newline="")
            if packed
            else path.open(encoding="utf-8-sig", newline="")
        ) as file:
            yield file
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(
            "not a text file", where=path.name, value=str(error), remedy="get the file again"
        ) from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(
            "incomplete gzip file", where=path.name, value=str(error), remedy="get the file again"
        ) from None


def refused(what: str, path: Path, line: int, value: object, key: str) -> InputError:
    """Return the error for a line that is not as the data set is published."""
    wanted = SETS[key]
    return InputError(
        what,
        where=f"{path.name}, line {line}",
        value=value,
        remedy=f"give the file as it is published ({wanted.source})",
    )


def refused_whole(what: str, path: Path, key: str) -> InputError:
    """Return the error for a file that does not hold what the data set holds."""
    remedy = f"give the file as it is published ({SETS[key].source})"
    return InputError(what, where=path.name, remedy=remedy)
