"""Plans: the people they ask for, against formulas for one bit, and what they leave out."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import liftlock as ll
from liftlock.designs import plan
from liftlock.errors import InputError
from liftlock.report.plots.plan import draw_plan
from liftlock.report.text.plan import plan_report

Z = 1.959963984540054
E = math.e
HALF = ll.Prior.from_counts({"no": 1, "yes": 1})
THREE = ll.Prior.from_counts({"none": 700, "cold": 200, "flu": 100})


def test_a_bit_under_lip_and_ldp() -> None:
    """At p = 1/2 the optimal flips are 1/(2E) under LIP and 1/(1 + E) under LDP."""
    found = plan(HALF, ll.LIP("1"), 1000, of="survey", value="yes", margin="2%")
    lip, ldp, truth, nobody = found.options
    for option, flip in ((lip, 1 / (2 * E)), (ldp, 1 / (1 + E))):
        noise = flip * (1 - flip) / (1 - 2 * flip) ** 2
        assert option.people_needed("2%")[1] == math.ceil(
            (noise + 0.25) * (Z / 0.02) ** 2 * (1 - 1e-9)
        )
    assert truth.people_needed("2%") == (1, 2401)
    assert nobody.people_needed("2%") == (2401, None)


def test_a_survey_asks_one_bit_only() -> None:
    found = plan(THREE, ll.LIP("1"), 1000, of="survey", value=["cold", "flu"])
    mechanism = found.options[0].mechanism
    assert mechanism is not None
    assert len(mechanism.channel.inputs) == 2
    assert "only whether" in found.remarks[0]
    with pytest.raises(InputError, match="already determines"):
        plan(THREE, ll.LIP("1"), 10, of="survey", value=["none", "cold", "flu"])


def test_without_the_prior_another_mechanism_may_be_better() -> None:
    found = plan(THREE, ll.LIP("1"), 10_000)
    names = [option.name for option in found.options]
    assert names[0] == "lip(1) by optimal"
    leaning = [option.leaning.margin for option in found.options if option.leaning is not None]
    assert min(leaning[:-2]) == found.options[0].leaning.margin  # type: ignore[union-attr]
    own = [option for option in found.options if option.name.startswith("lip")]
    assert len(own) == 2
    assert own[1].free.margin < own[0].free.margin  # type: ignore[union-attr]
    data = found.to_data()
    assert data["options"][0]["leaning"]["margin"] == found.options[0].leaning.margin  # type: ignore[union-attr]


def test_means_and_two_budgets() -> None:
    ages = ll.Prior.from_counts({20: 3, 30: 4, 40: 3})
    found = plan(ages, ll.ALIP(lower="1.2", upper="0.8"), 500, of="mean", margin="0.5")
    assert found.options[0].name.startswith("alip(")
    assert any(option.name.startswith("ldp(0.8)") for option in found.options)


@pytest.mark.parametrize("kind", ["png", "svg"])
def test_pictures(tmp_path: Path, kind: str) -> None:
    found = plan(HALF, ll.LIP("1"), 1000, of="survey", value="yes", margin="2%")
    draw_plan(found, tmp_path / f"plan.{kind}")
    start = {"png": b"\x89PNG", "svg": b"<?xml"}[kind]
    assert (tmp_path / f"plan.{kind}").read_bytes().startswith(start)


def test_impossible_values_and_odd_questions() -> None:
    with_zero = ll.Prior.from_counts({"a": 5, "b": 0, "c": 7})
    found = plan(with_zero, ll.LIP("1"), 100)
    assert found.remarks[0].endswith("impossible: 'b'")
    assert found.options[0].leaning is not None
    assert found.options[0].leaning.names == ("a", "c")
    survey = plan(with_zero, ll.LIP("1"), 100, of="survey", value=["a", "b"])
    assert survey.options[-2].people_needed("2%")[1] == math.ceil(35 / 144 * (Z / 0.02) ** 2)
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"of": "sum"}, "a plan of a sum"),
        ({"margin": "2"}, "margin of 100 % or more"),
        ({"margin": "0"}, "margin is not positive"),
    ]
    for asked, said in wrong:
        with pytest.raises(InputError, match=said):
            plan(THREE, ll.LIP("1"), 10, **asked)


def test_the_plan_says_how_to_make_what_it_shows() -> None:
    zipf = ll.Prior.from_counts({k: 1000 // (k + 1) for k in range(10)})
    found = plan(zipf, ll.LIP("1"), 1000, seconds=1)
    laid = next(option for option in found.options if option.options)
    assert (laid.method, dict(laid.options)) == ("arc", {"orders": 16})
    again = ll.design(zipf, ll.LIP("1"), method="arc", orders=16, utility="histogram")
    assert laid.mechanism is not None
    assert again.channel.fingerprint == laid.mechanism.channel.fingerprint
    console = Console(width=110)
    with console.capture() as captured:
        console.print(plan_report(found))
    assert "--utility histogram --method arc --option orders=16" in captured.get()
