"""Releases of tables that are recorded in a ledger before they appear."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from liftlock import LIP, Ledger, Mechanism, Prior, design
from liftlock.errors import FileError
from liftlock.model.columns import ColumnEncoding, TableEncoding
from tests.unit.cli.conftest import Run
from tests.unit.cli.profiles.worlds import assert_refused

TABLE = "who,x\nann,a\nbob,b\ncai,c\n"
COMMAND = ("release", "m.json", "t.csv", "-o", "safe.csv", "--ledger", "l.json")
JOBS = "who,job,sex\n" + "".join(
    f"p{at},{job},{sex}\n"
    for at, (job, sex) in enumerate([("cook", "f"), ("nurse", "f"), ("cook", "m")] * 20)
)
PROTECT = ("protect", "t.csv", "--epsilon", "1", "-o", "safe.csv", "--ledger", "l.json")


@pytest.fixture
def made(tmp_path: Path) -> Mechanism:
    prior = Prior.uniform(["a", "b", "c"])
    found = design(prior, LIP("1"), method="safe-response")
    whole = Mechanism(
        found.channel,
        found.certificate,
        prior,
        found.origin,
        encoding=TableEncoding((ColumnEncoding("x"),)),
    )
    whole.save(tmp_path / "m.json")
    return whole


def test_a_release_is_recorded(run: Run, made: Mechanism) -> None:
    done = run(*COMMAND, "--who", "staff", "--json", files={"t.csv": TABLE})
    assert done.code == 0, done
    assert done.made == {"safe.csv", "l.json"}
    (entry,) = Ledger.load("l.json").entries
    assert (entry.cohort, entry.about, entry.guarantee) == ("staff", "x", "lip(1)")
    assert entry.channel == made.certificate.channel
    notes = json.loads(done.out)["notes"]
    assert any("release 1 recorded in l.json: it counts even if" in note for note in notes)


def test_people_are_recorded_by_their_ids(run: Run, made: Mechanism) -> None:
    assert run(*COMMAND, "--id", "who", "--about", "answer", files={"t.csv": TABLE}).code == 0
    book = Ledger.load("l.json")
    (entry,) = book.entries
    assert entry.about == "answer"
    assert set(entry.people) == {book.digest(person) for person in ("ann", "bob", "cai")}
    assert "bob" not in Path("l.json").read_text()
    assert made.certificate.holds


def test_a_release_beyond_the_limit_is_refused(run: Run, made: Mechanism) -> None:
    limited = (*COMMAND, "--who", "staff", "--limit", "lip=1.5", "--force")
    assert run(*limited, files={"t.csv": TABLE}).code == 0
    safe, book = Path("safe.csv").read_bytes(), Path("l.json").read_bytes()
    refused = run(*limited)
    assert refused.code == 1
    assert "release 2 about 'x' of 'staff' exceeds lip(1.5)" in refused.err
    assert Path("safe.csv").read_bytes() == safe
    assert Path("l.json").read_bytes() == book
    # Of others nothing has been released.
    other = (*COMMAND, "--who", "guests", "--limit", "lip=1.5", "--force")
    assert run(*other).code == 0
    assert len(Ledger.load("l.json")) == 2
    assert made.certificate.holds


def test_the_ledger_is_written_first(
    run: Run, made: Mechanism, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A release may be missing outside, never in the ledger."""
    save = Ledger.save
    seen: list[bool] = []

    def saved(self: Ledger, path: Any) -> None:
        seen.append(Path("safe.csv").exists())
        save(self, path)

    monkeypatch.setattr(Ledger, "save", saved)
    assert run(*COMMAND, "--who", "staff", files={"t.csv": TABLE}).code == 0
    assert seen == [False]

    def failing(self: Ledger, path: Any) -> None:
        raise FileError("cannot write", where=str(path))

    Path("safe.csv").unlink()
    monkeypatch.setattr(Ledger, "save", failing)
    assert_refused(run(*COMMAND, "--who", "staff"), "cannot write")
    assert not Path("safe.csv").exists()
    assert made.certificate.holds


def test_a_release_that_fails_after_it_was_recorded_says_so(
    run: Run, made: Mechanism, monkeypatch: pytest.MonkeyPatch
) -> None:
    save = Ledger.save

    def then_full(self: Ledger, path: Any) -> None:
        save(self, path)
        monkeypatch.setattr("os.link", _full)
        monkeypatch.setattr("os.replace", _full)

    monkeypatch.setattr(Ledger, "save", then_full)
    done = run(*COMMAND, "--who", "staff", files={"t.csv": TABLE})
    assert done.code == 2
    assert done.made == {"l.json"}
    assert "after the release was recorded in l.json" in done.err
    assert len(Ledger.load("l.json")) == 1
    assert made.certificate.holds


def _full(*_: Any, **__: Any) -> None:
    raise OSError(28, "No space left on device")


def test_an_interrupted_release_is_not_recorded(
    run: Run, made: Mechanism, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("liftlock.tables.releases.ColumnRelease.arrays", stop)
    done = run(*COMMAND, "--who", "staff", files={"t.csv": TABLE})
    assert done.code not in (0, 2)
    assert done.made == frozenset()
    assert made.certificate.holds


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--ledger", "l.json"), "give --who or --id"),
        (("--ledger", "l.json", "--who", "a", "--id", "who"), "give --who or --id"),
        (("--who", "a"), "--who goes with --ledger"),
        (("--limit", "lip=2"), "--limit goes with --ledger"),
        (("--ledger", "l.json", "--id", "nobody"), "no such column"),
        (("--ledger", "t.csv", "--who", "a"), "the ledger would overwrite TABLE"),
        (("--ledger", "safe.csv", "--who", "a"), "the output would overwrite --ledger"),
        (("--ledger", "l.json", "--id", "empty"), "line 3"),
    ],
)
def test_what_is_refused(run: Run, made: Mechanism, options: tuple[str, ...], said: str) -> None:
    table = "who,x,empty\nann,a,1\nbob,b,\ncai,c,3\n"
    done = run("release", "m.json", "t.csv", "-o", "safe.csv", *options, files={"t.csv": table})
    assert_refused(done, said)
    assert made.certificate.holds


def test_protected_columns_are_recorded_each_for_itself(run: Run) -> None:
    columns = ("--column", "job", "--column", "sex", "--who", "staff", "--keep", "who")
    done = run(*PROTECT, *columns, files={"t.csv": JOBS})
    assert done.code == 0, done
    assert [entry.about for entry in Ledger.load("l.json").entries] == ["job", "sex"]
    assert "release 1, 2 recorded in l.json" in done.err + done.out
    assert_refused(
        run(*PROTECT, *columns, "--about", "both", "--force"), "--about takes one column"
    )
    assert len(Ledger.load("l.json")) == 2


def test_protecting_beyond_the_limit_releases_nothing(run: Run) -> None:
    column = ("--column", "job", "--secret", "sex", "--id", "who", "--limit", "lip=1.1")
    done = run(*PROTECT, *column, files={"t.csv": JOBS})
    assert done.code == 0, done
    book = Path("l.json").read_bytes()
    for path in ("safe.csv", "safe.mechanism.json"):
        Path(path).unlink()
    refused = run(*PROTECT, *column)
    assert refused.code == 1
    assert "exceeds lip(1.1)" in refused.err
    assert refused.made == frozenset()
    assert Path("l.json").read_bytes() == book
