"""A new notion is one class and one call: all that is said of notions is then said of it too."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import mpmath as mp
import numpy as np
import pytest

import liftlock as ll
from liftlock.cli import main
from liftlock.errors import InputError, NotDefined
from liftlock.exact.enclosure import BITS, Enclosure, power
from liftlock.exact.integers import Floats
from liftlock.notions import LiftTable, Measurement, Notion, implied
from liftlock.notions import registry as notions
from liftlock.notions.base import TableBound
from liftlock.notions.per_output import worst_output
from tests.contracts import test_notions as contract
from tests.contracts import test_witnesses as witnesses
from tests.oracles import real
from tests.replay import Replay
from tests.strategies import Case

KEY = "hellinger_lift"


class HellingerLift(TableBound):
    """The guarantee that max over y of 1 - sum over s of P(s) sqrt(lift) is at most a number."""

    budget: Fraction

    key = KEY
    title = "Hellinger lift"
    says = "squared Hellinger distance at every output"
    unit = ""

    @classmethod
    def of_table(cls, table: LiftTable, bits: int = BITS) -> Measurement:
        """Measure it on a table of lifts."""

        def estimate(lifts: Floats) -> Floats:
            distances: Floats = 1.0 - np.sqrt(lifts)
            return distances

        def exactly(lifts: list[Fraction]) -> Enclosure:
            total = Enclosure.of(1)
            for mass, lift in zip(table.secret_masses, lifts, strict=True):
                if lift:
                    total += power(Enclosure.of(lift), Fraction(1, 2), bits).scaled(-mass)
            assert total.upper is not None
            return Enclosure(max(total.lower, Fraction(0)), max(total.upper, Fraction(0)))

        return cls.found(*worst_output(table, estimate, exactly))


def truth(case: Case, _: Notion) -> dict[str, Any]:
    means = (
        mp.fsum(
            real(p) * mp.sqrt(real(lift)) for p, lift in zip(case.model.prior, lifts, strict=True)
        )
        for lifts in case.model.columns
    )
    return {KEY: max(1 - mean for mean in means)}


def attained(at: Replay) -> Any:
    output = at.witness.output
    lifts = {s: at.likelihood(s, output) / at.marginal(output) for s in at.masses}
    return 1 - mp.fsum(real(p) * mp.sqrt(real(lifts[s])) for s, p in at.masses.items())


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Register the notion for one test."""
    monkeypatch.setitem(contract.TRUTHS, KEY, truth)
    monkeypatch.setitem(witnesses.ATTAINED, KEY, {KEY: attained})
    notions.register(HellingerLift)
    yield
    notions.NOTIONS.unregister(KEY)


# --- the contracts --------------------------------------------------------------------------------

CONTRACT = [
    contract.test_an_audit_measures_what_certificates_do,
    contract.test_an_audit_has_every_notion_of_a_table_in_the_order_of_the_registry,
    *(
        test
        for module in (contract, witnesses)
        for name, test in vars(module).items()
        if name.startswith("test_") and {"key", "name"} & inspect.signature(test).parameters.keys()
        if test is not contract.test_the_others_do_not_promise_that
    ),
]


@pytest.mark.parametrize("test", CONTRACT, ids=lambda test: test.__name__)
def test_the_contract_holds(test: Any) -> None:
    choices = {
        name: [KEY] if name in ("key", "name") else values
        for name, values in (mark.args for mark in getattr(test, "pytestmark", []))
    }
    for values in product(*choices.values()):
        test(**dict(zip(choices, values, strict=True)))


# --- the verbs ------------------------------------------------------------------------------------

CHANNEL = ll.Channel.identity("ab")
PRIOR = ll.Prior.from_counts({"a": 1, "b": 3})


def test_a_guarantee_is_made_certified_and_said() -> None:
    notion = notions.parse_claim(f"{KEY}=0.51")
    assert notion == HellingerLift("0.51") == notions.make_notion(KEY, {"budget": "0.51"})
    assert notion.certify(CHANNEL, PRIOR).holds
    assert not HellingerLift("0.49").certify(CHANNEL, PRIOR).holds
    assert notion.smallest(CHANNEL, PRIOR) == f"{KEY}=0.5000000001"
    assert str(notion.scaled(Fraction(1, 2))) == f"{KEY}(0.255)"
    assert HellingerLift.says in notion.promise
    made = ll.lock(CHANNEL, notion, PRIOR)
    assert ll.Mechanism.from_data(json.loads(json.dumps(made.to_data()))).notion == notion


def test_an_audit_measures_it() -> None:
    found = ll.audit(CHANNEL, PRIOR)
    assert found[KEY] == HellingerLift.measure(CHANNEL, PRIOR)
    assert found.to_data()["measures"][KEY] == 0.5
    assert KEY not in ll.audit(CHANNEL, ll.Intervals.all_priors("ab")).measurements


def test_no_rule_speaks_of_it() -> None:
    assert KEY not in [row.target for row in implied(ll.LIP("1"), PRIOR)]
    with pytest.raises(NotDefined, match="table of relations"):
        implied(HellingerLift("1"))


def test_the_command_line_knows_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("channel.csv").write_text("input,a,b\na,1,0\nb,0,1\n", encoding="utf-8")
    Path("prior.csv").write_text("label,count\na,1\nb,3\n", encoding="utf-8")
    assert main(["notions"]) == 0
    assert f"{KEY}=BUDGET" in capsys.readouterr().out
    audit = ["audit", "channel.csv", "--prior", "prior.csv"]
    assert main([*audit, "--check", f"{KEY}=0.51"]) == 0
    printed = capsys.readouterr().out
    assert "Hellinger lift             0.500000" in printed
    assert f"CERTIFIED: {KEY}(budget=0.51)" in printed
    assert main([*audit, "--check", f"{KEY}=0.49", "--json"]) == 1
    data = json.loads(capsys.readouterr().out)
    assert data["measures"][KEY] == 0.5
    assert [each["holds"] for each in data["checks"]] == [False]


def test_methods_are_compared_by_it_or_refuse_it() -> None:
    """No design is made for it; what a mechanism of any design leaks of it can be certified."""
    with pytest.raises(InputError, match="hellinger_lift"):
        ll.compare(PRIOR, HellingerLift, epsilons=["0.5"])
    made = ll.design(PRIOR, ll.LIP("1"))
    assert HellingerLift("0.2").certify(made.channel, PRIOR).holds


def test_a_name_is_given_once() -> None:
    with pytest.raises(InputError, match="registered already"):
        notions.register(HellingerLift)
    assert list(notions.NOTIONS.values()).count(HellingerLift) == 1
