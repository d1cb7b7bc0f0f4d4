"""The verdict of `liftlock protect`: the last word, `--strict`, and commands that can be run."""

from __future__ import annotations

import csv
import io
import json
import random
import shlex
from pathlib import Path
from typing import Any

import pytest

import liftlock as ll
from tests.published_rows import Row, sites
from tests.unit.cli.conftest import Outcome, Run
from tests.unit.cli.profiles.worlds import assert_refused


def csv_of(rows: list[Row]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def people(rows: int = 600) -> list[Row]:
    """A code that hints at hiv, a ward that says it, and a name with a blank that says nothing."""
    draw = random.Random(5)
    found = []
    for number in range(rows):
        hiv = draw.random() < 0.4
        found.append(
            {
                "code": draw.choices("abc", [5, 3, 1] if hiv else [1, 3, 5])[0],
                "ward": draw.choices(["in", "out"], [9, 1] if hiv else [1, 9])[0],
                "room; no": str(number % 2),
                "hiv": "yes" if hiv else "no",
            }
        )
    return found


FILES = {"people.csv": csv_of(people())}
ASK = ("protect", "people.csv", "--column", "code", "--secret", "hiv", "--epsilon", "1/2",
       "--seconds", "3", "-o", "safe.csv")  # fmt: skip
CLEAN = (*ASK, "--drop", "ward", "--drop", "room; no")


def verdict_of(outcome: Outcome) -> Any:
    return json.loads(outcome.out)["verdict"]


# --- the last word --------------------------------------------------------------------------------


def test_the_verdict_stands_in_the_last_lines(run: Run) -> None:
    done = run(*ASK, files=FILES)
    assert done.code == 0
    lines = done.out.splitlines()
    at = next(place for place, line in enumerate(lines) if line.startswith("NOT KEPT: "))
    assert 'lip(0.5) about "hiv"' in lines[at]
    assert '"ward" alone' in lines[at + 1]
    assert lines[-2] == "run instead:"
    words = shlex.split(lines[-1])
    assert words == ["liftlock", *ASK, "--force", "--drop", "ward"]
    assert max(map(len, lines[:-1])) <= 110


def test_blanks_of_a_csv_are_looked_at_as_they_go_out(run: Run) -> None:
    draw = random.Random(6)
    told = [draw.random() < 0.5 for _ in range(2000)]
    lines = [f"{draw.choice('uv')},{draw.choice('ab')}{' ' * each},{each}" for each in told]
    files = {"people.csv": "\n".join(["code,ward,hiv", *lines, ""])}
    assert verdict_of(run(*ASK, "--json", files=files))["level"] == "broken"


def test_nothing_but_what_was_proved_is_kept(run: Run) -> None:
    done = run(*CLEAN, files=FILES)
    assert done.code == 0
    assert done.out.splitlines()[-1].startswith("KEPT: every row that goes out keeps lip(0.5)")
    assert verdict_of(run(*CLEAN, "--force", "--json")) == {
        "level": "kept",
        "words": "kept",
        "sentence": 'every row that goes out keeps lip(0.5) about "hiv", in this table of 600 rows',
        "command": None,
        "findings": [],
    }


def test_a_secret_that_is_kept_on_purpose_is_still_told(run: Run) -> None:
    done = run(*CLEAN, "--keep", "hiv", "--json", files=FILES)
    verdict = verdict_of(done)
    assert verdict["level"] == "broken"
    assert "kept on purpose" in verdict["findings"][0]["sentence"]
    assert "--keep" not in verdict["command"]


# --- strict ---------------------------------------------------------------------------------------


def test_strict_writes_nothing_unless_the_promise_is_kept(run: Run) -> None:
    done = run(*ASK, "--strict", "--report", "report.html", files=FILES)
    assert done.code == 1, done
    assert done.made == frozenset()
    assert "nothing was written (--strict)" in done.err
    assert "NOT KEPT" in done.out
    done = run(*ASK, "--strict", "--json")
    assert done.code == 1
    assert verdict_of(done)["level"] == "broken"
    assert json.loads(done.out)["output"] is None
    assert "--force" not in verdict_of(done)["command"]
    kept = run(*CLEAN, "--strict")
    assert kept.code == 0, kept
    assert kept.made == {"safe.csv", "safe.mechanism.json"}


def test_strict_leaves_old_files_and_ledgers_as_they_were(run: Run) -> None:
    ledger = ("--ledger", "ledger.json", "--who", "patients")
    assert run(*CLEAN, *ledger, files=FILES).code == 0
    before = {name: Path(name).read_bytes() for name in ("safe.csv", "ledger.json")}
    assert run(*ASK, *ledger, "--strict", "--force").code == 1
    assert {name: Path(name).read_bytes() for name in before} == before


# --- what to run ----------------------------------------------------------------------------------


def follow(run: Run, start: tuple[str, ...], files: dict[str, str], most: int = 6) -> list[Any]:
    """Run what each verdict says, until there is nothing more to run."""
    found = [verdict_of(run(*start, "--json", files=files))]
    while found[-1]["command"] is not None and len(found) < most:
        words = shlex.split(found[-1]["command"])
        assert words[0] == "liftlock"
        done = run(*words[1:])
        assert done.code == 0, done
        found.append(verdict_of(done))
    return found


def test_following_the_remedies_leads_to_a_promise_that_is_kept(run: Run) -> None:
    levels = [each["level"] for each in follow(run, ASK, FILES)]
    assert levels[0] == "broken"
    assert levels[-1] == "kept"


def test_every_single_remedy_can_be_run(run: Run) -> None:
    first = verdict_of(run(*ASK, "--keep", "ward", "--keep", "hiv", "--json", files=FILES))
    commands = [
        (finding, remedy["command"])
        for finding in first["findings"]
        for remedy in finding["remedies"]
        if remedy["command"]
    ]
    assert len(commands) >= 2
    for finding, command in commands:
        done = run(*shlex.split(command)[1:])
        assert done.code == 0, (command, done)
        after = verdict_of(done)["findings"]
        assert finding["sentence"] not in {each["sentence"] for each in after}


def test_remedies_of_given_columns_and_of_people_can_be_run(run: Run) -> None:
    rows = [{"patient": f"p{place // 3}", **row} for place, row in enumerate(people())]
    files = {"people.csv": csv_of(rows)}
    done = run(*ASK, "--given", "ward", "--json", files=files)
    verdict = verdict_of(done)
    about = {tuple(each["columns"]) for each in verdict["findings"]}
    assert ("patient",) in about
    commands = [each["command"] for found in verdict["findings"] for each in found["remedies"]]
    for command in filter(None, [verdict["command"], *commands]):
        assert command.count("--person") <= 1
        again = run(*shlex.split(command)[1:], files=files)
        assert again.code == 0, (command, again.err)
    last = follow(run, tuple(shlex.split(verdict["command"])[1:]), files)[-1]
    assert last["level"] == "kept"


def test_rows_for_rare_given_values_go_with_given_columns(run: Run) -> None:
    done = run(*ASK, "--given-rows", "50", files=FILES)
    assert done.code == 2
    assert "--given-rows goes with --given" in done.err


def test_columns_that_tell_too_much_together(run: Run) -> None:
    ask = ("protect", "people.csv", "--column", "code", "--column", "ward", "--secret", "hiv",
           "--epsilon", "0.3", "--drop", "room; no", "--seconds", "4", "-o", "safe.csv",
           "--mechanism", "a.json", "--mechanism", "b.json")  # fmt: skip
    first = verdict_of(run(*ask, "--json", files=FILES))
    assert first["level"] == "broken"
    (finding,) = first["findings"]
    assert finding["columns"] == ["code", "ward"]
    for remedy, option in zip(finding["remedies"], ("--together", "--total"), strict=True):
        assert option in remedy["command"]
        done = run(*shlex.split(remedy["command"])[1:])
        assert done.code == 0, done
        assert verdict_of(done)["level"] == "kept"


@pytest.mark.parametrize("given", ["joint", "smooth"])
def test_statistics_that_do_not_fit(run: Run, given: str) -> None:
    joint = "hiv,a,b,c\nyes,4,4,3\nno,3,4,4\n"
    more = ("--joint", "joint.csv") if given == "joint" else ("--smooth", "100000")
    found = follow(run, (*CLEAN, *more), FILES | {"joint.csv": joint})
    assert [each["level"] for each in found] == ["broken", "kept"]
    assert given not in found[0]["command"]


# --- the head of the report, and frames -----------------------------------------------------------

HEAD = ("--purpose", "statistics <b>", "--responsible", "A. Example", "--data-date", "May 2026",
        "--edition", "3")  # fmt: skip


def test_the_head_of_the_report(run: Run) -> None:
    done = run(*CLEAN, "--report", "r.html", *HEAD, files=FILES)
    assert done.code == 0, done
    page = Path("r.html").read_text(encoding="utf-8")
    for text in ("statistics &lt;b&gt;", "A. Example", "May 2026", f"liftlock {ll.__version__}"):
        assert text in page
    assert page.index("Kept") < page.index("What is promised")


@pytest.mark.parametrize("place", range(0, len(HEAD), 2))
def test_a_head_without_a_report_is_refused(run: Run, place: int) -> None:
    asked = HEAD[place : place + 2]
    assert_refused(run(*CLEAN, *asked, files=FILES), f"{asked[0]} goes with --report")


def test_a_frame_says_its_verdict() -> None:
    import pandas as pd

    frame = pd.DataFrame(people())
    done = ll.protect(frame, "code", "lip=0.5", secret="hiv", seconds=3)
    assert done.verdict.level == "broken"
    assert repr(done) == "<ProtectedFrame code: 600 rows, not kept>"
    assert done.verdict.findings[0].remedies[0].python == "drop=['ward']"
    clean = ll.protect(frame, "code", "lip=0.5", secret="hiv", seconds=3, drop=["ward", "room; no"])
    assert clean.verdict.level == "kept"


def test_sites_that_code_the_other_way_round_are_seen(run: Run) -> None:
    files = {"people.csv": csv_of(sites())}
    verdict = verdict_of(run(*ASK, "--json", files=files))
    assert verdict["level"] == "broken"
    assert verdict["findings"][0]["columns"] == ["site"]
    # Given the site the same column is released, and the promise is about whoever sees both.
    given = next(each for each in verdict["findings"][0]["remedies"] if "given" in each["words"])
    done = run(*shlex.split(given["command"])[1:], "--strict")
    assert done.code == 0, done
    assert verdict_of(done)["level"] == "kept"
    assert 'given "site"' in verdict_of(done)["sentence"]
