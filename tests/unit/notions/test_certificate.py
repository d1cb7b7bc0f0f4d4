"""Certificates: the verdict, the words, and the file."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from liftlock import Channel, Family, Prior
from liftlock.errors import FileError, NotCertified
from liftlock.exact.enclosure import Enclosure
from liftlock.notions import ALIP, LDP, LIP, Certificate, Chi2, Claim, Witness
from liftlock.notions.certificate import check_certificate_data, enclosure_to_json, make_certificate
from tests.strategies import Case, cases

BIT = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
FAIR = Prior.uniform([0, 1])


def test_a_certificate_speaks_of_its_channel_and_context() -> None:
    certificate = LIP("0.7").certify(BIT, FAIR)
    assert certificate.channel == BIT.fingerprint
    assert certificate.context == FAIR.fingerprint
    assert certificate.context_kind == "a prior on 2 symbols"
    assert certificate.guarantee == "lip(epsilon=0.7)"
    assert "CERTIFIED: lip" in str(certificate)
    assert certificate.refusal() == "lip(epsilon=0.7) holds"


def test_a_refusal_says_what_where_and_how_much() -> None:
    certificate = ALIP(lower="0.5", upper="0.7").certify(BIT, FAIR)
    assert not certificate.holds
    assert [claim.holds for claim in certificate.claims] == [True, False]
    assert certificate.refusal() == (
        "alip(lower=0.5, upper=0.7) does not hold: min-lift is 0.5 (= 1/2), "
        "below 0.6065306597 at secret 1, output 0"
    )
    assert str(certificate).startswith("NOT CERTIFIED: alip(lower=0.5, upper=0.7)")
    assert "FAILS: min-lift" in str(certificate)
    error = NotCertified(certificate, "lower=0.7")
    assert error.certificate is certificate
    assert "smallest budget that would pass: lower=0.7" in str(error)
    assert str(NotCertified(certificate, "")).endswith(
        "; no budget would pass: the leakage is infinite"
    )
    assert "\n" not in str(error)


@given(cases(), st.sampled_from(["0", "0.3", "1", "ln 2"]))
def test_files_are_complete_and_valid_json(case: Case, epsilon: str) -> None:
    for notion in (LIP(epsilon), LDP(epsilon), Chi2("1/3")):
        certificate = notion.certify(case.channel, case.context, impossible="ignore")
        data = json.loads(json.dumps(certificate.to_data(), allow_nan=False))
        check_certificate_data(data)
        assert data["holds"] == certificate.holds == all(c["holds"] for c in data["claims"])
        assert data["budgets"] == dict(notion.budgets)
        assert data["notion"] == notion.name
        for line in str(certificate).splitlines():
            assert len(line) < 400


def test_two_numbers_that_look_alike_are_told_apart() -> None:
    tiny = Fraction(1, 10**20)
    claim = Claim("x", Enclosure.of(1 + tiny), "<=", Enclosure.of(1), False)
    assert str(claim) == "FAILS: x 1.00000000000000000001 > 1"
    claim = Claim("x", Enclosure.of(1), "<=", Enclosure.of(1), True)
    assert str(claim) == "holds: x 1 <= 1"
    claim = Claim("x", Enclosure.infinity(), "<=", Enclosure.of(1), False, Witness(secret="s"))
    assert str(claim) == 'FAILS: x infinite > 1 at secret "s"'


def test_numbers_far_from_1_stay_readable() -> None:
    claim = Claim("x", Enclosure.of(Fraction(1, 10**300)), ">=", Enclosure.of(10**300), False)
    assert str(claim) == "FAILS: x 1e-300 < 1e+300"
    long = Enclosure.of(Fraction(3**20_000, 2**30_000))
    assert len(str(Claim("x", long, "<=", long, True))) < 60
    assert len(str(LIP("900000").certify(BIT, FAIR))) < 500


def test_enclosures_in_files() -> None:
    assert enclosure_to_json(Enclosure.infinity()) == "inf"
    assert enclosure_to_json(Enclosure.of(Fraction(1, 3)))["exact"] == "1/3"
    between = enclosure_to_json(Enclosure(Fraction(0), Fraction(1)))
    assert between == {"value": 0.5, "between": ["0", "1"]}


def test_without_a_context_it_speaks_of_every_prior() -> None:
    certificate = make_certificate("ldp", {"budget": "1"}, BIT, None, [], {})
    assert certificate.context_kind == "every prior"
    assert certificate.context == ""


def test_without_claims_nothing_was_proved() -> None:
    certificate = make_certificate("ldp", {"budget": "1"}, BIT, None, [], {})
    assert not certificate.holds
    assert certificate.refusal() == "ldp(budget=1) was not measured: there is no claim"


@pytest.mark.parametrize(
    ("measured", "relation", "bound", "holds"),
    [
        (Enclosure.of(9), "<=", Enclosure.of(1), False),
        (Enclosure.of(1), "<=", Enclosure.of(1), True),
        (Enclosure.infinity(), "<=", Enclosure.of(5), False),
        (Enclosure.of(5), "<=", Enclosure.infinity(), True),
        (Enclosure.of(1), ">=", Enclosure.of(9), False),
        (Enclosure.of(1), ">=", Enclosure.of(Fraction(1, 2)), True),
    ],
)
def test_a_claim_that_is_false_as_it_is_written_proves_nothing(
    measured: Enclosure, relation: Any, bound: Enclosure, holds: bool
) -> None:
    claim = Claim("lift", measured, relation, bound, holds=True)
    assert make_certificate("ldp", {}, BIT, None, [claim], {}).holds is holds


def test_witness_priors_are_part_of_the_file() -> None:
    family = Family.of([FAIR, Prior.from_counts({0: 1, 1: 3})])
    data = LIP(1).certify(BIT, family).to_data()
    assert data["claims"][0]["witness"]["prior"]["kind"] == "prior"


@pytest.mark.parametrize(
    "data", [None, {}, {"format": "x"}, {"format": "liftlock.certificate", "version": 9}]
)
def test_other_files_are_refused(data: object) -> None:
    with pytest.raises(FileError):
        check_certificate_data(data)


def test_a_certificate_cannot_be_changed() -> None:
    certificate: Certificate = LIP(1).certify(BIT, FAIR)
    with pytest.raises(AttributeError):
        certificate.notion = "ldp"  # type: ignore[misc]
