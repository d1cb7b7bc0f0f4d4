"""Files of every kind that were written before, and what they said then.

    python -m tests.compatibility.stored --record    # after adding a file: note what it says

`files/` holds what people may have: whatever the library becomes, it must read these files, prove
their guarantees again and say the same about them. A file stays as it was written; a new kind of
file, or a new version of one, is a new file here.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import liftlock as ll
from liftlock import Mechanism, read_channel
from liftlock.estimate import PerUserAggregate
from liftlock.model import context_from_data
from liftlock.model.structured import UserChannel

FILES = Path(__file__).with_name("files")
SAID = Path(__file__).with_name("said.json")


def _mechanism(path: Path) -> Any:
    mechanism = ll.Mechanism.load(path)
    certificate = mechanism.certificate
    assert certificate.holds
    origin = mechanism.origin
    return {
        "guarantee": certificate.guarantee,
        "measured": {c.quantity: c.to_data()["measured"] for c in certificate.claims},
        "channel": mechanism.channel.fingerprint,
        "context": mechanism.context.fingerprint,
        "method": None if origin is None else origin.method,
        "objective": None if origin is None else origin.objective,
        "column": mechanism.to_data().get("column", mechanism.to_data().get("group")),
    }


def _local_mechanism(path: Path) -> Any:
    mechanism = Mechanism.load(path)
    assert isinstance(mechanism.channel, UserChannel)
    return {
        "guarantee": mechanism.certificate.guarantee,
        "law": {name: str(limit) for name, limit in mechanism.channel.integers_of(0).items()},
        "fingerprint": mechanism.users_fingerprint,
    }


def _aggregate(path: Path) -> Any:
    """Say what the reports say by the mechanism that released them."""
    stored = ll.Aggregate.load(path)
    makers = {"aggregate-unary": "unary-oue", "aggregate-hashing": "hashing"}
    maker = FILES / f"mechanism-{makers.get(path.stem, 'prior-lip')}.json"
    estimate = ll.Mechanism.load(maker).estimate(stored, method="unbiased")
    return {
        "reports": len(stored),
        "answers": [answer.to_data() for answer in estimate.answers],
    }


def _local_aggregate(path: Path) -> Any:
    stored = PerUserAggregate.load(path)
    maker = Mechanism.load(FILES / path.name.replace("aggregate", "mechanism"))
    answers = maker.estimate(stored).answers
    return {"reports": len(stored), "answers": [answer.to_data() for answer in answers]}


def _ledger(path: Path) -> Any:
    ledger = ll.Ledger.load(path)
    account = ledger.account("health", who="staff").to_data()
    spent = {notion: loss.get("ratio", loss["value"]) for notion, loss in account["spent"].items()}
    return {"entries": len(ledger.entries), "spent": spent}


def _profile_ledger(path: Path) -> Any:
    ledger = ll.Ledger.load(path)
    return {
        "observations": [ledger.digest(name) in str(ledger.to_data()) for name in ("o1", "o9")],
        "guarantees": [entry.certified for entry in ledger.entries],
    }


def _context(path: Path) -> Any:
    context = context_from_data(json.loads(path.read_text(encoding="utf-8")))
    return {"kind": context.describe(), "fingerprint": context.fingerprint}


def _channel(path: Path) -> Any:
    channel = read_channel(path).channel
    return {"channel": str(channel), "fingerprint": channel.fingerprint}


READERS: dict[str, Callable[[Path], Any]] = {
    "liftlock.mechanism": _mechanism,
    "liftlock.local-mechanism": _local_mechanism,
    "liftlock.aggregate": _aggregate,
    "liftlock.local-aggregate": _local_aggregate,
    "liftlock.ledger": _ledger,
    "liftlock.profile-ledger": _profile_ledger,
    "liftlock.channel": _channel,
}


def names() -> list[str]:
    """Return the names of the stored files."""
    return sorted(path.stem for path in FILES.glob("*.json"))


def says(name: str) -> Any:
    """Read a stored file, prove what it claims, and return what it says."""
    path = FILES / f"{name}.json"
    form = json.loads(path.read_text(encoding="utf-8")).get("format", "")
    # As it would be stored: tuples are lists.
    return json.loads(json.dumps(READERS.get(form, _context)(path), default=str))


def said() -> dict[str, Any]:
    """Return what each file said when it was added."""
    found: dict[str, Any] = json.loads(SAID.read_text(encoding="utf-8"))
    return found


def record() -> None:
    """Note what files say that were added; those that are noted stay."""
    known = said() if SAID.exists() else {}
    every = {name: known.get(name) or says(name) for name in names()}
    SAID.write_text(json.dumps(every, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if "--record" in sys.argv:
        record()
    else:
        print(json.dumps({name: says(name) for name in names()}, indent=1, ensure_ascii=False))
