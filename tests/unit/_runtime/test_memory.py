"""What there is of memory, and refusals of what needs more before anything is made."""

from __future__ import annotations

import pytest

import liftlock as ll
from liftlock._runtime.memory import SETTING, available_memory, require_memory
from liftlock.designs import design
from liftlock.errors import InputError


@pytest.mark.parametrize(
    ("text", "size"), [("8GiB", 8 << 30), ("500 MB", 500 << 20), ("4e9", 4e9), ("2k", 2048)]
)
def test_what_is_set_replaces_every_limit(
    monkeypatch: pytest.MonkeyPatch, text: str, size: float
) -> None:
    monkeypatch.setenv(SETTING, text)
    assert available_memory() == size


@pytest.mark.parametrize("text", ["much", "-1", "nan", "1x"])
def test_a_setting_that_is_no_size(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv(SETTING, text)
    with pytest.raises(InputError, match=f"{SETTING} is not a size"):
        available_memory()


def test_the_least_limit_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SETTING, raising=False)
    monkeypatch.setattr("liftlock._runtime.memory._limits", lambda: iter([5e9, 3e9]))
    require_memory(3e9, "this", remedy="less")
    with pytest.raises(InputError, match=r"this needs about 3.7 GiB of memory, but only 2.8"):
        require_memory(4e9, "this", remedy="less")


@pytest.mark.parametrize("method", ["optimal", "k-rr", "safe-response", "subset-merging"])
def test_a_table_that_does_not_fit_is_refused_before_it_is_made(
    monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    monkeypatch.setenv(SETTING, "1MB")
    prior = ll.Prior.uniform(range(200))
    with pytest.raises(InputError, match=f"the method {method} for 200 symbols needs about"):
        design(prior, ll.LIP("1"), method=method, utility="histogram")


def test_a_design_with_few_outputs_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SETTING, "1MB")
    prior = ll.Prior.uniform(range(200))
    assert design(prior, ll.LIP("1"), method="quantile-blocks").certificate.holds


def test_a_million_symbols_are_refused_with_numbers() -> None:
    with pytest.raises(InputError, match=r"1,000,000 symbols needs about \d+ TiB"):
        design(ll.Prior.uniform(range(1_000_000)), ll.LIP("1"))
