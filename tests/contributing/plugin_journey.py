"""What somebody does who has installed a plug-in: every command and every verb knows what it adds.

Run by `test_plugin` in a process of its own, in an empty folder, with the package on its path.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import orc

import liftlock as ll
from liftlock.accounting import account
from liftlock.accounting.accountants import ACCOUNTANTS
from liftlock.cli import main
from liftlock.estimate import ESTIMATORS
from liftlock.notions import implications, parse_claim
from liftlock.notions.registry import NOTIONS
from liftlock.tables.formats import FORMATS
from liftlock.utility import REGISTRY as UTILITIES

ROWS = 4000
BROKEN = "the design 'broken' of liftlock-toys 0.1 is left out: ModuleNotFoundError"


def said(command: str, code: int = 0) -> str:
    """Run a command; return what it prints."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        found = main(command.split())
    assert found == code, (command, found, out.getvalue(), err.getvalue())
    return out.getvalue() + err.getvalue()


def parsed(text: str) -> Any:
    """Return the JSON that a text starts with; notes follow it."""
    return json.JSONDecoder().raw_decode(text)[0]


def write(name: str, *rows: object) -> None:
    with Path(name).open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows(rows)  # type: ignore[arg-type]


def notions() -> None:
    """Audits, claims, locks, files and tables know the notion; no rule speaks of it."""
    assert "hellinger_lift=BUDGET" in said("notions")
    assert "hellinger_lift" in NOTIONS
    channel, prior = ll.Channel.identity("ab"), ll.Prior.from_counts({"a": 1, "b": 3})
    notion = parse_claim("hellinger_lift=0.51")
    assert notion.certify(channel, prior).holds
    assert notion.smallest_text(channel, prior) == "hellinger_lift=0.5000000001"
    assert notion.summary in notion.promise
    made = ll.lock(channel, notion, prior)
    assert ll.Mechanism.from_data(json.loads(json.dumps(made.to_data()))).notion == notion
    assert ll.audit(channel, prior).measures["hellinger_lift"] == 0.5
    assert "hellinger_lift" not in [row.target for row in implications(ll.LIP("1"), prior)]
    write("channel.csv", ("input", "a", "b"), ("a", 1, 0), ("b", 0, 1))
    write("pair.csv", ("label", "count"), ("a", 1), ("b", 3))
    asked = "audit channel.csv --prior pair.csv --check"
    told = said(f"{asked} hellinger_lift=0.51")
    assert "Hellinger lift             0.500000" in told
    assert "CERTIFIED: hellinger_lift(budget=0.51)" in told
    data = parsed(said(f"{asked} hellinger_lift=0.49 --json", code=1))
    assert data["measures"]["hellinger_lift"] == 0.5
    assert [each["holds"] for each in data["checks"]] == [False]


def designs() -> None:
    """The method is listed, made, compared; a broken plug-in is told in one line, once."""
    told = said("designs")
    assert told.count(BROKEN) == 1, told
    assert "half-response" in told
    assert "optimal" in told
    assert "in which half of the symbols" in said("designs half-response")
    write("prior.csv", ("label", "count"), ("none", 7), ("cold", 2), ("flu", 1))
    made = "design --prior prior.csv --notion ldp --epsilon 1 -o made.json"
    assert "method: half-response" in said(f"{made} --method half-response")
    asked = "compare --prior prior.csv --epsilons 1,2 --utility gini --json"
    data = parsed(said(f"{asked} --methods half-response,safe-response"))
    assert [curve["method"] for curve in data["curves"]] == ["half-response", "safe-response"]
    assert data["utility"] == "gini"
    assert "gini" in said("design --help")
    prior = ll.read_prior("prior.csv")
    optimal = ll.design(prior, ll.LIP("1"), utility="gini")
    assert optimal.origin is not None
    assert optimal.origin.utility == "gini"
    assert optimal.certificate.holds


def estimators_and_accountants() -> None:
    """Reports are estimated by it, and releases accounted for."""
    said("design --prior prior.csv --notion ldp --epsilon 1 --method k-rr -o k.json")
    made = ll.Mechanism.load("k.json")
    reports = made.simulate(["none"] * 700 + ["cold"] * 300, seed=1)
    write("reports.csv", ["answer"], *([each] for each in reports))
    told = said("estimate k.json reports.csv --column answer --method clipped --json")
    found = parsed(told)
    assert found["method"] == "clipped"
    assert min(each["value"] for each in found["answers"]) >= 0
    assert "consistent|clipped]" in said("estimate --help")
    by_class = made.estimate(reports, method=ESTIMATORS["clipped"])
    assert by_class.to_data()["answers"] == found["answers"]
    twice = account([made, made])
    assert "double-ldp-sum" in ACCOUNTANTS
    assert "double-ldp-sum" in [loss.accountant for loss in twice.spent]
    assert twice.best["ldp"].accountant != "double-ldp-sum"
    said("account book.json --record k.json --who staff --about illness")
    assert "double-ldp-sum" in said("account book.json --json")


def formats() -> None:
    """Tables are protected, released and counted in the format."""
    table = pa.table({"ill": ["none", "none", "cold", "flu"] * (ROWS // 4), "n": list(range(ROWS))})
    orc.write_table(table, "people.orc")
    said("protect people.orc --column ill --epsilon 1 --method half-response -o safe.orc")
    safe = orc.read_table("safe.orc")
    assert safe["n"].equals(table["n"])
    assert set(safe["ill"].to_pylist()) == {"first half", "second half"}
    said("release k.json people.orc --column ill -o more.orc")
    assert set(orc.read_table("more.orc")["ill"].to_pylist()) == {"none", "cold", "flu"}
    assert str(ROWS) in said("estimate k.json more.orc --column ill --json")
    assert ".orc" in said("release k.json people.orc --column ill -o more.xlsx", code=2)
    assert list(FORMATS)[-1] == "orc"
    assert list(UTILITIES)[-1] == "gini"


if __name__ == "__main__":
    notions()
    designs()
    estimators_and_accountants()
    formats()
    print("all of it works")
