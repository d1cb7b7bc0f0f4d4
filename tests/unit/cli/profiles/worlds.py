"""A small graph of profiles as files, and ways to run commands on it."""

from __future__ import annotations

from tests.unit.cli.conftest import Outcome

PROFILES = "profile,low,mid,high\nann,5,3,2\nbob,2,3,5\ncy,1,1,8\n"
EDGES = "from,to\nann,bob\nbob,cy\n"
GROUPS = "profile,group\nann,lab\nbob,lab\ncy,office\n"
TABLE = (
    "id,user,role,usage,comment\n"
    '1,ann,lab,low,"a, ""b"""\n'
    "2,bob,lab,high,\n"
    "3,ann,lab,mid, c \n"
    "4,cy,office,high,d\n"
)
FILES = {
    "profiles.csv": PROFILES,
    "edges.csv": EDGES,
    "groups.csv": GROUPS,
    "table.csv": TABLE,
}
GRAPH = ("--profiles", "profiles.csv", "--edges", "edges.csv")
DESIGN = ("design", *GRAPH, "--epsilon", "1", "--method", "cluster", "--no-comparison")


def assert_refused(outcome: Outcome, *parts: str, code: int = 2) -> None:
    """Check that a command said what was wrong on one line, and made nothing."""
    assert outcome.code == code, outcome
    assert outcome.out == ""
    assert outcome.made == frozenset()
    (line,) = outcome.err.splitlines()
    assert line.startswith("liftlock: ")
    for part in parts:
        assert part in line, line
