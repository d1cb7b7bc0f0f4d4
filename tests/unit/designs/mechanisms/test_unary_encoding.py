"""OUE and SUE as designs: certified, worth, locked, saved and loaded; a changed file is refused."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from liftlock import Mechanism, Prior, design, lock
from liftlock.designs import lock as lock_channel
from liftlock.designs import oue, sue
from liftlock.designs.goal import encoded_cost
from liftlock.errors import FileError, InputError, NotCertified
from liftlock.exact.budget import Budget
from liftlock.model.structured import UnaryChannel
from liftlock.notions import LDP, LIP
from liftlock.utility import make_utility, mean_cost

PRIOR = Prior.from_counts({"a": 1, "b": 2, "c": 7})


def test_parameters() -> None:
    draft = oue(PRIOR, LDP("1"))
    assert draft.channel.hit == Fraction(1, 2)
    assert float(draft.channel.miss) == pytest.approx(1 / (math.e + 1))
    draft = sue(PRIOR, LDP("1"))
    assert float(draft.channel.miss) == pytest.approx(1 / (math.exp(0.5) + 1))
    assert draft.channel.hit + draft.channel.miss == 1


@pytest.mark.parametrize("method", ["oue", "sue", "hashing"])
@pytest.mark.parametrize("notion", [LDP("0.01"), LIP("1"), LDP("8")], ids=str)
def test_saved_and_loaded(method: str, notion: LDP | LIP, tmp_path: Path) -> None:
    mechanism = design(PRIOR, notion, method=method)
    mechanism.save(tmp_path / "made.json")
    again = Mechanism.load(tmp_path / "made.json")
    assert again == mechanism
    assert again.certificate.holds
    assert len(again.release(["a", "b", "b"])) == 3
    with pytest.raises(InputError, match="no table"):
        _ = mechanism.table
    data = json.loads((tmp_path / "made.json").read_text())
    data["channel"]["other"] -= 1
    (tmp_path / "changed.json").write_text(json.dumps(data))
    with pytest.raises(FileError, match="another channel"):
        Mechanism.load(tmp_path / "changed.json")


def test_a_channel_over_the_budget_is_moved_by_a_hair_or_refused() -> None:
    exact = UnaryChannel.optimal("abc", Budget.of("1"))
    near = UnaryChannel.of("abc", own=exact.own, other=exact.other - 1000)
    assert not LDP("1").certify(near, PRIOR).holds
    locked = lock_channel(near, LDP("1"), PRIOR)
    assert locked.certificate.holds
    assert locked.blend > 0
    assert "nearer" in locked.changes()
    assert locked.channel.parameters()["other"] >= exact.other
    assert lock(near, LDP("1"), PRIOR).certificate.holds
    with pytest.raises(NotCertified, match=r"ldp=1\.0986"):
        lock(UnaryChannel.of("abc", own=2, other=1, bits=2).with_bits(20), LDP("0.1"), PRIOR)


def test_fewer_bits_stay_on_the_safe_side() -> None:
    for bits in (4, 8, 20):
        mechanism = design(PRIOR, LDP("1"), method="oue", bits=bits)
        assert mechanism.channel.bits == bits
        assert float(LDP.measure(mechanism.channel)) <= 1


def test_worth_is_that_of_the_table() -> None:
    """Few symbols: exactly. Many: simulated, within 5 standard errors of the exact value.

    The exact value for d symbols of one mass sums over how many others are supported.
    """
    goal = make_utility("histogram", PRIOR.alphabet)
    channel = UnaryChannel.optimal("abc", Budget.of("1"))
    cost, remark = encoded_cost(goal, channel, PRIOR.floats())
    assert remark == ""
    assert cost == pytest.approx(mean_cost(goal, channel.to_dense().floats(), PRIOR.floats()))

    size = 30
    many = UnaryChannel.optimal(range(size), Budget.of("2"))
    p, q = float(many.hit), float(many.miss)
    ratio = p * (1 - q) / (q * (1 - p))
    exact = 0.0
    for others in range(size):
        chance = math.comb(size - 1, others) * q**others * (1 - q) ** (size - 1 - others)
        for own, weight in ((1, p), (0, 1 - p)):
            k = others + own
            total = k * ratio + size - k
            exact += chance * weight * (1 - (k * ratio**2 + size - k) / total**2)
    uniform = np.full(size, 1 / size)
    cost, remark = encoded_cost(
        make_utility("histogram", Prior.uniform(range(size)).alphabet), many, uniform
    )
    error = float(remark.split()[-1])
    assert abs(cost - exact) < 5 * error + 1e-12


def test_a_report_of_one_byte_is_singular() -> None:
    assert oue(PRIOR, LDP("1")).remarks == ("a report is 1 byte, a bit for each symbol",)
    many = oue(Prior.uniform(range(10_000)), LDP("1"))
    assert many.remarks == ("a report is 1,250 bytes, a bit for each symbol",)
    assert str(many.channel) == "unary encoding of 10000 symbols, 1,250 bytes a report"
