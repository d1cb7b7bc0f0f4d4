"""Things of another kind are refused in one line, whatever they are."""

from __future__ import annotations

import collections
import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import liftlock as ll
from liftlock import Channel, Prior
from liftlock.accounting import (
    Ledger,
    LedgerAccount,
    Release,
    account,
    account_independent,
    account_sequence,
    markov_chain,
    product_prior,
)
from liftlock.errors import InputError, LiftlockError
from liftlock.transfer import transfer, transfer_from_samples, transfer_within

FAIR = Prior.uniform(["no", "yes"])
FLIP = ll.design(FAIR, ll.LIP("ln 3/2"), method="binary")
LEDGER = Ledger.new().record(FLIP, who="staff", about="x").record(FLIP, people=["a"], about="x")

CALLS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "account": (account, {"releases": [FLIP, FLIP], "context": FAIR}),
    "of": (Release.of, {"released": FLIP.channel, "context": FAIR}),
    "from_guarantee": (Release.from_guarantee, {"guarantee": ll.LIP("1"), "context": FAIR}),
    "from_delta_guarantee": (
        Release.from_delta_guarantee,
        {"guarantee": ll.ApproximateLDP("1", "0.1"), "context": FAIR},
    ),
    "markov_chain": (markov_chain, {"first": FAIR, "steps": [FLIP.channel]}),
    "product_prior": (product_prior, {"priors": [FAIR]}),
    "account_independent": (account_independent, {"released": [(FLIP.channel, FAIR)]}),
    "account_sequence": (
        account_sequence,
        {"prior": markov_chain(FAIR, [FLIP.table]), "channels": [FLIP.channel, FLIP.channel]},
    ),
    "transfer": (transfer, {"subject": FLIP, "actual": FAIR, "designed": FAIR}),
    "transfer_within": (transfer_within, {"subject": FLIP, "total_variation": 0, "designed": FAIR}),
    "samples": (
        transfer_from_samples,
        {"subject": FLIP, "counts": {"no": 3, "yes": 2}, "confidence": "0.9", "by": "ball"},
    ),
    "accounts": (
        LedgerAccount,
        {"ledger": LEDGER, "one_more": {"flip": FLIP}, "about": "x", "people": ["a"]},
    ),
    "record": (
        LEDGER.record,
        {"mechanism": FLIP, "people": ["a"], "about": "x", "limit": ll.LIP("9"), "under": FAIR},
    ),
    "of a ledger": (LEDGER.account, {"about": "x", "who": "staff", "under": FAIR}),
    "allows": (account([FLIP]).allows, {"limit": ll.LIP("1")}),
    "certify": (account([FLIP]).certify, {"guarantee": ll.LIP("1")}),
}

ODD = [
    None,
    "prior.csv",
    3,
    0.5,
    float("nan"),
    [],
    [1],
    ["no", "yes"],
    {},
    {"no": 1},
    object(),
    b"x",
]
ODD += [FAIR, FLIP, FLIP.channel, ll.LIP("1"), ll.LIP, [None], [FAIR], [FLIP, 3], ("no", 1), LEDGER]
ODD += [ll.Joint.from_counts({"s": {"no": 1, "yes": 2}, "t": {"no": 3, "yes": 1}}), {"no": None}]


@pytest.mark.parametrize("name", CALLS)
def test_nothing_but_errors_of_our_own(name: str) -> None:
    call, usual = CALLS[name]
    call(**usual)
    for key in usual:
        for value in ODD:
            # Some odd things are usable after all: no error is needed, only none of Python's.
            with contextlib.suppress(LiftlockError):
                call(**{**usual, key: value})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: transfer_from_samples(FLIP, ["no", "yes", "no"], confidence="0.9"),  # type: ignore[list-item]
            r"not counts: \['no', 'yes', 'no'\]; give \{label: count\}; collections.Counter",
        ),
        (
            # Texts of two letters are no pairs.
            lambda: transfer_from_samples(FLIP, ["no", "no"], confidence="0.9"),  # type: ignore[list-item]
            "not counts",
        ),
        (
            lambda: transfer(FLIP, "prior.csv"),  # type: ignore[arg-type]
            "at the other prior: 'prior.csv'; make one by .*, or read_prior",
        ),
        (lambda: account(FLIP), "not a list of releases: 'Mechanism'; give a list"),  # type: ignore[arg-type]
        (lambda: account_sequence(FAIR, [FLIP]), "give its channel: mechanism.channel"),  # type: ignore[list-item]
        (lambda: account([FLIP]).allows("lip=1"), "not a notion of privacy: 'lip=1'"),  # type: ignore[arg-type]
        (lambda: LedgerAccount("l.json"), "not a ledger: 'l.json'; give Ledger.load"),  # type: ignore[arg-type]
        (lambda: Ledger.load(3), "not the name of a file: 3"),  # type: ignore[arg-type]
    ],
)
def test_the_remedy_is_named(call: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()


def test_what_the_remedies_say_works(tmp_path: Path) -> None:
    seen = collections.Counter(["no", "yes", "no"])
    assert transfer_from_samples(FLIP, seen, confidence="0.9").confidence is not None
    file = tmp_path / "prior.csv"
    file.write_text("label,count\nno,1\nyes,1\n")
    assert transfer(FLIP, ll.read_prior(file)).exact is not None
    assert isinstance(FLIP.channel, Channel)
