"""Plans: the people they ask for, against formulas for one bit, and what they leave out."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
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


def test_the_margin_without_the_prior_chooses() -> None:
    """One line for each notion, better than every closed form, at the level of all at once."""
    found = plan(THREE, ll.LIP("1"), 10_000, margin="2%")
    lip, ldp, truth, nobody = found.options
    assert (lip.name, lip.utility) == ("lip(1) by optimal", "frequencies-worst")
    z = 2.3939797998185104  # two sides of 5 % / 3
    for option, notion in ((lip, ll.LIP("1")), (ldp, ll.LDP("1"))):
        assert option.free is not None
        for method in ("arc", "k-rr", "subset-selection", "optimal"):
            if method == "arc" and notion.name == "ldp":
                continue
            other = ll.design(THREE, notion, method=method, utility="histogram")
            try:
                each = other.expected_error(10_000, method="unbiased", about="population")
            except ll.errors.NotDefined:
                continue
            assert option.free.margin <= z * math.sqrt(max(each.per_person) / 10_000) * (1 + 1e-6)
    assert truth.free is not None
    assert truth.free.margin == pytest.approx(z * math.sqrt(0.21 / 10_000))
    assert nobody.free is None
    data = found.to_data()["options"][0]
    assert data["free"]["people_needed"] == lip.people_needed("2%")[1]
    assert data["leaning"]["drifted_coverage"] == lip.drifted


def test_what_a_drift_does_is_what_simulations_show() -> None:
    """4,000 runs at one point of drift: a false alarm has a chance below 1e-6 (five errors)."""
    found = plan(
        ll.Prior.from_counts({"no": 92, "yes": 8}), ll.LIP("1"), 5_000, of="survey", value="yes"
    )
    option = found.options[0]
    assert option.mechanism is not None
    assert option.leaning is not None
    assert option.drifted is not None
    rows, masses = option.mechanism.table.floats(), np.array([0.92, 0.08])
    posterior = rows[1] * masses[1] / (masses @ rows)
    generator, runs, held = np.random.default_rng(7), 4_000, []
    for share in (0.07, 0.09):
        have = generator.binomial(5_000, share, runs)
        marked = generator.binomial(have, rows[1, 1]) + generator.binomial(5_000 - have, rows[0, 1])
        value = marked * posterior[1] + (5_000 - marked) * posterior[0]
        held.append(float((np.abs(value - have) <= 5_000 * option.leaning.margin).mean()))
    error = 5 * math.sqrt(option.drifted * (1 - option.drifted) / runs) + 0.01  # whole numbers jump
    assert min(held) == pytest.approx(option.drifted, abs=error)
    assert option.drifted < 0.3


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
    made = found.options[0]
    assert (made.method, dict(made.options)) == ("optimal", {})
    assert made.mechanism is not None
    console = Console(width=110)
    with console.capture() as captured:
        console.print(plan_report(found))
    assert f"--utility {made.utility} --method optimal" in captured.get()
