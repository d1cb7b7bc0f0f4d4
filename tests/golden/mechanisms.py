"""Mechanisms whose files must be the same, byte for byte, on every machine and every day.

    python -m tests.golden.mechanisms          # print the SHA-256 of each file
    python -m tests.golden.mechanisms arc      # of those whose name begins so
    python -m tests.golden.mechanisms --write  # after a change that is meant: store them

Every way of solving is here at least once, each to its own end: none is stopped by its limits. The
test of a method may say the digests of its mechanisms itself, as ``DIGESTS``.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from liftlock import Ball, Context, Joint, Mechanism, Prior, continuous
from liftlock.designs import DESIGNS, design, designs_for
from liftlock.errors import LiftlockError
from liftlock.model import profile_examples as examples
from liftlock.notions import ALIP, LDP, LIP, Notion, ProfilePrivacy
from tests.contracts import worlds

STORED = Path(__file__).with_name("mechanisms.json")

UTILITIES = ("mutual-information", "histogram", "mean", "guess", "absolute")


def skewed(size: int) -> Prior:
    """Return a prior with a long tail, on the numbers from 1 on."""
    return Prior.from_counts({k: 10**6 // k for k in range(1, size + 1)})


def correlated(secrets: int, size: int) -> Joint:
    """Return a joint in which each secret favours its own inputs."""
    source = random.Random(size)
    return Joint.from_counts(
        {
            f"s{s}": {x: source.randint(1, 50) + 400 * (x % secrets == s) for x in range(size)}
            for s in range(secrets)
        }
    )


def _named() -> Iterator[tuple[str, Callable[[], Mechanism]]]:
    """Return names, and how to make the mechanism of each name."""

    def making(
        context: Context | continuous.ContinuousPrior, notion: Notion, **options: Any
    ) -> Any:
        return lambda: design(context, notion, **options)

    # Every way of the optimum: lists of vertices, box, rows, staircases, sets of priors, places.
    for size in (2, 4, 12, 26):
        for utility in UTILITIES:
            yield f"optimal prior {size} {utility}", making(skewed(size), LIP("1"), utility=utility)
    for utility in UTILITIES:
        loose = ALIP(lower="1.3", upper="0.7")
        for joint in (correlated(2, 5), correlated(4, 40)):
            shape = f"{len(joint.secrets)}x{len(joint.inputs)}"
            yield f"optimal joint {shape} {utility}", making(joint, loose, utility=utility)
        yield f"optimal ldp 9 {utility}", making(skewed(9), LDP("1"), utility=utility)
        ball = Ball.of(skewed(4), "1/50")
        yield f"optimal ball 4 {utility}", making(ball, LIP("1"), utility=utility)
    frequencies: tuple[tuple[str, Context, Notion], ...] = (
        ("prior 4", skewed(4), LIP("1")),
        ("prior 12", skewed(12), LIP("1")),
        ("joint 2x5", correlated(2, 5), LIP("1")),
        ("ldp 9", skewed(9), LDP("1")),
        ("ball 4", Ball.of(skewed(4), "1/50"), LIP("1")),
    )
    for name, known, asked in frequencies:
        yield f"optimal {name} frequencies", making(known, asked, utility="frequencies")
    yield "optimal joint 3x12 ldp", making(correlated(3, 12), LDP("1"), utility="histogram")
    for utility in ("mutual-information", "histogram"):
        yield f"optimal prior 300 {utility}", making(skewed(300), LIP("1"), utility=utility)
    yield "optimal ldp 40 mean", making(skewed(40), LDP("1"), utility="mean", gap=1e-3)
    yield "optimal line mean", making(continuous.normal(0, 1), LIP("1"), bins=96)
    yield (
        "optimal line absolute",
        making(continuous.normal(0, 1), LIP("1"), bins=96, utility="absolute"),
    )
    # Every method, on a context of each kind that it takes.
    for key, entry in DESIGNS.items():
        for kind in entry.contexts:
            if kind == "profiles":
                continue
            context = worlds.context(kind, 5, "random", 1)
            notion = next((n for n in (LIP("1"), LDP("1")) if n.name in entry.notions), None)
            if notion is not None and kind == context.kind:
                yield f"{key} {kind}", making(context, notion, method=key, utility="histogram")
    for key in (
        "gaussian",
        "laplace",
        "gaussian-by-instance",
        "laplace-by-instance",
        "bounded-laplace",
    ):
        for notion in (LIP("1"), LDP("1")):
            if notion.name in DESIGNS[key].notions:
                made = making(continuous.normal(3, 2), notion, method=key, bins=48)
                yield f"{key} line {notion.name}", made
    for key in designs_for("profiles"):
        chain = examples.categorical_chain()
        yield f"profiles {key}", making(chain, ProfilePrivacy("1"), method=key)


def named() -> dict[str, Callable[[], Mechanism]]:
    """Return how to make each mechanism."""
    return dict(_named())


def made(name: str) -> str:
    """Return the file of a mechanism, or why there is none.

    Its fingerprint is left out, as in version 1: it follows from the rest.
    """
    try:
        return json.dumps(replace(named()[name](), sealed=False).to_data(), sort_keys=True)
    except LiftlockError as refusal:
        return f"{type(refusal).__name__}: {refusal}"


def digest(text: str) -> str:
    """Return the SHA-256 of a file."""
    return hashlib.sha256(text.encode()).hexdigest()


def said() -> dict[str, str]:
    """Return the digests that the tests of methods say."""
    found: dict[str, str] = {}
    for entry in DESIGNS.values():
        folder, _, module = entry.make.__module__.rpartition(".")
        place = folder.replace("liftlock.", "tests/unit/", 1).replace(".", "/")
        for name in dict.fromkeys((entry.make.__name__, module)):
            path = Path(__file__).parents[2] / place / f"test_{name}.py"
            if path.is_file() and "\nDIGESTS" in path.read_text(encoding="utf-8"):
                found |= importlib.import_module(f"{place.replace('/', '.')}.test_{name}").DIGESTS
    return found


def main() -> None:
    """Print or store the digests."""
    known, start = said(), next((word for word in sys.argv[1:] if word[0] != "-"), "")
    found = {name: digest(made(name)) for name in named() if name.startswith(start)}
    if "--write" in sys.argv:
        stored = json.loads(STORED.read_text(encoding="utf-8")) if start else {}
        stored |= {name: sha for name, sha in found.items() if name not in known}
        STORED.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
    else:
        print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
