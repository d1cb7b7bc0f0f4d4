"""Rounded probabilities: divided by their sum on request, else refused, and always said."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import liftlock as ll
from liftlock.errors import CountError, FileError, InputError, RowError
from liftlock.files import read_profiles
from tests.unit.cli.conftest import Run
from tests.unit.cli.test_bad_input import assert_refused

THIRDS = "label,probability\na,0.3333\nb,0.3333\nc,0.3333\n"
FAMILY = "label,now,then\na,0.3333,0.5\nb,0.3333,0.25\nc,0.3333,0.25\n"
CHANNEL = "input,x,y\na,0.333,0.666\nb,0.5,0.5\nc,0.25,0.75\n"
PROFILES = "name,on,off\nann,0.333,0.666\nbob,0.5,0.5\n"
ROWS = "answer,p_a,p_b\na,0.3333,0.6666\nb,0.5,0.5\n"
FILES = {
    "thirds.csv": THIRDS,
    "family.csv": FAMILY,
    "channel.csv": CHANNEL,
    "profiles.csv": PROFILES,
    "rows.csv": ROWS,
}


@pytest.mark.parametrize(
    ("read", "name", "exact"),
    [
        (ll.read_prior, "thirds.csv", lambda found: found["a"] == Fraction(1, 3)),
        (ll.read_priors, "family.csv", lambda found: found.priors[0]["a"] == Fraction(1, 3)),
        (
            ll.read_channel,
            "channel.csv",
            lambda found: (
                Fraction(int(found.channel.weights[0, 0]), found.channel.totals[0])
                == Fraction(1, 3)
            ),
        ),
        (read_profiles, "profiles.csv", lambda found: found.counts[0] == (333, 666)),
    ],
)
def test_files(
    read: Callable[..., Any], name: str, exact: Callable[[Any], bool], tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text(FILES[name], encoding="utf-8")
    with pytest.raises(FileError, match=r"--normalise, normalise=True in Python"):
        read(path)
    told: list[str] = []
    assert exact(read(path, told.append, normalise=True))
    assert len(told) == 1
    assert "divided by their sum" in told[0]


def test_what_has_no_positive_sum_stays_refused(tmp_path: Path) -> None:
    path = tmp_path / "channel.csv"
    path.write_text("input,x,y\na,0,0\nb,0.5,0.5\n", encoding="utf-8")
    with pytest.raises(FileError, match="row does not sum to 1"):
        ll.read_channel(path, normalise=True)
    path.write_text("label,probability\na,0.0\nb,0.0\n", encoding="utf-8")
    with pytest.raises(InputError):
        ll.read_prior(path, normalise=True)


def test_in_python() -> None:
    rows = {"a": {"x": "0.333", "y": "0.666"}, "b": {"x": "0.5", "y": "0.5"}}
    with pytest.raises(RowError, match="or give normalise=True"):
        ll.Channel.from_rows(rows)
    made = ll.Channel.from_rows(rows, normalise=True)
    assert Fraction(int(made.weights[0, 0]), made.totals[0]) == Fraction(1, 3)
    table = [[0.3333, 0.3333, 0.3333], [0.2, 0.3, 0.5]]
    users = ll.PerUserPriors.of("abc", table, normalise=True)
    assert users.rows(0, 2).sum(axis=1) == pytest.approx([1, 1], abs=1e-15)
    families = ll.PerUserPriors.families("abc", [table, table], normalise=True)
    assert families.rows(0, 2).sum(axis=1) == pytest.approx([1, 1], abs=1e-12)
    with pytest.raises(CountError, match="or normalise=True"):
        ll.PerUserPriors.families("abc", [table])
    with pytest.raises(CountError, match="normalise=True"):
        ll.design(
            ll.PerUserPriors.of("abc", [[-0.1, 0.6, 0.4]], normalise=True).smoothed("0.1"),
            ll.LIP("1"),
        )


@pytest.mark.parametrize(
    "asked",
    [
        ("design", "--prior", "thirds.csv", "--epsilon", "1", "--no-comparison", "-o", "m.json"),
        ("design", "--family", "family.csv", "--epsilon", "1", "--no-comparison"),
        ("design", "--profiles", "profiles.csv", "--graph", "complete", "--epsilon", "1"),
        ("compare", "--prior", "thirds.csv", "--epsilons", "1", "--methods", "k-rr"),
        ("plan", "--prior", "thirds.csv", "--n", "100", "--epsilon", "1"),
        ("audit", "channel.csv", "--prior", "thirds.csv"),
        ("lock", "channel.csv", "--prior", "thirds.csv", "--guarantee", "lip=2", "-o", "l.json"),
        ("relations", "lip=1", "--prior", "thirds.csv"),
    ],
)
def test_commands(run: Run, asked: tuple[str, ...]) -> None:
    assert_refused(run(*asked, files=FILES), "--normalise")
    outcome = run(*asked, "--normalise", files=FILES)
    assert outcome.code == 0
    assert "divided by their sum" in outcome.err
    if "m.json" in asked:
        stored = json.loads(Path("m.json").read_text(encoding="utf-8"))
        assert any("summed to 0.9999" in remark for remark in stored["origin"]["remarks"])


def test_a_joint_of_fractions_is_divided_and_it_is_said(run: Run) -> None:
    files = {"j.csv": "s,a,b\nu,0.3,0.3\nv,0.1,0.2\n"}
    outcome = run(
        "audit", "c.csv", "--joint", "j.csv", files=files | {"c.csv": "i,x,y\na,1,0\nb,0,1\n"}
    )
    assert "summed to 0.9 and were divided by their sum" in outcome.err


def test_the_priors_of_rows(run: Run) -> None:
    run("--version", files=FILES)
    ll.design(["a", "b"], ll.LIP("1"), method="safe-response").save(Path("users.json"))
    asked = ["release", "users.json", "rows.csv", "--column", "answer", "--local-priors", "p_"]
    asked += ["-o", "out.csv"]
    assert_refused(run(*asked), "the probabilities of the row are not a prior", "--normalise")
    outcome = run(*asked, "--normalise")
    assert outcome.code == 0
    assert "the probabilities of each row were divided by their sum" in outcome.err


def test_certificates_of_users_say_of_which_priors_they_speak() -> None:
    made = ll.design(["a", "b"], ll.LIP("1"), method="safe-response")
    words = "for priors in multiples of 2^-32, to which each user's is rounded before it is used"
    assert words in str(made.certificate)
    priors = ll.PerUserPriors.of("ab", np.array([[0.3, 0.7], [1 / 3, 2 / 3]]))
    found = ll.audit(made, priors)
    assert words in str(found)
    assert found.to_data()["scope"] == words
    assert words not in str(ll.design(ll.Prior.uniform("ab"), ll.LIP("1")).certificate)


def test_the_sentence_is_true() -> None:
    """The audit of two priors that are rounded to the same points is the same."""
    made = ll.design(["a", "b"], ll.LIP("1"), method="safe-response")
    near = [ll.PerUserPriors.of("ab", np.array([[p, 1 - p]])) for p in (0.25, 0.25 + 2.0**-40)]
    first, second = (ll.audit(made, priors) for priors in near)
    assert first.largest == second.largest
    other = ll.audit(
        made, ll.PerUserPriors.of("ab", np.array([[0.25 + 2.0**-30, 0.75 - 2.0**-30]]))
    )
    assert other.largest != first.largest
