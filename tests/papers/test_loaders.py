"""Files that are not as their data set is published: refused by name and line, never guessed."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from liftlock import InputError
from liftlock_papers.data import DataFolder
from liftlock_papers.data.adult import read_adult
from liftlock_papers.data.baltimore_salaries import read_salaries
from liftlock_papers.data.gowalla import read_check_ins
from liftlock_papers.data.kosarak import read_clicks
from liftlock_papers.data.student_performance import read_students

ADULT = "39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, Male, 2174, 0, 40, United-States, <=50K\n"  # noqa: E501
STUDENTS = 'school;sex;G1;G3\n"GP";"F";"5";6\n'
SALARIES = "NAME,JOBTITLE,GROSS\nA,clerk,1000.50\n"
SESSIONS = "1 2 3\n1\n"
TOTALS = "item,clicks\n6,601374\n3,450031\n"
CHECK_INS = (
    "0\t2010-10-19T23:55:27Z\t30.2359\t-97.7951\t22847\n"
    "0\t2010-10-18T22:17:43Z\t30.2691\t-97.7493\t420315\n"
)

Read = Callable[[DataFolder], Any]
GOOD: dict[str, tuple[Read, str]] = {
    "adult.data": (read_adult, ADULT),
    "student-mat.csv": (read_students, STUDENTS),
    "baltimore_fy2019.csv": (read_salaries, SALARIES),
    "kosarak.dat": (read_clicks, SESSIONS),
    "kosarak_item_clicks_ge991.csv": (read_clicks, TOTALS),
    "loc-gowalla_totalCheckins.txt": (read_check_ins, CHECK_INS),
}
PACKED = ("adult.data", "kosarak.dat", "loc-gowalla_totalCheckins.txt")
BAD = [
    ("adult.data", ADULT + "39, x\n", "line 2"),
    ("adult.data", ADULT.replace("Not-in-family", ""), "line 1"),
    ("adult.data", ",".join(reversed(ADULT.strip().split(","))) + "\n", "line 1"),
    ("student-mat.csv", STUDENTS + "GP;F;5\n", "line 3"),
    ("student-mat.csv", STUDENTS + "GP;F;5;21\n", "line 3"),
    ("student-mat.csv", "school;G3;G3\nGP;1;2\n", "line 1"),
    ("baltimore_fy2019.csv", SALARIES + "B,clerk,$1,000.50\n", "line 3"),
    ("baltimore_fy2019.csv", SALARIES + "Doe, John,clerk,5\n", "line 3"),
    ("baltimore_fy2019.csv", SALARIES + 'B,clerk,"1.000,50"\n', "line 3"),
    ("baltimore_fy2019.csv", SALARIES + "B,clerk,1_000\n", "line 3"),
    ("kosarak.dat", SESSIONS + "4 -2\n", "line 3"),
    ("kosarak.dat", SESSIONS + "4 1_0\n", "line 3"),
    ("kosarak_item_clicks_ge991.csv", TOTALS + "6,1000\n", "line 4"),
    ("kosarak_item_clicks_ge991.csv", TOTALS + "7,-5\n", "line 4"),
    ("kosarak_item_clicks_ge991.csv", "item,clicks\n", "no pages"),
    ("loc-gowalla_totalCheckins.txt", CHECK_INS + "1\tyesterday\t30.0\t-97.0\t9\n", "line 3"),
    (
        "loc-gowalla_totalCheckins.txt",
        CHECK_INS + "1\t2010-10-18T22:17:43Z\tnan\t7\t9\n",
        "line 3",
    ),
    ("loc-gowalla_totalCheckins.txt", CHECK_INS + '1\t"2010\t30.0\t-97.0\t9\n', "line 3"),
    ("loc-gowalla_totalCheckins.txt", CHECK_INS.split("\n")[0] + "\n", "no user with an earlier"),
]


def read(folder: Path, name: str, text: str | bytes) -> Any:
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return GOOD[name.removesuffix(".gz")][0](DataFolder(folder))


@pytest.mark.parametrize("name", GOOD)
def test_line_ends_empty_lines_and_marks_change_nothing(tmp_path: Path, name: str) -> None:
    plain = repr(read(tmp_path, name, GOOD[name][1]))
    windows = "\ufeff" + GOOD[name][1].replace("\n", "\r\n") + "\r\n\r\n"
    assert repr(read(tmp_path, name, windows)) == plain


@pytest.mark.parametrize(("name", "text", "where"), BAD)
def test_what_is_wrong_is_named(tmp_path: Path, name: str, text: str, where: str) -> None:
    with pytest.raises(InputError, match=where) as refusal:
        read(tmp_path, name, text)
    assert name in str(refusal.value)
    assert "as it is published" in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("name", GOOD)
@pytest.mark.parametrize("content", [b"", b"\n\n", b"\xff\xfe\x00a\n1\n"])
def test_an_empty_file_and_another_encoding_are_refused(
    tmp_path: Path, name: str, content: bytes
) -> None:
    with pytest.raises(InputError, match=name):
        read(tmp_path, name, content)


@pytest.mark.parametrize("name", PACKED)
def test_a_broken_archive_is_refused(tmp_path: Path, name: str) -> None:
    whole = gzip.compress(GOOD[name][1].encode() * 50)
    assert read(tmp_path, f"{name}.gz", whole) is not None
    for content in (b"no archive", whole[: len(whole) // 2]):
        with pytest.raises(InputError, match=r"incomplete gzip file"):
            read(tmp_path, f"{name}.gz", content)
