"""The journeys that a newcomer follows through the code."""

from __future__ import annotations

import contextlib
import io
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import liftlock as ll
from liftlock.cli import main
from liftlock.model.profile_examples import example
from tests.golden.journeys import INPUTS


def _command(text: str) -> Callable[[], None]:
    def run() -> None:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            code = main(text.split())
        assert code == 0, text

    return run


def journeys() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Return names and journeys, to be run in this order in the current folder."""
    shutil.copytree(INPUTS, Path.cwd(), dirs_exist_ok=True)
    prior = ll.read_prior("prior.csv")
    mechanism = ll.design(prior, ll.LIP("1"), utility="histogram")
    graph = example("categorical-chain")
    hidden = ll.design(graph, ll.ProfilePrivacy("0.1"))
    yield (
        "protect --report",
        _command(
            "protect people.csv --column job --secret religion --epsilon 0.5 -o safe.csv "
            "--report report.html --force"
        ),
    )
    yield (
        "protect",
        _command(
            "protect people.csv --column job --secret religion --epsilon 0.5 -o safe.csv --force"
        ),
    )
    yield "design", lambda: ll.design(prior, ll.LIP("1"), utility="histogram")
    yield "release", lambda: mechanism.release(["none", "flu", "cold"])
    yield "audit --check", _command("audit channel.csv --prior prior.csv --check lip=2")
    yield "design of profiles", lambda: ll.design(graph, ll.ProfilePrivacy("0.1"))
    yield "release of profiles", lambda: hidden.release([1, 2], ["P1", "P2"])
    yield "estimate", _command("estimate mechanism.json reports.csv --column report")
    yield (
        "account --record",
        _command("account ledger.json --record mechanism.json --who staff --about health"),
    )
