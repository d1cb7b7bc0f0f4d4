"""`liftlock release` of profiles: one column changes, all else stays; nothing is sent twice."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

import liftlock as ll
from liftlock import Channel, InputError, ProfileGraph
from liftlock._runtime.naming import NewFile
from liftlock.notions import ProfilePrivacy
from tests.unit.cli.conftest import Outcome, Run
from tests.unit.cli.profiles.worlds import DESIGN, FILES, TABLE, assert_refused

VALUES = {"low", "mid", "high"}
OF_TABLE = ("--column", "usage", "--profile-column", "user")
RELEASE = ("release", "safe.json", "table.csv", *OF_TABLE)
LEDGER = ("--ledger", "ledger.json", "--id", "id")


@pytest.fixture
def safe(run: Run) -> Run:
    """Run commands where safe.json and table.csv are."""
    by_profile = ["--method", "smooth-categorical", "-o", "safe.json"]
    assert run(*DESIGN, *by_profile, files=FILES).code == 0
    return run


def rows(text: str, mark: str = ",") -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=mark))


def test_one_column_is_replaced(safe: Run) -> None:
    outcome = safe(*RELEASE, "-o", "safe.csv")
    assert (outcome.code, set(outcome.made)) == (0, {"safe.csv"})
    found, before = rows(Path("safe.csv").read_text()), rows(TABLE)
    assert found[0] == ["id", "role", "usage", "comment"]
    assert {row[2] for row in found[1:]} <= VALUES
    assert [row[:2] + row[3:] for row in found] == [[r[0], r[2], r[4]] for r in before]
    assert "guarantee for one observation: profile(budget=1)" in outcome.out
    notes = outcome.err.splitlines()
    assert "add up if they are independent observations: " in notes[0]
    counted = '"ann" has 2, "bob" has 1, "cy" has 1; together they then lose up to 2 x 1 = 2 nats; '
    assert f"{counted}rows that depend on one another can lose more" in notes[0]
    assert "'user' was left out" in notes[1]
    assert "order of the rows" in notes[2]
    assert notes[-1] == "note: written to safe.csv"


def test_everything_else_is_kept_bit_for_bit(safe: Run) -> None:
    raw = (
        b"\xef\xbb\xbf\r\n"
        b'id,"user",usage,"free text"\r\n'
        b'1,ann,low,"two\r\nlines, ""quoted"""\r\n'
        b"\r\n"
        b" 2 , bob ,\thigh ,  kept  \r\n"
        b'3,"cy","mid",""\n'
        b"4,ann,low,\xc3\xa9"
    )
    assert safe(*RELEASE, "--keep-profile", "-o", "safe.csv", files={"table.csv": raw}).code == 0
    found = Path("safe.csv").read_bytes()
    patched = found
    for value in (b"low", b"mid", b"high"):
        patched = patched.replace(b"," + value + b",", b",?,")
    wanted = raw
    for cell in (b"low", b"\thigh ", b'"mid"'):
        wanted = wanted.replace(b"," + cell + b",", b",?,")
    assert patched == wanted
    assert safe(*RELEASE, "-o", "short.csv").code == 0
    short = Path("short.csv").read_bytes()
    assert b"ann" not in short
    assert b'"user"' not in short
    assert short.startswith(b'\xef\xbb\xbf\r\nid,usage,"free text"\r\n1,')
    assert short.endswith(b",\xc3\xa9")


def test_how_a_value_was_written_is_not_kept(run: Run) -> None:
    """Quotation marks or blanks around a value would tell it although it was replaced."""
    graph = ProfileGraph.complete({"a": {"x": 1, "y": 1}, "b": {"x": 1, "y": 1}})
    half = {"x": "0.5", "y": "0.5"}
    coin = Channel.from_rows({"x": half, "y": half})
    table = "usage,n\n" + '"x",1\n' * 40 + " y ,1\n" * 40
    Path("table.csv").write_text(table)
    ll.lock(coin, ProfilePrivacy("0"), graph).save("safe.json")
    arguments = ["safe.json", "table.csv", "--column", "usage", "-o", "safe.csv"]
    outcome = run("release", *arguments)
    assert outcome.code == 0
    assert set(Path("safe.csv").read_text().splitlines()[1:]) == {"x,1", "y,1"}
    said = "add up if they are independent observations: n rows of the same profile then lose up to"
    assert f"{said} n x 0 nats; rows that depend on one another can lose more" in outcome.err


def test_outputs_that_need_quotation_marks(run: Run) -> None:
    graph = ProfileGraph.complete({"a": {"x": 1, "y": 1}, "b": {"x": 1, "y": 1}})
    row = {'one, "two"': 1}
    ll.lock(Channel.from_rows({"x": row, "y": row}), ProfilePrivacy("0"), graph).save("safe.json")
    Path("table.csv").write_text("usage,n\nx,1\n")
    arguments = ["safe.json", "table.csv", "--column", "usage", "-o", "safe.csv"]
    assert run("release", *arguments).code == 0
    assert rows(Path("safe.csv").read_text())[1] == ['one, "two"', "1"]


@pytest.mark.parametrize(("mark", "name"), [(";", "semicolons"), ("|", "bars")])
def test_semicolons(safe: Run, mark: str, name: str) -> None:
    content = "user;usage;more\nann;low;a,b\n".replace(";", mark)
    outcome = safe(*RELEASE, "-o", "safe.csv", files={"table.csv": content})
    assert outcome.code == 0
    assert rows(Path("safe.csv").read_text(), mark)[1][1] == "a,b"
    assert f"separated by {name}" in outcome.err


def test_the_law_of_what_is_released(run: Run) -> None:
    """Values are released with the probabilities of the table; here each must change."""
    graph = ProfileGraph.complete({"a": {0: 1, 1: 1}, "b": {0: 1, 1: 1}})
    swap = Channel.from_rows({0: {0: 0, 1: 1}, 1: {0: 1, 1: 0}})
    ll.lock(swap, ProfilePrivacy("0"), graph).save("safe.json")
    Path("table.csv").write_text("bit\n0\n1\n1\n")
    arguments = ["safe.json", "table.csv", "--column", "bit", "-o", "safe.csv"]
    assert run("release", *arguments).code == 0
    assert Path("safe.csv").read_text() == "bit\n1\n0\n0\n"


def test_values_are_kept_as_often_as_the_table_says(safe: Run) -> None:
    table = "user,usage\n" + "bob,high\n" * 4000
    refused = safe(*RELEASE, "-o", "safe.csv", files={"table.csv": table})
    assert refused.code == 1
    assert 'the 4,000 rows of "bob" lose up to 4000 nats' in refused.err
    assert "--insist" in refused.err
    assert "safe.csv" not in refused.made
    assert safe(*RELEASE, "-o", "safe.csv", "--insist", files={"table.csv": table}).code == 0
    seen = Counter(Path("safe.csv").read_text().splitlines()[1:])
    share = ll.Mechanism.load("safe.json").table.probability(("bob", "high"), "high")
    assert abs(seen["high"] / 4000 - float(share)) < 0.05  # six standard deviations


def test_the_profile_can_be_kept(safe: Run) -> None:
    outcome = safe(*RELEASE, "--keep-profile", "-o", "safe.csv")
    assert "columns of profiles were kept: they say whose each value is" in outcome.err
    assert rows(Path("safe.csv").read_text())[1][1] == "ann"


def test_a_column_of_profiles_is_not_kept_unasked(run: Run) -> None:
    """A shared mechanism needs no profiles, and the table may name them all the same."""
    graph = ProfileGraph.complete({"ann": {"x": 1, "y": 1}, "bob": {"x": 1, "y": 1}})
    half = {"x": "0.5", "y": "0.5"}
    ll.lock(Channel.from_rows({"x": half, "y": half}), ProfilePrivacy("0"), graph).save("safe.json")
    table = {"table.csv": "who,usage\nann,x\nbob,y\n"}
    release = ["release", "safe.json", "table.csv", "--column", "usage"]
    outcome = run(*release, "-o", "safe.csv", files=table)
    assert_refused(outcome, "a column of profiles would be kept", "table.csv: 'who'")
    assert run(*release, "--profile-column", "who", "-o", "safe.csv").code == 0
    assert Path("safe.csv").read_text().startswith("usage\n")
    assert run(*release, "--keep-profile", "-o", "kept.csv").code == 0
    assert Path("kept.csv").read_text().startswith("who,usage\nann,")


def shared(run: Run, table: str) -> Outcome:
    """Release a table by a coin that ignores the profile, ann or Bob."""
    graph = ProfileGraph.complete({"ann": {"x": 1, "Y": 1}, "Bob": {"x": 1, "Y": 1}})
    half = {"x": "0.5", "Y": "0.5"}
    ll.lock(Channel.from_rows({"x": half, "Y": half}), ProfilePrivacy("0"), graph).save("safe.json")
    arguments = ["safe.json", "table.csv", "--column", "usage", "-o", "safe.csv"]
    return run("release", *arguments, files={"table.csv": table})


@pytest.mark.parametrize(
    ("others", "empty", "refused"),
    [(0, 0, True), (2, 0, True), (3, 0, False), (2, 1, False), (1, 10, True), (0, 19, True)],
)
def test_a_column_of_mostly_profiles(run: Run, others: int, empty: int, refused: bool) -> None:
    """20 rows: refused if of the cells that are not empty nine tenths are profiles."""
    who = ["nobody"] * others + [""] * empty
    who += [(" ANN ", "bob")[place % 2] for place in range(20 - len(who))]
    assert refused == (20 - others - empty >= 0.9 * (20 - empty))
    for order in (who, who[::-1]):
        table = "who,usage\n" + "".join(f"{cell},x\n" for cell in order)
        outcome = shared(run, table)
        if refused:
            part = f" (in {20 - others - empty} of {20 - empty} cells)" if others else ""
            assert_refused(outcome, f"a column of profiles{part} would be kept", "'who'")
        else:
            assert outcome.code == 0
            Path("safe.csv").unlink()


def test_an_empty_column_is_no_column_of_profiles(run: Run) -> None:
    assert shared(run, "note,usage\n,x\n,x\n").code == 0


@pytest.mark.parametrize("copied", [["x", "Y", "x"], ["X", " y ", "x"], ['"x"', "Y", '" x"']])
def test_a_copy_of_the_column_is_not_kept(run: Run, copied: list[str]) -> None:
    lines = zip([1, 2, 3], ["x", "Y", "x"], copied, strict=True)
    table = "n,usage,backup\n" + "".join(f"{n},{one},{other}\n" for n, one, other in lines)
    outcome = shared(run, table)
    parts = ["the kept column 'backup' determines the protected column 'usage'", "--drop backup"]
    assert_refused(outcome, *parts)
    arguments = ["safe.json", "table.csv", "--column", "usage", "-o", "safe.csv"]
    assert_refused(run("release", *arguments, "--keep-profile"), *parts)
    assert run("release", *arguments, "--drop", "backup").code == 0
    Path("safe.csv").unlink()
    assert shared(run, table.replace("3,x,", "3,Y,")).code == 0


def test_profiles_without_an_edge(run: Run) -> None:
    files = FILES | {"edges.csv": "from,to\nann,bob\n"}
    assert run(*DESIGN, "-o", "safe.json", files=files).code == 0
    outcome = run(*RELEASE, "-o", "safe.csv")
    assert 'note: no edge, so no promise, for the rows of "cy" (1)' in outcome.err.splitlines()


def test_json(safe: Run) -> None:
    outcome = safe(*RELEASE, "--json", "-o", "safe.csv")
    data = json.loads(outcome.out)
    assert data["rows"] == 4
    assert data["profiles"][0] == {"profile": "ann", "rows": 2}
    assert data["certificate"]["holds"] is True
    assert data["file"] == "safe.csv"


def test_an_existing_output(safe: Run) -> None:
    Path("safe.csv").write_text("precious")
    outcome = safe(*RELEASE, "-o", "safe.csv")
    assert_refused(outcome, "the file exists already at safe.csv", "--force")
    assert Path("safe.csv").read_text() == "precious"
    assert safe(*RELEASE, "--force", "-o", "safe.csv").code == 0
    assert Path("safe.csv").read_text() != "precious"


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["--column", "usage", "-o", "s.csv"], ["uses the profile", "give --profile-column"]),
        (
            ["--column", "use", "--profile-column", "user", "-o", "s.csv"],
            ["no such column", "'use'"],
        ),
        (
            [*OF_TABLE[:3], "who", "-o", "s.csv"],
            ["no such column at table.csv, line 1: 'who'"],
        ),
        ([*OF_TABLE[:3], "usage", "-o", "s.csv"], ["are the same column"]),
        ([*OF_TABLE, "-o", "table.csv"], ["the output would overwrite TABLE at table.csv"]),
        ([*OF_TABLE, "-o", "safe.json", "--force"], ["the output would overwrite MECHANISM"]),
        (
            [*OF_TABLE, "-o", "/dev/null", "--force"],
            ["a device, not a regular file", "go to a file"],
        ),
        (
            [*OF_TABLE, "-o", "s.csv", "--ledger", "/dev/null", "--id", "id"],
            ["a device, not a regular file at /dev/null"],
        ),
        ([*OF_TABLE, "-o", "none/s.csv"], ["no such folder at none"]),
        ([*OF_TABLE], ["Missing option", "-o"]),
        (
            [*OF_TABLE, "-o", "s.csv", "--ledger", "l.json"],
            ["give --who or --id"],
        ),
        ([*OF_TABLE, "-o", "s.csv", "--id", "id"], ["--id goes with --ledger"]),
        ([*OF_TABLE, "-o", "s.csv", "--ledger", "l.json", "--id", "x"], ["no such column", "'x'"]),
        (
            [*OF_TABLE, "-o", "s.csv", "--ledger", "s.csv", "--id", "id"],
            ["the output would overwrite --ledger at s.csv"],
        ),
        (
            [*OF_TABLE, "-o", "s.csv", "--ledger", "table.csv", "--id", "id"],
            ["the ledger would overwrite TABLE at table.csv"],
        ),
    ],
)
def test_refusals(safe: Run, arguments: list[str], parts: list[str]) -> None:
    assert_refused(safe("release", "safe.json", "table.csv", *arguments), *parts)
    assert Path("table.csv").read_text() == TABLE


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ("user,usage\nann,low\ndan,low\n", ["unknown profile at table.csv, line 3, column 1"]),
        ("user,usage\nann,low\nann,idle\n", ["unknown value at table.csv, line 3", "'idle'"]),
        ("user,usage\nann,low\nann,\n", ["no value at table.csv, line 3, column 2 ('usage')"]),
        ("user,usage\n", ["no rows at table.csv"]),
        ("user,usage\nann\n", ["1 cell, but the header has 2 at table.csv, line 2"]),
        ("user,usage,usage\nann,low,low\n", ["column name given twice"]),
        ("", ["empty file at table.csv"]),
        ("{}", ["JSON is not a table"]),
        ('user,usage\nann,"low\n', ["a quotation mark is never closed at table.csv, line 2"]),
        (b"user,usage\nann,\xff\n", ["not UTF-8 at table.csv, line 2"]),
    ],
)
def test_bad_tables(safe: Run, content: str | bytes, parts: list[str]) -> None:
    assert_refused(safe(*RELEASE, "-o", "safe.csv", files={"table.csv": content}), *parts)


def test_other_mechanisms(run: Run) -> None:
    coin = Channel.from_rows({x: {0: "0.5", 1: "0.5"} for x in (0, 1)})
    ll.lock(coin, ll.LIP("0"), ll.Prior.uniform([0, 1])).save("safe.json")
    arguments = ["--column", "usage", "-o", "safe.csv"]
    outcome = run("release", "safe.json", "table.csv", *arguments, files=FILES)
    assert_refused(outcome, "not an input of the mechanism", "'low'; its inputs are 0, 1")
    for option in (["--profile-column", "user"], ["--keep-profile"], ["--impossible", "refuse"]):
        outcome = run("release", "safe.json", "table.csv", *arguments, *option)
        assert_refused(outcome, f"the mechanism knows no profiles: leave out {option[0]}")
    outcome = run("release", "edges.csv", "table.csv", *arguments)
    assert_refused(outcome, "not a mechanism file at edges.csv")
    outcome = run("release", "none.json", "table.csv", *arguments)
    assert_refused(outcome, "no such file at none.json")


def test_a_mechanism_that_was_changed(safe: Run) -> None:
    data = json.loads(Path("safe.json").read_text())
    data["certificate"]["budgets"]["budget"] = "0.01"
    Path("safe.json").write_text(json.dumps(data))
    assert_refused(safe(*RELEASE, "-o", "safe.csv"), "without the guarantee it claims at safe.json")


# --- values that a profile calls impossible -------------------------------------------------------


@pytest.fixture
def partial(run: Run) -> Run:
    graph = ProfileGraph.complete({"ann": {"low": 9, "high": 1}, "bob": {"low": 1, "high": 0}})
    rows = {"low": {"low": "0.6", "high": "0.4"}, "high": {"low": "0.4", "high": "0.6"}}
    notion = ProfilePrivacy("0.1")
    ll.lock(Channel.from_rows(rows), notion, graph, impossible="ignore").save("safe.json")
    return run


def test_values_without_a_guarantee(partial: Run) -> None:
    fine = {"table.csv": "user,usage\nann,high\nbob,low\n"}
    assert partial(*RELEASE, "-o", "safe.csv", files=fine).code == 0
    Path("safe.csv").unlink()
    bad = {"table.csv": "user,usage\nann,high\nbob,high\n"}
    outcome = partial(*RELEASE, "-o", "safe.csv", files=bad)
    assert_refused(outcome, "its profile calls impossible", "table.csv, line 3, column 2 ('usage')")
    without = ["release", "safe.json", "table.csv", "--column", "usage"]
    assert_refused(partial(*without, "-o", "safe.csv"), "give --profile-column to have it checked")
    anonymous = {"table.csv": "usage\nhigh\n"}
    assert partial(*without, "--impossible", "ignore", "-o", "safe.csv", files=anonymous).code == 0


# --- the ledger -----------------------------------------------------------------------------------


def recorded() -> int:
    """Return how many observations the ledger holds."""
    return sum(len(entry.people) for entry in ll.Ledger.load("ledger.json").entries)


def test_a_second_release_is_refused(safe: Run) -> None:
    first = safe(*RELEASE, *LEDGER, "-o", "first.csv")
    assert (first.code, set(first.made)) == (0, {"first.csv", "ledger.json"})
    assert "note: 4 observations recorded in ledger.json" in first.err.splitlines()
    before = Path("ledger.json").read_text()
    made = ll.Mechanism.load("safe.json")
    assert ll.Ledger.load("ledger.json").entries[0].channel == made.channel.fingerprint
    second = safe(*RELEASE, *LEDGER, "-o", "second.csv")
    parts = ["refused: '1' at table.csv, line 2, column 1 ('id') was released before", "no rule"]
    assert_refused(second, *parts, "nats between", code=1)
    assert Path("ledger.json").read_text() == before
    more = FILES["table.csv"].replace("\n1,", "\n11,").replace("\n3,", "\n13,")
    assert_refused(safe(*RELEASE, *LEDGER, "-o", "s.csv", files={"table.csv": more}), "'2'", code=1)
    new = "id,user,usage\n7,ann,low\n8,bob,low\n"
    third = safe(*RELEASE, *LEDGER, "-o", "third.csv", files={"table.csv": new})
    assert third.code == 0
    assert recorded() == 6


def test_an_id_twice_in_a_file(safe: Run) -> None:
    table = {"table.csv": "id,user,usage\n7,ann,low\n8,bob,low\n7,ann,mid\n"}
    outcome = safe(*RELEASE, *LEDGER, "-o", "s.csv", files=table)
    assert_refused(outcome, "refused: '7' at table.csv, line 4", "is given twice", code=1)
    empty = {"table.csv": "id,user,usage\n7,ann,low\n,bob,low\n"}
    outcome = safe(*RELEASE, *LEDGER, "-o", "s.csv", files=empty)
    assert_refused(outcome, "an observation without an id at table.csv, line 3")


@pytest.mark.parametrize("missing", ["  ", "nan", "None", '" "'])
def test_what_is_no_id(safe: Run, missing: str) -> None:
    table = {"table.csv": f"id,user,usage\n7,ann,low\n{missing},bob,low\n"}
    outcome = safe(*RELEASE, *LEDGER, "-o", "s.csv", files=table)
    assert_refused(outcome, "an observation without an id at table.csv, line 3, column 1 ('id')")


def test_ids_are_compared_as_text(safe: Run) -> None:
    table = {"table.csv": "id,user,usage\n1,ann,low\n01,bob,low\n"}
    assert safe(*RELEASE, *LEDGER, "-o", "s.csv", files=table).code == 0
    again = {"table.csv": 'id,user,usage\n2,ann,low\n" 01",bob,low\n'}
    outcome = safe(*RELEASE, *LEDGER, "-o", "t.csv", files=again)
    assert_refused(outcome, "'01' at table.csv, line 3", "was released before", code=1)


def test_a_ledger_under_two_names(safe: Run) -> None:
    Path("real").mkdir()
    Path("link.json").symlink_to("real/ledger.json")
    first = safe(*RELEASE, "--ledger", "link.json", "--id", "id", "-o", "first.csv")
    assert first.code == 0
    again = safe(*RELEASE, "--ledger", "real/ledger.json", "--id", "id", "-o", "second.csv")
    assert_refused(again, "was released before", code=1)
    Path("hard.json").hardlink_to("real/ledger.json")
    again = safe(*RELEASE, "--ledger", "hard.json", "--id", "id", "-o", "second.csv")
    assert_refused(again, "a ledger with 2 names (hard links) at hard.json")


def test_another_ledger_is_not_replaced(safe: Run) -> None:
    assert safe(*RELEASE, *LEDGER, "-o", "s.csv").code == 0
    outcome = safe(*RELEASE, "--force", "-o", "ledger.json")
    assert_refused(outcome, "the output would overwrite a ledger of releases at ledger.json")


def test_a_ledger_in_use(safe: Run) -> None:
    with ll.Ledger.open("ledger.json"):
        assert_refused(safe(*RELEASE, *LEDGER, "-o", "s.csv"), "in use by another release")
    assert safe(*RELEASE, *LEDGER, "-o", "s.csv").code == 0


def test_a_damaged_ledger(safe: Run) -> None:
    outcome = safe(*RELEASE, *LEDGER, "-o", "s.csv", files={"ledger.json": "{}"})
    assert_refused(outcome, "ledger.json")


def test_the_ledger_comes_first(safe: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever fails, nothing is ever outside that is not in the ledger."""
    link = os.link

    def failing(source: str, target: str, **how: Any) -> None:
        if Path(target).name == "s.csv":
            raise OSError(28, "No space left on device")
        link(source, target, **how)

    monkeypatch.setattr(os, "link", failing)
    outcome: Outcome = safe(*RELEASE, *LEDGER, "-o", "s.csv")
    assert (outcome.code, outcome.out, set(outcome.made)) == (2, "", {"ledger.json"})
    (line,) = outcome.err.splitlines()
    assert "after the release was recorded in ledger.json" in line
    assert "nothing was released" in line
    assert recorded() == 4


def test_nothing_is_released_if_the_ledger_cannot_be_written(
    safe: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    give_name = NewFile.give_name

    def failing(self: NewFile) -> None:
        if self.place.name == "ledger.json":
            raise OSError(28, "No space left on device")
        give_name(self)

    monkeypatch.setattr(NewFile, "give_name", failing)
    assert_refused(safe(*RELEASE, *LEDGER, "-o", "s.csv"), "cannot write at ledger.json")


def test_rows_without_a_guarantee_are_counted(run: Run) -> None:
    graph = ProfileGraph.bernoulli({"often": "0.9", "always": "1"})
    rows = Channel.from_rows({0: {0: "0.9", 1: "0.1"}, 1: {0: "0.2", 1: "0.8"}})
    ll.lock(rows, ProfilePrivacy("1"), graph, impossible="ignore").save("bare.json")
    table = {"table.csv": "who,bit\noften,0\nalways,0\nalways,1\n"}
    release = ["release", "bare.json", "table.csv", "--column", "bit"]
    named = [*release, "--profile-column", "who", "-o", "safe.csv"]
    assert_refused(run(*named, files=table), "calls impossible", "table.csv, line 3")
    outcome = run(*named, "--impossible", "ignore", files=table)
    assert outcome.code == 0
    assert "note: NO guarantee for 1 of 3 rows" in outcome.err


def test_the_ledger_is_one_of_accounts(safe: Run) -> None:
    assert safe(*RELEASE, *LEDGER, "-o", "first.csv").code == 0
    made = ll.Mechanism.load("safe.json")
    kept = f"profile={made.certificate.budgets['budget']}"
    found = safe("account", "ledger.json", "--limit", kept)
    assert found.code == 0
    assert "4 observations" in found.out
    assert "profile-based privacy" in found.out
    assert "one more release by profile(" in found.out
    assert safe("account", "ledger.json", "--limit", "profile=0.0001").code == 1
    assert_refused(
        safe(
            "account",
            "ledger.json",
            "--record",
            "safe.json",
            "--person",
            "1",
            "--about",
            "observation",
        ),
        "'1' at number 1 was released before",
        "release each observation once",
        code=1,
    )


def test_an_account_of_an_old_ledger_of_observations(safe: Run) -> None:
    old = Path(__file__).parents[2] / "compatibility" / "files" / "profile-ledger.json"
    found = safe("account", "ledger.json", files={"ledger.json": old.read_text()})
    assert found.code == 0
    assert "1 release of profile(" in found.out
    data = json.loads(safe("account", "ledger.json", "--json").out)
    assert {item["about"] for group in data["groups"] for item in group["items"]} == {"observation"}


# --- tables of other kinds, and of any size -------------------------------------------------------


def flip() -> ll.Mechanism:
    """Return a mechanism that keeps ann's bit and turns bob's round: what comes out tells neither.

    Its rows are in another order than the graph's pairs.
    """
    graph = ProfileGraph.complete({"ann": {0: 1, 1: 1}, "bob": {0: 1, 1: 1}})
    pairs = [("bob", 1), ("ann", 0), ("bob", 0), ("ann", 1)]
    rows = {(who, bit): {y: int(y == flipped(who, bit)) for y in (0, 1)} for who, bit in pairs}
    return ll.lock(Channel.from_rows(rows), ProfilePrivacy("0"), graph)


def flipped(who: str, bit: int) -> int:
    return bit ^ (who == "bob")


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet", "arrow", "feather"])
@pytest.mark.parametrize("source", ["csv", "csv.gz", "parquet", "arrow"])
def test_every_kind_of_table(
    run: Run, source: str, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each row goes through the row of its own profile, also in later pieces of the table."""
    monkeypatch.setattr("liftlock.tables.formats.csv.CHUNK", 64)
    who, bits = ["ann", "bob", "bob", "ann", "bob"] * 20, [0, 1, 0, 1, 1] * 20
    flip().save("safe.json")
    write(f"t.{source}", pa.table({"who": who, "n": range(100), "bit": bits}))
    table = [f"t.{source}", "--column", "bit", "--profile-column", "who"]
    done = run("release", "safe.json", *table, "-o", f"safe.{ending}", "--json")
    assert done.code == 0, done
    found = read(f"safe.{ending}")
    assert found.column_names == ["n", "bit"]
    assert [str(n) for n in found.column("n").to_pylist()] == [str(n) for n in range(100)]
    assert found.column("bit").to_pylist() == list(map(flipped, who, bits))
    data = json.loads(done.out)
    assert data["rows"] == 100
    assert data["profiles"] == [{"profile": "bob", "rows": 60}, {"profile": "ann", "rows": 40}]


def write(name: str, table: pa.Table) -> None:
    if name.endswith(".parquet"):
        pq.write_table(table, name, row_group_size=16)
    elif name.endswith(".arrow"):
        feather.write_feather(table, name, compression="uncompressed", chunksize=16)
    else:
        text = io.BytesIO()
        arrow_csv.write_csv(table, text)
        packed = gzip.compress(text.getvalue()) if name.endswith("gz") else text.getvalue()
        Path(name).write_bytes(packed)


def read(name: str) -> pa.Table:
    if name.endswith(".parquet"):
        return pq.read_table(name)
    if "csv" in name:
        return arrow_csv.read_csv(name)
    return feather.read_table(name)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_bad_row_far_below_is_named(run: Run, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("liftlock.tables.formats.csv.CHUNK", 64)
    flip().save("safe.json")
    bad = ("line 92" if kind == "csv" else "row 91") + ", column"
    release = ["release", "safe.json", f"t.{kind}", "--column", "bit", "--profile-column", "who"]
    write(f"t.{kind}", pa.table({"who": ["ann"] * 90 + ["dan"], "bit": [0] * 91}))
    assert_refused(run(*release, "-o", "s.csv"), "unknown profile", bad, "'dan'; the")
    write(f"t.{kind}", pa.table({"who": ["ann"] * 90 + [None], "bit": [0] * 91}))
    assert_refused(run(*release, "-o", "s.csv"), "no profile", bad)
    write(f"t.{kind}", pa.table({"who": ["ann"] * 91, "bit": [0] * 90 + [2]}))
    assert_refused(run(*release, "-o", "s.csv"), "unknown value", bad, "2")


def test_names_for_the_profiles_are_not_kept(run: Run) -> None:
    """A column that goes one to one with the profiles tells them, whatever it calls them."""
    flip().save("safe.json")
    who = ["ann", "bob"] * 10
    lines = [f"{name},{name[0]}17,{at % 2}\n" for at, name in enumerate(who)]
    table = {"t.csv": "who,badge,bit\n" + "".join(lines)}
    release = ["release", "safe.json", "t.csv", "--column", "bit", "--profile-column", "who"]
    refused = run(*release, "-o", "s.csv", files=table)
    assert_refused(refused, "the kept column 'badge' determines the secret 'who'")
    assert run(*release, "-o", "s.csv", "--drop", "badge").code == 0
    kept = run(*release, "-o", "kept.csv", "--keep", "badge", "--keep", "who")
    assert kept.code == 0, kept
    assert Path("kept.csv").read_text().startswith("who,badge,bit\nann,a17,0\nbob,b17,0\n")
    assert "columns of profiles were kept" in kept.err


def test_profiles_named_by_whole_numbers_are_found_in_a_column_of_doubles(run: Run) -> None:
    graph = ProfileGraph.bernoulli({1: "0.2", 2: "0.4"})
    ll.design(graph, ProfilePrivacy("0.3"), method="shared-categorical").save("safe.json")
    table = pa.table({"x": [0, 1] * 10, "user": [1.0, 2.0, 2.0, 1.0] * 5})
    pq.write_table(table, "t.parquet")
    refused = run("release", "safe.json", "t.parquet", "--column", "x", "-o", "s.parquet")
    assert_refused(refused, "a column of profiles would be kept", "'user'")


def test_an_id_in_bytes_is_the_same_id(run: Run) -> None:
    flip().save("safe.json")
    release = ("--column", "bit", "--profile-column", "who", "--ledger", "l.json", "--id", "id")
    text = {"id": ["1", "2"], "who": ["ann", "bob"], "bit": [0, 1]}
    pq.write_table(pa.table(text), "t.parquet")
    pq.write_table(pa.table(text | {"id": [b"1", b"3"]}), "again.parquet")
    assert run("release", "safe.json", "t.parquet", *release, "-o", "s.csv").code == 0
    refused = run("release", "safe.json", "again.parquet", *release, "-o", "again.csv")
    assert refused.code != 0
    assert not Path("again.csv").exists()


def test_a_guarantee_that_impossible_values_may_break_is_qualified(run: Run) -> None:
    graph = ProfileGraph.of({"a": {"x": 5, "y": 5, "z": 0}, "b": {"x": 2, "y": 3}}, [("a", "b")])
    made = ll.lock(
        Channel.identity(["x", "y", "z"]), ProfilePrivacy("2"), graph, impossible="ignore"
    )
    made.save("safe.json")
    files = {"t.csv": "v,k\nx,1\nz,2\n"}
    ask = ["release", "safe.json", "t.csv", "--column", "v", "--impossible", "ignore"]
    done = run(*ask, "-o", "s.csv", files=files)
    assert done.code == 0
    assert "NO guarantee for rows whose value their profile calls impossible" in done.err
    with pytest.raises(InputError, match="unknown treatment of impossible values: 'Refuse'"):
        made.release(["z"], ["b"], impossible="Refuse")  # type: ignore[arg-type]
