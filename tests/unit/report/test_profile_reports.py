"""Mechanisms for profiles and audits as text: what is said, what is cut, and what fits."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import pytest
from rich.console import Console

from liftlock import Channel, Mechanism, ProfileGraph, lock
from liftlock.designs import Draft, ProfileBaseline, design, measure_profile_baselines
from liftlock.model.profile_examples import bernoulli_chain, example
from liftlock.notions import ProfilePrivacy, audit
from liftlock.report.text.profiles import MOST_ROWS, profile_audit_report, profile_report
from tests.profile_oracles import edges_of


def rendered(renderable: Any, width: int = 100) -> list[str]:
    console = Console(width=width, highlight=False, color_system=None)
    with console.capture() as captured:
        console.print(renderable, markup=False)
    return [line.rstrip() for line in captured.get().splitlines()]


def made(name: str = "workstation") -> Mechanism:
    return design(example(name), "0.5", method="cluster")


@pytest.mark.parametrize("width", [80, 100, 140])
def test_everything_fits_the_terminal(width: int) -> None:
    mechanism = made()
    rows = measure_profile_baselines(example("workstation"), "0.5")
    for part in (
        profile_report(mechanism, rows),
        profile_audit_report(edges_of(mechanism), width),
    ):
        assert all(len(line) <= width for line in rendered(part, width))


def test_headers_are_wrapped_before_numbers() -> None:
    """With the longest names that are shown, 80 columns have room for every number."""
    values = [f"value of some name, number {k}" for k in range(3)]
    rows = {
        f"profile of some name, number {k}": dict(zip(values, counts, strict=True))
        for k, counts in enumerate([(5, 3, 2), (2, 3, 0), (0, 1, 8)])
    }
    graph = ProfileGraph.chain(rows)
    mechanism = design(graph, "0.3", method="cluster")
    compared = measure_profile_baselines(graph, "0.3")
    wide, narrow = (rendered(profile_report(mechanism, compared), w) for w in (200, 80))
    assert max(len(line) for line in narrow) <= 80

    def numbers(lines: list[str]) -> list[str]:
        text = "\n".join(lines[lines.index("") :]).replace("…", " ")
        return re.findall(r"(?<![\w.])\d+\.\d{3,}", text)

    assert numbers(narrow) == numbers(wide)
    assert len(numbers(wide)) > 20
    assert any(line.endswith("infinite * (over)  ignored") for line in narrow)


def test_fractions_are_listed_if_one_is_short() -> None:
    graph = ProfileGraph.bernoulli(["0.2", "0.9"])
    short = rendered(profile_audit_report(audit(Channel.identity([0, 1]), graph)))
    assert any("ln 8" in line for line in short)
    long = "\n".join(rendered(profile_audit_report(edges_of(made()))))
    assert "exactly" not in long
    assert "digits" not in long


def test_the_guarantee_and_its_witness_come_first() -> None:
    lines = rendered(profile_report(made()), 120)
    assert lines[0].startswith("CERTIFIED: profile(budget=0.5) for a graph of 12 profiles")
    assert lines[1].startswith("  holds: profile 0.4999999")
    text = "\n".join(lines)
    for said in (
        "an even chance becomes 62.25 %",
        "largest chance of any one wrong value:",
        "12 profiles, 5 outputs; one matrix for each profile; method: cluster",
        "the same observation released twice",
        "another distribution than the profile says",
        "profiles that no edge joins",
    ):
        assert said in text, said
    assert "that no edge joins" not in "\n".join(rendered(profile_report(made("couplet"))))


def test_the_table_of_profiles() -> None:
    """Numbers of the couplet by hand: s = 2 * 0.0489 flips both bits alike."""
    lines = rendered(profile_report(made("couplet")), 100)
    (row,) = (line for line in lines if line.startswith('"0.8"'))
    assert row.split() == ['"0.8"', "0.04886", "0.500000", '"0.9"']
    (cost,) = (line for line in lines if line.startswith("0 ") and len(line.split()) == 2)
    # P(0) of p = 0.9 goes from 0.1 to 0.1 + 0.8 * 0.04886.
    assert float(cost.split()[1]) == pytest.approx(0.8 * 0.04886, abs=1e-5)


def test_profiles_without_an_edge_are_said_to_have_none() -> None:
    graph = ProfileGraph.of({"a": {0: 1, 1: 1}, "b": {0: 1, 1: 2}, "c": {0: 5, 1: 1}}, [("a", "b")])
    mechanism = design(graph, "1", method="cluster")
    lines = rendered(profile_report(mechanism))
    (row,) = (line for line in lines if line.startswith('"c"'))
    assert row.endswith("no edge")
    audit = rendered(profile_audit_report(edges_of(mechanism)))
    assert 'No edge, no promise: "c".' in audit


def test_long_tables_are_cut_and_say_so() -> None:
    mechanism = design(bernoulli_chain(50), "0.3", method="cluster")
    lines = rendered(profile_report(mechanism))
    assert f"and {50 - MOST_ROWS} profiles more, none changed more often" in lines
    values = {f"v{k}": k + 1 for k in range(30)}
    graph = ProfileGraph.chain({"a": values, "b": dict.fromkeys(values, 1)})
    lines = rendered(profile_report(design(graph, "0.3", method="cluster")))
    assert "and 10 values more" in lines
    found = audit(Channel.identity([0, 1]), bernoulli_chain(50))
    lines = rendered(profile_audit_report(found))
    (cut,) = (line for line in lines if line.startswith("and 29 edges more, none above"))
    # 49 edges: two are infinite, the others ln((k + 1) / k) twice each; the 21st has k = 10.
    limit = Fraction(cut.split()[-1])
    assert Fraction(0) <= limit - Fraction("0.0953101798") < Fraction(2, 10**6)


def test_edges_come_worst_first_and_rounded_up() -> None:
    found = audit(Channel.identity([0, 1]), example("chain-6"))
    lines = rendered(profile_audit_report(found, 100))
    start = next(k for k, line in enumerate(lines) if line.startswith("edge:"))
    losses = [line.split()[2] for line in lines[start + 1 : start + 6]]
    # ln 2 = 0.69314718..., ln 1.5 = 0.40546510...
    assert losses == ["infinite", "infinite", "0.693148", "0.693148", "0.405466"]
    assert "ln 3/2" in lines[start + 5]
    assert "exactly" not in "\n".join(rendered(profile_audit_report(found, 80), 80))
    assert any("is certain" in line for line in lines)


def test_what_is_not_protected_is_said() -> None:
    graph = example("chain-6")
    mechanism = design(graph, "0.5", method="randomised-response")
    text = " ".join(rendered(profile_audit_report(edges_of(mechanism), 100)))
    assert "NOT protected (probability 0, but would give away more than any edge):" in text
    assert '"0" with value 1, "1" with value 0' in text


def test_an_audit_without_edges() -> None:
    graph = ProfileGraph.of({"a": {0: 1, 1: 1}}, [])
    lines = rendered(profile_audit_report(audit(Channel.identity([0, 1]), graph)))
    assert "No two profiles are joined: nothing is promised about any of them." in lines


def test_the_comparison() -> None:
    rows = measure_profile_baselines(example("couplet"), "0.5")
    failed = ProfileBaseline("magic", certified=False, reason="it gave up; another day")
    lines = rendered(profile_report(made("couplet"), (*rows, failed)), 100)
    start = next(k for k, line in enumerate(lines) if line.startswith("compared with"))
    names = [row.name for row in rows]
    listed = lines[start + 1 : start + 1 + len(rows)]
    assert all(line.startswith(name) for line, name in zip(listed, names, strict=True))
    assert "0.693148 (over)" in listed[-1]
    assert "magic: it gave up; another day" in lines


def test_rows_that_do_not_cover_impossible_values_have_a_star() -> None:
    rows = measure_profile_baselines(example("chain-6"), "0.5")
    lines = rendered(profile_report(made("chain-6"), rows), 100)
    assert "* not for values that occur although their profile calls them impossible" in lines
    for name, star in (("no noise", True), ("cluster", False), ("randomised-response", False)):
        (line,) = (line for line in lines if line.startswith(name))
        assert (" *" in line) == star  # response covers every value, likely or not
    assert not any("* not for" in line for line in rendered(profile_report(made("couplet"))))


def test_a_mechanism_made_by_hand_whose_outputs_are_not_values() -> None:
    draft = Draft.of([0, 1], ["no", "yes"], [[0.6, 0.4], [0.4, 0.6]])
    mechanism = lock(draft, ProfilePrivacy("1"), example("couplet"))
    text = "\n".join(rendered(profile_report(mechanism)))
    assert "its outputs are not the values, so errors are not measured" in text
    assert "2 profiles, 2 outputs; one matrix for all profiles" in text
    assert "chance of a wrong value" not in text


def test_names_cannot_disturb_the_terminal() -> None:
    names = ["\x1b[31mred", "two\nlines", "long " * 30]
    graph = ProfileGraph.chain({name: {0: 1 + k, 1: 2} for k, name in enumerate(names)})
    mechanism = design(graph, "0.1", method="cluster")
    for part in (profile_report(mechanism), profile_audit_report(edges_of(mechanism), 80)):
        text = "\n".join(rendered(part, 80))
        assert "\x1b" not in text
        assert all(len(line) <= 80 for line in text.splitlines())
