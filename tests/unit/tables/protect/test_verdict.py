"""Verdicts as data, and the commands that answer their findings."""

from __future__ import annotations

import json
import math
import shlex

import pytest

from liftlock.tables.protect import Finding, LeakRange, Remedy, Verdict

RUN = ("protect", "my table.csv", "--column", "job", "--keep", "pay", "-o", "safe.csv")


def drop(name: str) -> Remedy:
    return Remedy(f"leave {name} out", ("--drop", name), (("--keep", name),))


def broken(*remedies: Remedy) -> Finding:
    return Finding("broken", "too much", "hiv", ("pay",), remedies=remedies)


def verdict(*findings: Finding, command: tuple[str, ...] = RUN) -> Verdict:
    return Verdict("broken", findings, 'lip(1) about "hiv"', 1000, command)


def test_a_command_is_that_which_was_run_with_the_remedies_in_it() -> None:
    text = verdict(broken(drop("pay")), broken(drop("the town"))).command_for()
    assert text == (
        "liftlock protect 'my table.csv' --column job -o safe.csv --drop pay --drop 'the town'"
    )
    assert shlex.split(text)[2] == "my table.csv"


def test_only_what_decides_the_level_is_answered() -> None:
    later = Finding("open", "who knows", remedies=(drop("age"),))
    found = verdict(broken(drop("pay")), later)
    assert "age" not in found.command_for()
    assert "--drop age" in found.command_for([later])


def test_remedies_that_exclude_one_another_are_not_in_one_command() -> None:
    person, other = (Remedy("", ("--person", name), (("--given",),)) for name in ("id", "ward"))
    age = Remedy("", ("--given", "age"))
    found = verdict(
        broken(age, drop("age")), broken(person), broken(other), broken(drop("id")),
        command=(*RUN, "--given", "region"),
    )  # fmt: skip
    assert found.command_for() == shlex.join(
        ["liftlock", *RUN, "--drop", "age", "--person", "id", "--drop", "id"]
    )
    without = verdict(broken(age), broken(drop("age")))
    assert "--drop" not in without.command_for()


@pytest.mark.parametrize(
    ("words", "remove", "left"),
    [
        (("--keep", "a", "--keep", "b"), ("--keep", "a"), ("--keep", "b")),
        (("--keep=a", "--keep", "b"), ("--keep", "a"), ("--keep", "b")),
        (("--joint", "a.csv", "--joint=b.csv", "-o", "c"), ("--joint",), ("-o", "c")),
        (("--keep", "a"), ("--keep", "c"), ("--keep", "a")),
        (("--keep",), ("--keep", "a"), ("--keep",)),
        (("--drop", "--keep"), ("--keep", "x"), ("--drop", "--keep")),
    ],
)
def test_options_are_taken_out_with_their_values(
    words: tuple[str, ...], remove: tuple[str, ...], left: tuple[str, ...]
) -> None:
    found = verdict(command=("protect", *words)).command_with([Remedy("", ("--json",), (remove,))])
    assert shlex.split(found) == ["liftlock", "protect", *left, "--json"]


def test_nothing_is_added_twice() -> None:
    found = verdict(command=("protect", "--drop", "a")).command_with(
        [drop("a"), drop("b"), drop("b"), Remedy("", ("--together",)), Remedy("", ("--together",))]
    )
    assert found == "liftlock protect --drop a --drop b --together"


def test_without_a_command_there_is_none() -> None:
    assert verdict(broken(drop("pay")), command=()).command_for() == ""
    assert verdict(broken(Remedy("shuffle the rows"))).command_for() == ""
    assert verdict(broken()).command_for() == ""


def test_the_data_are_json_without_infinities() -> None:
    leak = LeakRange(math.inf, 0.5)
    finding = Finding(
        "broken", "much", "hiv", ("pay",), leak, None, ("1", None), (drop("pay"),), math.inf
    )
    data = verdict(finding).to_data()
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert data["level"] == "broken"
    assert data["words"] == "not kept"
    (told,) = data["findings"]
    assert told["leak"] == {"eps_lower": "infinity", "eps_upper": 0.5}
    assert told["promised"] == {"lower": "1", "upper": None}
    assert told["remedies"][0]["command"] == data["command"]


def test_lying_outside_is_no_breach() -> None:
    outside = Finding("outside", "region tells something by itself")
    told = Verdict("conditional", (outside,), "lip(1)", 9)
    assert told.proved
    assert not Verdict("conditional", (Finding("open", "who knows"),), "lip(1)", 9).proved
