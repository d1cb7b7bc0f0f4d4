"""A published count: the law of every output by exact enumeration, against the definition."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import comb
from pathlib import Path

import mpmath as mp
import pytest

import liftlock as ll
from liftlock.cli import main
from liftlock.designs import CountMechanism, centralised_error
from liftlock.designs.count import COIN
from liftlock.errors import InputError
from liftlock.notions import MinLift, Notion

WORLDS = [
    (people, share, notion)
    for people in (3, 12, 40, 90)
    for share in ("1/10", "1/3", "0.5", "0.93")
    for notion in (
        ll.LIP("0.3"),
        ll.LIP("1"),
        ll.ALIP(lower="0.4", upper="1.2"),
        ll.LDP("0.8"),
        ll.LIP("4"),
    )
]


def outputs(rule: CountMechanism) -> Iterator[tuple[Fraction, Fraction, Fraction]]:
    """Give P(y), P(X = 1, y) and P(y) E[(S - E[S | y])^2 | y] for every output of a rule."""
    n, p = rule.people, rule.share
    law: dict[str, dict[int, Fraction]] = {}
    for s in range(n + 1):
        if rule.table is not None:
            row = rule.table.table
            weights = {
                str(y): Fraction(int(weight), row.totals[s])
                for y, weight in zip(row.outputs.labels, row.weights[s], strict=True)
            }
        else:
            low, high = (
                Fraction(1) if count < tail.end
                else Fraction(tail.chance, 1 << COIN) if count == tail.end
                else Fraction(0)
                for tail, count in ((rule.low, s), (rule.high, n - s))
            )  # fmt: skip
            weights = {"low": low, "high": high, f"exactly {s}": 1 - low - high}
        mass = comb(n, s) * p**s * (1 - p) ** (n - s)
        for y, weight in weights.items():
            if weight:
                law.setdefault(y, {})[s] = weight * mass
    for masses in law.values():
        total = sum(masses.values(), Fraction(0))
        ones = sum((mass * s / n for s, mass in masses.items()), Fraction(0))
        mean = n * ones / total
        spread = sum((mass * (s - mean) ** 2 for s, mass in masses.items()), Fraction(0))
        yield total, ones, spread


@pytest.mark.parametrize(("people", "share", "notion"), WORLDS)
def test_every_output_keeps_the_definition(people: int, share: str, notion: Notion) -> None:
    rule = CountMechanism.design(people, share, notion)
    p, error = rule.share, Fraction(0)
    for total, ones, spread in outputs(rule):
        lifts = ones / total / p, (1 - ones / total) / (1 - p)
        budgets = {name: mp.mpf(text) for name, text in notion.budgets.items()}
        if notion.name == "ldp":
            assert max(lifts) <= min(lifts) * Fraction(str(mp.exp(budgets["budget"]) * (1 + 1e-14)))
        else:
            one = budgets.get("epsilon", mp.mpf(0))
            upper, lower = mp.exp(budgets.get("upper", one)), mp.exp(-budgets.get("lower", one))
            assert all(lower * (1 - 1e-14) <= mp.mpf(lift.numerator) / lift.denominator
                       <= upper * (1 + 1e-14) for lift in lifts)  # fmt: skip
        error += spread
    assert rule.certificate.holds
    if notion.name == "lip":
        best = centralised_error(people, share, notion.budgets["epsilon"]).error
        assert float(error) == pytest.approx(best, abs=1e-9 * people**2)


@pytest.mark.parametrize("people", [900, 2_000, 300_000])
def test_bounds_on_the_tails_are_bounds(people: int) -> None:
    """The mean of a tail by mpmath, from incomplete sums of 60 digits."""
    rule = CountMechanism.design(people, "0.02", ll.LIP("0.7"))
    with mp.workdps(60):
        n, p = people, mp.mpf(1) / 50
        for tail, q in ((rule.low, p), (rule.high, 1 - p)):
            weight, plain, weighted = mp.mpf(1), mp.mpf(0), mp.mpf(0)
            for s in range(tail.end, max(tail.end - 4_000, 0), -1):
                weight *= s * (1 - q) / ((n - s + 1) * q)
                plain, weighted = plain + weight, weighted + (tail.end - s + 1) * weight
            mean = tail.end - weighted / (plain + mp.mpf(tail.chance) / 2**COIN)
            bound = mp.mpf(tail.mean.numerator) / tail.mean.denominator
            assert mean - mp.mpf(2) ** -50 <= bound <= mean + mp.mpf(10) ** -50


def test_what_is_published_is_what_the_rule_says() -> None:
    rule = CountMechanism.design(1_000, "0.1", ll.LIP("0.5"))
    low, high = rule.certain or (0, 0)
    assert [rule.publish(s).text for s in (low, 100, high)] == [str(low), "100", str(high)]
    assert rule.publish(0) == rule.lowest
    assert rule.publish(1_000) == rule.highest
    ends = [rule.publish(low - 1).text for _ in range(400)]
    share = rule.low.chance / 2**COIN  # the false-alarm rate of what follows is below 1e-9
    assert 0 < share < 1
    assert set(ends) <= {str(low - 1), rule.lowest.text}
    assert abs(ends.count(rule.lowest.text) / 400 - share) < 0.16
    with pytest.raises(InputError, match="not a count of these people"):
        rule.publish(1_001)


def test_a_count_at_the_end_of_both_tails_goes_to_each_as_often_as_it_should(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rule = CountMechanism.design(20, "1/2", ll.LIP("0.2"))
    assert rule.low.end == rule.people - rule.high.end
    assert 0 < rule.low.chance < (1 << COIN) - rule.high.chance < 1 << COIN
    coins = [1 << COIN, rule.low.chance, (1 << COIN) - rule.high.chance, 0]
    said: dict[int, str] = {}
    for edge in coins:
        for coin in (edge - 1, edge):
            if 0 <= coin < 1 << COIN:
                monkeypatch.setattr("secrets.randbits", lambda _, coin=coin: coin)
                said[coin] = rule.publish(rule.low.end).text
    for coin, text in said.items():
        if coin < rule.low.chance:
            assert text == rule.lowest.text
        elif coin >= (1 << COIN) - rule.high.chance:
            assert text == rule.highest.text
        else:
            assert text == str(rule.low.end)
    assert {rule.lowest.text, rule.highest.text} <= set(said.values())


@pytest.mark.parametrize("share", ["1e-6", "1/3", "1/2", "0.999999"])
@pytest.mark.parametrize("people", [2, 17])
@pytest.mark.parametrize(
    "notion", [ll.LIP("20"), ll.LIP("50"), ll.LDP("30"), MinLift("300")], ids=str
)
def test_huge_budgets_are_kept_and_not_refused(people: int, share: str, notion: Notion) -> None:
    """A belief of exactly 0 or 1 breaks them all: no count at an end is ever published."""
    rule = CountMechanism.design(people, share, notion)
    budget = mp.mpf(next(iter(notion.budgets.values())))
    with mp.workdps(200):
        for total, ones, _ in outputs(rule):
            lifts = ones / total / rule.share, (1 - ones / total) / (1 - rule.share)
            least, most = (mp.mpf(end.numerator) / end.denominator for end in sorted(lifts))
            ratio = most / least if notion.name == "ldp" else 1 / least
            assert ratio <= mp.exp(budget)


def test_a_tail_may_end_above_the_mean_count() -> None:
    rule = CountMechanism.design(1_000, "0.0005", ll.LIP("8"))  # the mean count is 0.5
    assert rule.certain == (2, 998)
    lopsided = CountMechanism.design(1_000_000, "0.1", ll.ALIP(lower="0.0012", upper="3"))
    assert lopsided.low.end == 100_218


def test_a_rule_that_publishes_a_count_sometimes_does_not_call_it_blurred(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "answers.csv"
    path.write_text("answer\n" + "no\n" * 30 + "yes\n" * 3, encoding="utf-8")
    asked = ["publish", str(path), "--column", "answer", "--value", "yes", "--share", "0.1"]
    assert main([*asked, "--epsilon", "0.5"]) == 0
    captured = capsys.readouterr()
    assert "no count is always published as it is" in " ".join(captured.out.split())
    assert "answer independently of each other" in " ".join(captured.err.split())


def test_refusals() -> None:
    for share in (0, 1):
        with pytest.raises(InputError, match="nothing to hide"):
            CountMechanism.design(10, share, ll.LIP("1"))
    with pytest.raises(InputError, match="number of people out of range"):
        CountMechanism.design(0, "0.5", ll.LIP("1"))
    with pytest.raises(InputError, match="too small to publish any count of 50,000 people"):
        CountMechanism.design(50_000, "0.1", ll.LIP("0.001"))


def test_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = ["yes"] * 60 + ["no"] * 539 + [""]
    text = "".join(f"{place},{answer}\n" for place, answer in enumerate(rows))
    Path("answers.csv").write_text(f"person,answer\n{text}", encoding="utf-8")
    asked = ["publish", "answers.csv", "--column", "answer", "--value", "yes"]
    budget = ["--share", "0.1", "--epsilon", "0.5"]
    assert main([*asked, *budget]) == 2
    assert "1 cell of the column 'answer' missing" in capsys.readouterr().err
    assert main([*asked, *budget, "--missing", "count"]) == 0
    out = capsys.readouterr().out
    assert '"answer" is "yes": 60 of 600 people' in out
    assert "CERTIFIED: lip(epsilon=0.5) for the answer of any one of 600 people" in out
    named = ["publish", "answers.csv", "--column", "answer", "--value", "None"]
    assert main([*named, *budget, "--missing", "count"]) == 0
    assert '"None": 1 of' not in capsys.readouterr().out
    assert main([*asked, "--share", "0.9", "--epsilon", "0.5", "--missing", "count"]) == 0
    assert "at most" in capsys.readouterr().out


def test_the_fingerprint_names_the_rule() -> None:
    wide, narrow = (CountMechanism.design(5_000, "0.1", ll.LIP(budget)) for budget in ("1", "0.1"))
    assert wide.certain != narrow.certain
    assert wide.certificate.channel != narrow.certificate.channel
    again = CountMechanism.design(5_000, "0.1", ll.LIP("1"))
    assert again.certificate.channel == wide.certificate.channel
