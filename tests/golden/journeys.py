"""What the commands print with `--json`, on small data: the same today as when it was stored.

    python -m tests.golden.journeys                  # print what differs from what is stored
    python -m tests.golden.journeys --record [NAME]  # after a change that is meant: store it

Each journey is one command, run in a folder that holds the files of `inputs/` and what the
journeys before it in its list have written.
"""

from __future__ import annotations

import contextlib
import io
import json
import math
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from liftlock.cli import main
from liftlock.notions.registry import AUDITED

HERE = Path(__file__).parent / "journeys"
INPUTS = HERE / "inputs"

CHAIN = "--profiles profiles.csv --edges edges.csv"

# Each list is one folder, so that a journey finds the files of those before it in its list.
JOURNEYS: dict[str, dict[str, str]] = {
    "protect": {
        "protect": "protect people.csv --column job --secret religion --epsilon 0.5 "
        "-o safe.csv --report report.html",
        "release-protected": "release safe.mechanism.json people.csv -o more.csv --drop id",
    },
    "protect-numbers": {
        "protect-numbers": "protect people.csv --column age --domain 20:60 --bins 6 --epsilon 1 "
        "--drop id --drop job -o safe.csv",
    },
    "protect-together": {
        "protect-together": "protect people.csv --column job --column city --together "
        "--secret religion --epsilon 0.5 -o safe.csv",
    },
    "protect-per-user": {
        "protect-per-user": "protect people.csv --column answer --local-priors p_ --epsilon 1 "
        "-o safe.csv",
    },
    "design": {
        "design": "design --prior prior.csv --epsilon 1 --utility histogram -o made.json",
        "design-joint": "design --joint joint.csv --epsilon-lower 1.3 --epsilon-upper 0.7",
        "design-ldp": "design --prior prior.csv --notion ldp --epsilon 1 --utility guess",
        "design-family": "design --prior prior.csv --radius 0.02 --epsilon 1 --method oue",
        "design-numbers": "design --distribution normal(3,2) --bins 12 --epsilon 1",
        "design-delta": "design --prior prior.csv --epsilon 1 --delta 0.01 --method sampling",
        "design-published": "design --prior prior.csv --epsilon 1 --method response --as-published",
        "release": "release made.json answers.csv --column answer -o private.csv",
        "estimate-made": "estimate made.json reports.csv --column report",
        "audit-made": "audit made.json --check lip=1",
    },
    "audit": {
        "audit": "audit channel.csv --prior prior.csv --check lip=2",
        "audit-fails": "audit channel.csv --prior prior.csv --check lip=0.1 --alpha 2",
        "audit-joint": "audit channel.csv --joint joint.csv --at-epsilon 0.5",
    },
    "profiles": {
        "profiles-design": f"design {CHAIN} --epsilon 1 -o made.json",
        "profiles-design-one": f"design {CHAIN} --epsilon 1 --method shared-categorical "
        "--utility hamming --no-comparison",
        "profiles-audit": "audit made.json --check profile=1",
        "profiles-audit-matrix": f"audit matrix.csv {CHAIN}",
        "profiles-release": "release made.json observations.csv --column level "
        "--profile-column user -o safe.csv --ledger ledger.json --id id --insist",
        "profiles-compose": "profiles compose made.json made.json --of samples",
        "profiles-compare": f"compare {CHAIN} --released --epsilons 0.5,1",
    },
    "estimate": {
        "estimate": "estimate mechanism.json reports.csv --column report",
        "estimate-survey": "estimate mechanism.json reports.csv --column report --value flu "
        "--method unbiased --about population",
        "estimate-likelihood": "estimate mechanism.json reports.csv --column report "
        "--method likelihood",
        "estimate-assisted": "estimate mechanism.json reports.csv --column report "
        "--interval assisted --together --strength 50",
        "estimate-unary": "estimate unary.json bits.csv --column report",
    },
    "account": {
        "account-record": "account ledger.json --record mechanism.json --who staff --about health",
        "account-again": "account ledger.json --record unary.json --who staff --about health "
        "--limit lip=3",
        "account": "account ledger.json --one-more mechanism.json",
    },
    "collect": {
        "collect-check": "collect check health.yaml",
        "collect-check-few": "collect check health.yaml --people 50",
    },
    "others": {
        "plan": "plan --prior prior.csv --n 10000 --epsilon 1",
        "plan-survey": "plan --prior prior.csv --n 10000 --epsilon 1 --value flu --margin 1%",
        "compare": "compare --prior prior.csv --utility histogram --epsilons 0.5,1",
        "compare-joint": "compare --joint joint.csv --split 0.65 --epsilons 1 "
        "--methods optimal,watchdog,subset-merging,k-rr:ldp",
        "relations": "relations lip=1",
        "relations-prior": "relations alip=1.3,0.7 --prior prior.csv --alpha 2",
        "probe": "probe pairs.csv --prior prior.csv --claim lip=0.002 --claim ldp=0.02",
        "fit": "fit people.csv --column age --domain 20:60 --distribution normal --bins 8",
    },
}

# Changes from run to run: releases take the operating system's entropy, and so do salts.
VOLATILE = {"sha256", "counts", "head", "seconds"}
# Depends on the last digits of the machine.
STEPS = re.compile(r"within \S+ of the largest, after \d+ steps")
# Solvers may reach the same optimum by another way: equal within what they promise.
SOLVED = {"objective", "bound", "utility", "value", "low", "high", "error", "margin", "cost"}
WITHIN_SOLVED = 1e-6
# A proved gap is as good as another that is as small.
GAP = 1e-6
# An audit has a line for each notion; those that came after it was stored are on the page of each.
MEASURES = {"measures", "readings"}
# `exp` and `log` of other machines differ in the last digits; what is exact is text in JSON.
WITHIN = 1e-12


def travel(folder: str) -> dict[str, Any]:
    """Run the journeys of a list, one after the other; return what each prints."""
    found = {}
    with tempfile.TemporaryDirectory() as place, contextlib.chdir(place):
        shutil.copytree(INPUTS, place, dirs_exist_ok=True)
        for name, command in JOURNEYS[folder].items():
            printed, noted = io.StringIO(), io.StringIO()
            with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(noted):
                code = main([*command.split(), "--json"])
            data = json.loads(printed.getvalue()) if printed.getvalue() else noted.getvalue()
            found[name] = {"command": command, "exit": code, "prints": steady(data)}
    return found


def steady(data: Any) -> Any:
    """Return the data without what changes from run to run."""
    if isinstance(data, dict):
        return {key: "..." if key in VOLATILE else steady(value) for key, value in data.items()}
    if isinstance(data, list):
        return [steady(value) for value in data]
    return STEPS.sub("within ...", data) if isinstance(data, str) else data


def new_notions() -> set[str]:
    """Return what audits measure that no stored one does: a notion was added."""
    known: set[str] = set()
    for name in JOURNEYS["audit"]:
        known.update(stored(name)["prints"]["measures"])
    return AUDITED.keys() - known


def differences(stored: Any, found: Any, where: str = "") -> Iterator[str]:
    """Say where two outputs differ: by value for what solvers find, exactly for the rest."""
    key = re.sub(r"\[\d+\]$", "", where).rsplit(".", 1)[-1]
    if isinstance(stored, dict) and isinstance(found, dict):
        added = found.keys() - stored.keys()
        if key in MEASURES:
            added -= new_notions()
        for name in stored.keys() | added:
            if name not in stored or name not in found:
                yield f"{where}.{name}: {'gone' if name in stored else 'new'}"
            else:
                yield from differences(stored[name], found[name], f"{where}.{name}")
    elif isinstance(stored, list) and isinstance(found, list) and len(stored) == len(found):
        for position, (one, other) in enumerate(zip(stored, found, strict=True)):
            yield from differences(one, other, f"{where}[{position}]")
    elif stored != found and not _as_good(key, stored, found):
        yield f"{where}: {stored!r} became {found!r}"


def _as_good(key: str, stored: Any, found: Any) -> bool:
    if not (isinstance(stored, float) and isinstance(found, float | int)):
        return False
    if key == "gap":
        return found <= max(stored, GAP)
    within = WITHIN_SOLVED if key in SOLVED else WITHIN
    return math.isclose(stored, found, rel_tol=within, abs_tol=within / 1000)


def stored(name: str) -> Any:
    """Return what a journey printed when it was stored."""
    return json.loads((HERE / f"{name}.json").read_text(encoding="utf-8"))


def record(names: list[str]) -> None:
    """Store what the journeys print, or those of these names."""
    for folder in JOURNEYS:
        if names and not set(names) & JOURNEYS[folder].keys():
            continue
        for name, found in travel(folder).items():
            if not names or name in names:
                text = json.dumps(found, indent=1, ensure_ascii=False)
                (HERE / f"{name}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    os.environ.setdefault("COLUMNS", "100")
    if "--record" in sys.argv:
        record([name for name in sys.argv[1:] if name != "--record"])
    else:
        for each in JOURNEYS:
            for name, found in travel(each).items():
                for text in differences(stored(name), found):
                    print(name + text)
