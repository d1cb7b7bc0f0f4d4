"""Statements that no figure shows: all judged, and in the pages as in the gallery."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from liftlock_papers import PAPERS, Finding, Statement, Verdict, find_figure
from liftlock_papers.gallery import CONVENTION
from liftlock_papers.running import read_result

ROOT = Path(__file__).parents[2]
EVERY = [statement for paper in PAPERS for statement in paper.statements]

ROWS = {
    "000-eq4": "000 eq. (4)",
    "000-cor3": "000 Cor 3, converse",
    "000-linear": "000 section I, ",
    "000-uncertain": "000 uncertain binary prior",
    "001-thm2": "001 Thm 2",
    "001-prop3": "001 Prop 3",
    "001-prop4": "001 Prop 4",
    "001-thm3": "000 eq. (19), 001 Thm 3, Thm 5",
    "001-thm4": "001 Thm 4",
    "001-thm5": "000 eq. (19), 001 Thm 3, Thm 5",
    "001-app-a12": "001 Appendix A steps 1 and 2",
    "001-app-a3": "001 Appendix A step 3",
    "001-app-b1": "001 Appendix A steps 1 and 2, Appendix B Lemma 1",
    "001-app-b2": "001 Appendix A step 3, Appendix B Lemma 2 and 3",
    "001-app-b3": "001 Appendix A step 3, Appendix B Lemma 2 and 3",
    "001-app-b50": "001 Appendix A steps 1 and 2, Appendix B Lemma 1, eq. (50), (52)",
    "001-app-d": "001 Appendix A step 3, Appendix B Lemma 2 and 3, Appendix D",
    "002-prop1.2-tv": "002 Prop 1.2, 3.1, 3.2",
    "002-prop1.2-chi2": "002 Prop 1.2, 3.1, 3.2",
    "002-prop3.1": "002 Prop 1.2, 3.1, 3.2",
    "002-prop3.2": "002 Prop 1.2, 3.1, 3.2",
    "002-prop5.1": "002 Prop 5.1, 5.2",
    "002-prop5.2": "002 Prop 5.1, 5.2",
}
"""Where docs/papers.md says the same."""

DRAWN = (
    ("000-fig5", "The smaller P_min, the smaller the leakage", "000 Fig 5"),
    ("000-fig5", "Theorem 4 and Corollaries 4 and 5 bound", "000 Thm 4"),
    ("000-fig8", "The classical bound", "000 classical Gaussian bound"),
    ("000-fig9", "The deviations of Corollary 10", "000 Cor 10"),
    ("000-fig10", "The Laplace mechanism of eq. (25)", "000 Thm 6 eq. (25)"),
    ("002-fig2", "the watchdog achieves", "002 watchdog"),
    ("003-fig3", "The bounded Laplace mechanism with the scale of eq. (17)", "003 Thm 1"),
)
"""Claims about figures that docs/papers.md speaks of too."""


@cache
def verdict_in_the_pages(row: str) -> str:
    text = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
    (found,) = {line for line in text.splitlines() if line.startswith(f"| {row}")}
    return found.split(" | ")[1].strip()


def agree(finding: Finding, row: str) -> bool:
    said = verdict_in_the_pages(row)
    if finding.verdict is Verdict.CONFIRMED:
        return said.startswith("hold")
    return finding.verdict is Verdict.REFUTED and bool(re.match("fail|no guarantee", said))


def test_every_statement_has_its_place_in_the_pages() -> None:
    assert {statement.key for statement in EVERY} == set(ROWS)


@pytest.mark.parametrize("statement", EVERY, ids=lambda each: each.key)
def test_a_statement_is_judged_as_in_the_pages(statement: Statement) -> None:
    finding = statement.judge()
    assert finding.ours
    assert finding.why or finding.verdict is Verdict.CONFIRMED
    assert agree(finding, ROWS[statement.key]), (finding.verdict, ROWS[statement.key])


@pytest.mark.parametrize(("key", "claim", "row"), DRAWN)
def test_a_claim_about_a_figure_is_judged_as_in_the_pages(key: str, claim: str, row: str) -> None:
    result = read_result(find_figure(key), ROOT / "papers" / "figures")
    assert result is not None
    (finding,) = (each for each in result.findings if each.claim.startswith(claim))
    assert agree(finding, row), (finding.verdict, verdict_in_the_pages(row))


@pytest.mark.parametrize("page", ["docs/reproduced.md", "papers/README.md"])
def test_one_convention_is_stated_everywhere(page: str) -> None:
    assert CONVENTION in " ".join((ROOT / page).read_text(encoding="utf-8").split())


def test_a_condition_on_equal_budgets_is_said_of_every_figure_of_001() -> None:
    for paper in PAPERS:
        for figure in paper.figures if paper.key == "001" else ():
            assert "do not protect alike" in figure.notes, figure.key
            assert all(panel.x != "ε (nats)" for panel in figure.panels)


def test_what_hangs_on_unknown_data_is_not_refuted() -> None:
    """Other users than the paper's cannot say that 83 districts are wrong."""
    result = read_result(find_figure("001-fig9b"), ROOT / "papers" / "figures")
    assert result is not None
    districts, users, *_ = result.findings
    assert districts.verdict is Verdict.OPEN
    assert users.verdict is Verdict.REFUTED
    assert "6,442,892 users" in users.claim
