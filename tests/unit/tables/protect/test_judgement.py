"""The verdict on the rows that go out: every rule both ways, and at the very limit."""

from __future__ import annotations

import functools
import math
import random
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

import liftlock as ll
from liftlock.accounting import account
from liftlock.notions import parse_claim
from liftlock.tables.protect import (
    CombinedLeak,
    EmpiricalLeakage,
    KeptColumn,
    LeakRange,
    ProtectedColumn,
    Protection,
    RowLeak,
    Verdict,
    judge,
)
from tests.published_rows import sites

INF = math.inf
NONE = LeakRange(0.0, 0.0)
JOINT = ll.Joint.from_counts({"yes": {"a": 30, "b": 10}, "no": {"a": 20, "b": 40}})
MATRIX = [[0.6, 0.4], [0.4, 0.6]]


def made(notion: ll.notions.Notion, context: ll.Context = JOINT) -> ll.Mechanism:
    return ll.lock(ll.Draft.of(["a", "b"], ["a", "b"], MATRIX), notion, context)


def column(notion: ll.notions.Notion | None = None, **more: Any) -> ProtectedColumn:
    return ProtectedColumn("code", "hiv", made(notion or ll.LIP("0.5")), **{"learned": True} | more)


def protection(**more: Any) -> Protection:
    return Protection("t.csv", 100, more.pop("columns", (column(),)), **more)


def row(*kept: str, **more: Any) -> RowLeak:
    usual: dict[str, Any] = {
        "population": NONE,
        "beyond": NONE,
        "alone": NONE,
        "at_least": NONE,
        "at_most": NONE,
        "population_at_least": NONE,
        "values": 5,
        "unbounded_share": 0.0,
    }
    return RowLeak("hiv", ("code",), kept or ("site",), **usual | more)


def beside(*rows: RowLeak, **more: Any) -> Protection:
    """A table in which all columns that these rows have are kept."""
    stays = tuple(dict.fromkeys(name for each in rows for name in each.kept))
    return protection(rows_out=rows, **{"stays": stays} | more)


def only(verdict: Verdict) -> Any:
    (finding,) = verdict.findings
    return finding


# --- kept -----------------------------------------------------------------------------------------


def test_a_table_of_nothing_else_keeps_what_was_proved() -> None:
    verdict = judge(protection())
    assert (verdict.level, verdict.findings, verdict.proved) == ("kept", (), True)
    assert 'lip(0.5) about "hiv"' in verdict.sentence
    assert "100 rows" in verdict.sentence
    assert verdict.command_for() == ""


def test_rows_that_were_measured_within_the_budget_keep_it() -> None:
    within = LeakRange(0.49, 0.3)
    told = row(population=within, beyond=within, alone=within, at_least=within, at_most=within)
    assert judge(beside(told)).level == "kept"


# --- at the limit ---------------------------------------------------------------------------------

BELOW, ABOVE = math.nextafter(0.5, 0), math.nextafter(0.5, 1)
LN2 = math.log(2)


@pytest.mark.parametrize("measure", ["population", "beyond", "alone"])
@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize(
    ("budget", "told", "level"),
    [
        ("0.5", BELOW, "kept"),
        ("0.5", 0.5, "kept"),  # this float is one half
        ("0.5", ABOVE, "conditional"),
        ("0.9", math.nextafter(0.9, 0), "kept"),
        ("0.9", 0.9, "conditional"),  # this float is above nine tenths
        ("ln 2", LN2, "kept"),  # this float is below ln 2 = 0.69314718055994530942
        ("ln 2", math.nextafter(LN2, 1), "conditional"),
        ("0.5", INF, "conditional"),
    ],
)
def test_what_is_not_certainly_within_the_budget_is_a_condition(
    measure: str, side: int, budget: str, told: float, level: str
) -> None:
    leak = LeakRange(told, 0.0) if side == 0 else LeakRange(0.0, told)
    columns = (column(ll.LIP(budget)),)
    verdict = judge(beside(row(**{measure: leak}), columns=columns))
    assert verdict.level == level
    assert verdict.proved is (level == "kept")


@pytest.mark.parametrize("measure", ["population", "beyond"])
@pytest.mark.parametrize(
    ("certain", "level"),
    [(0.3, "conditional"), (0.5, "conditional"), (ABOVE, "conditional"), (0.501, "broken")],
)
def test_only_what_is_certainly_above_breaks_the_promise(
    measure: str, certain: float, level: str
) -> None:
    least = {"population": "population_at_least", "beyond": "at_least"}[measure]
    told = LeakRange(0.0, 1.2)
    verdict = judge(beside(row(**{measure: told, least: LeakRange(0.0, certain)})))
    assert verdict.level == level
    finding = only(verdict)
    assert "by up to 1.2 nats" in finding.sentence
    assert ("which may be chance" in finding.sentence) is (level == "conditional")
    if level == "broken":
        assert "at least 0.501 beyond chance" in finding.sentence
        assert finding.promised == ("0.5", "0.5")


def test_numbers_are_rounded_to_their_safe_side() -> None:
    told = row(beyond=LeakRange(0.71234, 0.0), at_least=LeakRange(0.60987, 0.0))
    sentence = only(judge(beside(told))).sentence
    assert "by up to 0.713 nats" in sentence
    assert "at least 0.609 beyond chance" in sentence


def test_a_promise_of_one_side_says_nothing_of_the_other() -> None:
    columns = (column(parse_claim("eps_upper=0.5")),)
    assert judge(beside(row(beyond=LeakRange(INF, 0.4)), columns=columns)).level == "kept"
    told = row(beyond=LeakRange(INF, 0.7), at_least=LeakRange(INF, 0.6))
    finding = only(judge(beside(told, columns=columns)))
    assert finding.kind == "broken"
    assert "fall" not in finding.sentence
    assert finding.promised == (None, "0.5")


def test_what_never_changes_tells_nothing() -> None:
    # The released column attains its budget: as a float it may seem to be above.
    told = row(population=LeakRange(ABOVE, ABOVE), beyond=LeakRange(ABOVE, 0), values=1)
    assert judge(beside(told)).level == "kept"


# --- kept columns ---------------------------------------------------------------------------------


def test_a_column_that_tells_too_much_alone() -> None:
    kept = (KeptColumn("pay", "hiv", 9, INF, 0.2, 0.49),)
    verdict = judge(protection(kept=kept, stays=("pay",)))
    finding = only(verdict)
    assert (verdict.level, finding.columns, finding.leak) == ("broken", ("pay",), (INF, 0.2))
    assert "fall without limit" in finding.sentence
    assert "49" in finding.sentence
    assert "rise" not in finding.sentence
    within = replace(kept[0], eps_lower=0.5, eps_upper=0.5)
    assert judge(protection(kept=(within,), stays=("pay",))).level == "conditional"


def test_a_finding_is_not_said_again_of_more_columns() -> None:
    big, less = LeakRange(2.0, 2.0), LeakRange(0.7, 0.7)
    rows = (
        row("a", beyond=big, at_least=big),
        row("b", population=less),
        row("a", "b", beyond=big, at_least=big),
        row("b", "c", beyond=less, at_least=less),
        row("c"),
        row("a", "b", "c", beyond=big, at_least=big),
    )
    found = judge(beside(*rows)).findings
    assert [(each.kind, each.columns) for each in found] == [
        ("broken", ("a",)),
        ("broken", ("b", "c")),
        ("open", ("b",)),
    ]


def test_rare_values_that_cannot_be_bounded_are_a_condition() -> None:
    told = row(unbounded_share=0.25, at_most=LeakRange(INF, INF))
    finding = only(judge(beside(told)))
    assert finding.kind == "open"
    assert "in 25 %" in finding.sentence


def test_every_kept_column_owes_a_measure_for_every_secret() -> None:
    assert judge(beside(row("site"), stays=("site", "age"))).level == "conditional"
    assert only(judge(beside(row("site"), stays=("site", "age")))).columns == ("age",)
    other = replace(row("site"), secret="sex")
    assert judge(beside(other)).level == "conditional"


def test_columns_of_identities_are_a_condition_even_if_bands_of_them_tell_nothing() -> None:
    finding = only(judge(beside(row("person"), identities=("person",))))
    assert (finding.kind, finding.columns) == ("open", ("person",))
    told = row("person", beyond=LeakRange(INF, INF))
    assert len(judge(beside(told, identities=("person",))).findings) == 1


def test_what_was_not_looked_at_is_a_condition() -> None:
    missed = ("3 pairs of columns", "the rest")
    some = beside(row("a"), row("b"), not_measured=missed)
    finding = only(judge(some))
    assert (finding.kind, finding.sentence) == (
        "open",
        "not measured: 3 pairs of columns; the rest",
    )
    # Whole rows, with all that is kept, were measured: parts of them tell no more.
    whole = beside(row("a"), row("b"), row("a", "b"), not_measured=missed)
    assert judge(whole).level == "kept"
    assert judge(replace(whole, rows=2_000_000)).level == "conditional"
    told = row("a", "b", population=LeakRange(0.6, 0.0))
    assert len(judge(beside(row("a"), row("b"), told, not_measured=missed)).findings) == 2


def test_rows_in_the_order_of_the_secret_are_a_condition() -> None:
    finding = only(judge(protection(ordered=("hiv",))))
    assert finding.kind == "open"
    assert "sorted or grouped" in finding.sentence


def test_a_secret_that_is_kept_breaks_the_promise_on_purpose_too() -> None:
    verdict = judge(protection(stays=("hiv",), insisted=("hiv",)))
    assert verdict.level == "broken"
    assert verdict.findings[0].excess == INF
    assert "kept on purpose (--keep)" in verdict.findings[0].sentence
    kept = (KeptColumn("pay", "hiv", 9, 0.6, 0.2),)
    finding = only(judge(protection(kept=kept, stays=("pay",), insisted=("pay",))))
    assert (finding.kind, "on purpose" in finding.sentence) == ("broken", True)


# --- statistics that were given -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("own", "level"),
    [
        (EmpiricalLeakage(0.5, 0.4, True), "kept"),
        (EmpiricalLeakage(0.7, 0.4, False), "conditional"),
        (EmpiricalLeakage(0.7, 0.4, False, 0, LeakRange(0.45, 0.0)), "conditional"),
        (EmpiricalLeakage(0.7, 0.4, False, 0, LeakRange(0.6, 0.0)), "broken"),
    ],
)
@pytest.mark.parametrize("learned", [True, False])
def test_a_joint_that_does_not_fit_the_table(
    own: EmpiricalLeakage, level: str, learned: bool
) -> None:
    assert judge(protection(columns=(column(in_table=own, learned=learned),))).level == level


def test_a_joint_that_nothing_can_be_compared_with_is_a_condition() -> None:
    assert judge(protection(columns=(column(learned=False),))).level == "conditional"
    # What LDP promises of the value itself rests on no statistics.
    free = ProtectedColumn("code", None, made(ll.LDP("1"), JOINT.prior), False)
    assert judge(protection(columns=(free,))).level == "kept"


def test_a_prior_for_each_row() -> None:
    local = ll.design(["no", "yes"], ll.LIP("1"), method="safe-response")
    columns = (ProtectedColumn("x", None, local, False),)
    assert judge(protection(columns=columns)).level == "kept"
    finding = only(judge(protection(columns=columns, stays=("age",))))
    assert (finding.kind, "a prior for each row" in finding.sentence) == ("open", True)


def test_a_promise_of_averages_does_not_speak_of_rows() -> None:
    columns = (column(parse_claim("lip_ediv=0.5,0.2")),)
    assert judge(beside(row(), columns=columns)).level == "kept"
    told = LeakRange(0.1, 0.1)
    finding = only(judge(beside(row(population=told), columns=columns)))
    assert finding.kind == "open"
    assert "does not limit single beliefs" in finding.sentence


# --- several columns ------------------------------------------------------------------------------


def both(budget: str, *, exact: bool = True) -> Protection:
    one = column(ll.LIP(budget))
    other = replace(one, name="job")
    releases = [one.mechanism.table, other.mechanism.table]
    found = account(releases, JOINT)
    if not exact:
        spent = tuple(each for each in found.spent if not each.exact)
        found = replace(found, spent=spent)
    leak = CombinedLeak("hiv", ("code", "job"), found)
    return protection(columns=(one, other), combined=(leak,))


def test_columns_that_tell_too_much_together() -> None:
    alone = float(made(ll.LIP("0.5")).certificate.nats["eps_lower"])
    tight, wide = f"{alone + 0.01:.4f}", "1"
    verdict = judge(both(tight))
    finding = only(verdict)
    assert (verdict.level, finding.columns) == ("broken", ("code", "job"))
    assert "together" in finding.sentence
    assert judge(both(wide)).level == "kept"


def test_columns_that_may_tell_too_much_together() -> None:
    alone = float(made(ll.LIP("0.5")).certificate.nats["eps_lower"])
    assert judge(both(f"{alone + 0.01:.4f}", exact=False)).level == "conditional"
    missing = replace(both("1"), combined=())
    assert "tell together" in only(judge(missing)).sentence


def test_each_secret_is_judged_by_its_own_promises() -> None:
    strict, loose = column(), replace(column(ll.LIP("1")), name="job", secret="sex")
    told = LeakRange(0.8, 0.8)
    leaks = (
        row("site", beyond=told, at_least=told),
        replace(row("site", beyond=told, at_least=told), secret="sex", released=("job",)),
    )
    two = Protection("t.csv", 9, (strict, loose), rows_out=leaks, stays=("site",))
    assert [each.secret for each in judge(two).findings if each.kind == "broken"] == ["hiv"]


def test_a_table_of_several_values_as_one_is_judged_by_their_promise() -> None:
    told = LeakRange(0.8, 0.8)
    leak = replace(row(beyond=told, at_least=told), released=("a", "b"))
    pair = replace(column(), name="a + b")
    assert judge(beside(leak, columns=(pair,))).level == "broken"


# --- promises that are given kept columns ---------------------------------------------------------


@functools.cache
def _by_site() -> ProtectedColumn:
    frame = pa.Table.from_pylist(sites(2000))
    done = ll.protect(frame, "code", ll.LIP("0.5"), secret="hiv", given=["site"], seconds=2)
    (found,) = done.protection.columns
    return found


def given(*rows: RowLeak, **more: Any) -> Protection:
    return beside(row("site", **TOLD), *rows, **{"columns": (_by_site(),)} | more)


TOLD = {"alone": LeakRange(0.2, 0.3), "beyond": LeakRange(ABOVE, 0.5)}
"""What the site tells: little alone; the certificate says that the code adds what it may."""


def test_what_is_given_is_in_the_promise() -> None:
    verdict = judge(given())
    assert verdict.level == "kept"
    assert 'lip(0.5) about "hiv" given "site"' in verdict.sentence


def test_what_given_columns_tell_alone_is_said_and_is_no_breach() -> None:
    much = row("site", alone=LeakRange(0.2, 0.7), population=LeakRange(0.2, 1.2))
    verdict = judge(beside(much, columns=(_by_site(),)))
    finding = only(verdict)
    assert (verdict.level, finding.kind, verdict.proved) == ("conditional", "outside", True)
    assert "does not limit" in finding.sentence
    kept = (KeptColumn("site", "hiv", 2, 0.6, 0.0),)
    assert only(judge(given(kept=kept))).kind == "outside"


@pytest.mark.parametrize(
    ("told", "level"), [((0.69, 0.0), "conditional"), ((0.71, 0.0), "broken"), ((0.4, 0.5), "kept")]
)
def test_other_columns_are_judged_beyond_what_was_given(
    told: tuple[float, float], level: str
) -> None:
    # The site tells 0.2 down: of 0.71 down at least 0.51 are beyond that.
    kept = (KeptColumn("pay", "hiv", 2, *told),)
    rows = (row("pay"), row("site", "pay"))
    found = given(*rows, kept=kept)
    assert judge(found).level == level


@pytest.mark.parametrize(
    ("certain", "level"), [((0.0, 0.79), "conditional"), ((0.0, 0.81), "broken")]
)
def test_rows_are_judged_beyond_what_was_given(certain: tuple[float, float], level: str) -> None:
    told = row(
        "site", "pay", population=LeakRange(0.0, 1.0), population_at_least=LeakRange(*certain)
    )
    assert judge(given(row("pay"), told)).level == level
    apart = row("pay", population=LeakRange(0.0, 1.0), population_at_least=LeakRange(*certain))
    expected = "broken" if level == "broken" else "kept"
    assert judge(given(apart, row("site", "pay"))).level == expected


def test_what_the_released_adds_to_more_than_was_given() -> None:
    told = LeakRange(0.0, 0.7)
    assert judge(given(row("pay"), row("site", "pay", beyond=told))).level == "conditional"
    sure = row("site", "pay", beyond=told, at_least=LeakRange(0.0, 0.6))
    assert judge(given(row("pay"), sure)).level == "broken"
    # A mixture over sites, which nobody sees who has the row.
    assert judge(given(row("pay", beyond=told), row("site", "pay"))).level == "kept"


def test_what_more_columns_tell_than_given_ones_is_answered_by_these() -> None:
    found = only(given(row("site", "ward", at_least=LeakRange(0.0, 0.9))).verdict)
    assert [each.add for each in found.remedies if "--drop" in each.add] == [("--drop", "ward")]


def test_a_given_column_that_does_not_go_out_is_not_in_the_promise() -> None:
    # Without the site another promise was proved, which whoever has the rows is told.
    told = row("pay", population=LeakRange(0.0, 3.0), population_at_least=LeakRange(0.0, 3.0))
    verdict = judge(beside(told, columns=(_by_site(),)))
    assert (verdict.level, "given" in verdict.sentence) == ("broken", False)
    assert judge(beside(row("pay"), columns=(_by_site(),))).level == "kept"


def test_leaving_a_given_column_out_takes_it_out_of_the_promise() -> None:
    run = ("protect", "t.csv", "--given", "site", "--keep", "pay")
    much = row("site", alone=LeakRange(0.2, 0.7))
    found = judge(beside(much, columns=(_by_site(),), command=run))
    assert found.command_for() == "liftlock protect t.csv --keep pay --drop site"


# --- the whole ------------------------------------------------------------------------------------


def test_the_worst_comes_first() -> None:
    kept = (KeptColumn("pay", "hiv", 9, 0.9, 0.2), KeptColumn("town", "hiv", 9, INF, 0.2))
    verdict = judge(protection(kept=kept, stays=("pay", "town", "age"), ordered=("hiv",)))
    assert [each.kind for each in verdict.findings] == ["broken", "broken", "open", "open"]
    assert [each.columns for each in verdict.findings[:2]] == [("town",), ("pay",)]
    assert verdict.decisive == verdict.findings[:2]


def test_names_cannot_write_on_the_terminal() -> None:
    kept = (KeptColumn("x\x1b[2Jy", "hiv", 9, INF, 0.2),)
    verdict = judge(protection(kept=kept, stays=("x\x1b[2Jy",)))
    assert "\x1b" not in str(verdict) + "".join(each.sentence for each in verdict.findings)


def test_the_verdict_of_a_protection_is_that_of_the_judge() -> None:
    told = beside(row(beyond=LeakRange(INF, INF)))
    assert told.verdict == judge(told)
    assert told.verdict.level == "conditional"


def test_what_several_columns_tell_together_is_not_proved_of_each_given_others() -> None:
    draw = random.Random(4)
    bits = [[draw.random() < 0.5 for _ in "akh"] for _ in range(8000)]
    frame = pa.Table.from_pylist(
        [{"hiv": h, "site": "NS"[k], "a": "uv"[a], "b": "uv"[h ^ a ^ k]} for a, k, h in bits]
    )
    # Without the site neither tells anything, nor do both; with it they tell all.
    done = ll.protect(
        frame, ["a", "b"], ll.LIP("0.5"), secret="hiv", given=["site"], seconds=2, curve=False
    )
    assert done.verdict.level == "broken"
    assert done.verdict.findings[0].columns == ("site",)


def test_numbers_in_bands_are_a_condition() -> None:
    verdict = judge(beside(row(banded=("site",))))
    assert (verdict.level, verdict.proved) == ("conditional", False)
    assert "bands" in only(verdict).sentence
    # What chance would explain of the bands is no answer to what single numbers tell.
    chance = LeakRange(0.6, 0.0)
    both = judge(beside(row(banded=("site",), population=chance, beyond=chance))).findings
    assert [(each.kind, "bands" in each.sentence) for each in both] == [
        ("open", False),
        ("open", True),
    ]
    certain = row(banded=("site",), population=chance, beyond=chance, at_least=chance)
    assert only(judge(beside(certain))).kind == "broken"
    # What a given column tells is no breach; that it was measured in bands is not said by that.
    much = row("site", alone=LeakRange(0.2, 0.7), banded=("site",))
    assert not judge(beside(much, columns=(_by_site(),))).proved
