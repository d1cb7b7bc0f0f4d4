"""Audits and certificates as text: what fits, and what is written how."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from rich.console import Console

from liftlock import Channel, Prior
from liftlock.exact.enclosure import Enclosure
from liftlock.notions import LIP, REGISTRY, Measurement, Witness, audit, implications
from liftlock.notions.registry import TITLES
from liftlock.report.text import audit as report

BIT = Channel.from_rows({"no": {"no": "3/4", "yes": "1/4"}, "yes": {"no": "1/4", "yes": "3/4"}})
PRIOR = Prior.from_counts({"no": 9, "yes": 1})


def rendered(renderable: Any, width: int = 100) -> list[str]:
    console = Console(width=width, highlight=False, color_system=None)
    with console.capture() as captured:
        console.print(renderable, markup=False)
    return [line.rstrip() for line in captured.get().splitlines()]


@pytest.mark.parametrize("width", [80, 100, 140])
def test_an_audit_fits_the_terminal(width: int) -> None:
    result = audit(BIT, PRIOR, alpha=2, at_epsilon="0.5")
    lines = rendered(report.audit_report(result, width), width)
    assert all(len(line) <= width for line in lines)
    (header,) = (line for line in lines if line.startswith("notion"))
    assert ("exactly" in header) == (width >= 100)
    (ldp,) = (line for line in lines if line.startswith("LDP"))
    assert ldp.endswith('"no" against "yes" at "no"')


def test_a_hundred_labels_of_a_hundred_characters_fit() -> None:
    names = [f"{'long ' * 20}{i}" for i in range(12)]
    channel = Channel.identity(names)
    result = audit(channel, Prior.uniform(names), at_epsilon="0")
    lines = rendered(report.audit_report(result, 80), 80)
    assert all(len(line) <= 80 for line in lines)
    assert len(lines) < 60


@pytest.mark.parametrize(
    ("witness", "wanted"),
    [
        (Witness(), ""),
        (Witness(output="y"), 'at "y"'),
        (Witness(secret=1, output=("a", 2)), "1 at ('a', 2)"),
        (Witness(secrets=("a", "b"), output="y"), '"a", "b" at "y"'),
        (Witness(secret="a", outputs=tuple("uvwxyz")), '"a" at "u", "v", "w" and 3 more'),
        (
            Witness(secret="a", prior=Prior.from_counts({"a": 1, "b": 2})),
            '"a" for the prior "a" 0.333, "b" 0.667',
        ),
        (
            Witness(secret="a", prior=Prior.uniform("abcdef")),
            '"a" for the prior "a" 0.167, "b" 0.167, "c" 0.167, … 6 symbols',
        ),
    ],
)
def test_where(witness: Witness, wanted: str) -> None:
    assert report.where_text(witness) == wanted


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (Enclosure.of(0), "0.000000"),
        (Enclosure.of(Fraction(1, 3)), "0.333333"),
        (Enclosure.of(Fraction(1, 10**9)), "1.00000e-09"),
        (Enclosure.of(10**30), "1.00000e+30"),
        (Enclosure.of(10**400), "above 1e308"),
        (Enclosure.infinity(), "infinite"),
    ],
)
def test_values(value: Enclosure, wanted: str) -> None:
    assert report.value_text(Measurement("x", value, "")) == wanted


def test_exact_numbers_are_written_while_they_are_short() -> None:
    assert report.exact_text(Measurement.of_ratio("x", Fraction(5, 2), None)) == "ln 5/2"
    assert report.exact_text(Measurement("x", Enclosure.of(Fraction(7, 9)), "")) == "7/9"
    assert report.exact_text(Measurement("x", Enclosure(Fraction(1), Fraction(2)), "")) == ""
    assert report.exact_text(Measurement.of_ratio("x", None, None)) == ""
    huge = Measurement("x", Enclosure.of(Fraction(1, 3**20_000)), "")
    assert report.exact_text(huge) == "(fraction of 9,543 digits)"


def test_certificates_indent_their_claims() -> None:
    lines = rendered(report.certificate_lines(LIP("1").certify(BIT, PRIOR)), 60)
    assert lines[0].startswith("NOT CERTIFIED: lip(epsilon=1)")
    assert all(line.startswith("  ") for line in lines[1:])


def test_every_measure_has_a_name() -> None:
    result = audit(BIT, PRIOR, alpha=2, at_epsilon="0.5")
    assert set(result.measurements) <= set(TITLES)


def test_tables_of_notions_and_relations() -> None:
    assert len(rendered(report.notions_table(REGISTRY))) >= len(REGISTRY) + 1
    rows = implications(LIP("1"), PRIOR)
    lines = rendered(report.relations_table("lip(1)", PRIOR, rows), 80)
    assert lines[0] == "what lip(1) implies, for a prior on 2 symbols"
    assert all(len(line) <= 80 for line in lines)


@pytest.mark.parametrize("value", [Fraction(1, 3), Fraction("0.12345678901"), Fraction(200001, 7)])
def test_bounds_are_written_rounded_up(value: Fraction) -> None:
    number, unit = report.bound_text(Enclosure(value / 2, value), "nats").split()
    assert value <= Fraction(number) <= value + Fraction(1, 10**10)
    assert unit == "nats"
    assert Fraction(report.bound_text(Enclosure.of(value), "")) >= value
