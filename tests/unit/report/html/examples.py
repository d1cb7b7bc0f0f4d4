"""Protected tables to report on: everyday ones, and such as nobody would want."""

from __future__ import annotations

import functools
import math

import numpy as np

import liftlock as ll
from liftlock.accounting import account
from liftlock.tables.protect import (
    CombinedLeak,
    Curve,
    CurvePoint,
    KeptColumn,
    LeakRange,
    ProtectedColumn,
    Protection,
    ReportHead,
    RowLeak,
    RowWitness,
)

INF = math.inf
JOBS = ("clerk", "nurse", "cook", "driver")
HOMES = ("alone", "couple", "family")
COUNTS = ((30, 12, 9, 14), (22, 25, 11, 20), (8, 33, 10, 26))

ODD = (
    "<script>alert(1)</script>",
    "עברית “quotes” & more",
    "x" * 60,
    "W" * 60,
    "two\nlines \x1b[31m \u202e",
    "\"'`&amp;",
    "漢字" * 20,
    "family 👩‍👩‍👧",
)


@functools.cache
def joint() -> ll.Joint:
    """Return made-up counts of homes and jobs."""
    rows = {
        home: dict(zip(JOBS, row, strict=True)) for home, row in zip(HOMES, COUNTS, strict=True)
    }
    return ll.Joint.from_counts(rows)


@functools.cache
def careful() -> ll.Mechanism:
    """Return a mechanism that keeps the job with 0.7 and else draws one at random."""
    matrix = 0.7 * np.eye(4) + 0.3 / 4
    draft = ll.Draft.of(list(JOBS), list(JOBS), matrix)
    return ll.lock(draft, ll.ALIP(lower="0.6", upper="0.7"), joint())


@functools.cache
def everyday() -> Protection:
    """Return a table with everything that a report can have."""
    made = careful()
    curve = Curve(
        "mutual information I(X; Y), nats",
        True,
        tuple(
            CurvePoint(scale, f"alip(lower={0.6 * scale:g}, upper={0.7 * scale:g})", utility)
            for scale, utility in ((0.5, 0.2), (1.0, 0.41), (2.0, 0.9))
        ),
        0.0,
        1.3,
    )
    first = ProtectedColumn(
        "job",
        "home",
        made,
        True,
        ("Missing values are a category.",),
        curve,
        "job.json",
        {"clerk": 60, "nurse": 70, "cook": 32, "driver": 58},
    )
    second = ProtectedColumn("former job", "home", made, False)
    together = CombinedLeak("home", ("job", "former job"), account([made, made], joint()))
    kept = (
        KeptColumn("rooms", "home", 5, INF, 0.9),
        KeptColumn("street", "home", 60, 1.5, 1.2, 0.31),
    )
    return Protection(
        "people.csv",
        220,
        (first, second),
        (together,),
        kept,
        ("home",),
        "safe.csv",
        ("A note.",),
        rows_out=rows_out(("job",), "home"),
        not_measured=("'born': too many values, too few rows of each",),
        stays=("rooms", "street", "floor", "born"),
        head=ReportHead("Statistics of the city", "Ada Example, registry", "October 2026", "2"),
        command=("protect", "people.csv", "--column", "job", "--column", "former job",
                 "--secret", "home", "--epsilon-lower", "0.6", "--epsilon-upper", "0.7",
                 "-o", "safe.csv", "--report", "report.html"),
    )  # fmt: skip


def rows_out(released: tuple[str, ...], secret: str) -> tuple[RowLeak, ...]:
    """Return what rows tell: within the budget, by chance, certainly too much, and unknown."""
    none = LeakRange(0.0, 0.0)
    small, much = LeakRange(0.21, 0.3), LeakRange(INF, 1.4)
    sure, most = LeakRange(1.31, 0.82), LeakRange(2.1, 1.9)
    endless = LeakRange(INF, INF)
    seen = RowWitness("alone", ("left", "3"), ("nurse",))
    return (
        RowLeak(secret, released, ("floor",), small, small, none, none, small, none, 4, 0.0),
        RowLeak(secret, released, ("rooms",), much, much, much, sure, most, sure, 5, 0.0),
        RowLeak(
            secret, released, ("street",), much, much, much, none, endless, none, 60, 0.31, (), seen
        ),
        RowLeak(
            secret,
            released,
            ("rooms", "street", "floor", "born"),
            endless,
            much,
            endless,
            sure,
            endless,
            sure,
            198,
            0.87,
            ("born",),
        ),
    )


@functools.cache
def odd() -> Protection:
    """Return a table whose every text tries to break the page."""
    rng = np.random.default_rng(3)
    counts = {s: {x: int(rng.integers(1, 50)) for x in ODD} for s in ODD[:7]}
    matrix = 0.3 * np.eye(8) + 0.7 / 8
    made = ll.lock(
        ll.Draft.of(list(ODD), list(ODD), matrix), ll.LIP("2"), ll.Joint.from_counts(counts)
    )
    column = ProtectedColumn(
        "<img src=x onerror=alert(1)>" + "y" * 60,
        "</style></title><b>" + "z" * 60,
        made,
        True,
        ("<i>a note</i>",),
        file="a b'; rm -rf.json",
        counts=dict.fromkeys(ODD, 4),
    )
    kept = "<s>kept</s>" + "k" * 60
    return Protection(
        "<b>table</b> & more.csv",
        32,
        (column,),
        kept=(KeptColumn(kept, str(column.secret), 3, INF, 3.0),),
        dropped=("<u>",),
        notes=("<script>1</script>",),
        stays=(kept, "\x1b[2J"),
        not_measured=("<q>nothing</q>",),
        rows_out=(rows_out((column.name,), str(column.secret))[2],),
        head=ReportHead("<p>" + "q" * 200, "two\nlines", "<time>", "\u202e"),
        command=("protect", "<b>table</b> & more.csv", "--column", "x" * 200, "'; rm -rf"),
    )


@functools.cache
def numbers() -> Protection:
    """Return a column of numbers in 512 cells, protected for its own sake."""
    sample = np.random.default_rng(5).lognormal(10.5, 0.5, 4000)
    prior = ll.continuous.from_data(sample, domain=(0, 200_000)).discretise(512)
    # Three outputs, each a fair hint at a third of the people.
    third = np.minimum(np.arange(512) * 3 // 512, 2)
    matrix = 0.2 + 0.4 * np.eye(3)[third]
    draft = ll.Draft.of(prior.inputs, ll.Alphabet.numbers([25_000, 36_000, 60_000]), matrix)
    made = ll.lock(draft, ll.LIP("0.7"), prior)
    counts = {25_000: 1300, 36_000: 1400, 60_000: 1300}
    points = tuple(
        CurvePoint(scale, f"lip(epsilon={0.7 * scale:g})", 4e8 - 1e8 * scale)
        for scale in (0.25, 0.5, 0.75, 1.0, 1.5, 2.0)
    )
    curve = Curve("squared error of X (mean, per person)", False, points, 4.7e8, 0.0)
    column = ProtectedColumn("salary", None, made, True, curve=curve, counts=counts)
    return Protection("salaries.csv", 4000, (column,))


@functools.cache
def many() -> Protection:
    """Return a column of 200 values against a secret of 60, with long names."""
    rng = np.random.default_rng(7)
    values = [f"value number {place} " + "v" * 44 for place in range(200)]
    secrets = [f"secret number {place} " + "s" * 43 for place in range(60)]
    counts = {s: {x: int(rng.integers(1, 60)) for x in values} for s in secrets}
    matrix = 0.5 * np.eye(200) + 0.5 / 200
    made = ll.lock(
        ll.Draft.of(values, values, matrix),
        ll.notions.MaxLift("2"),
        ll.Joint.from_counts(counts),
    )
    return Protection("many.csv", 300_000, (ProtectedColumn("product", "person", made, True),))
