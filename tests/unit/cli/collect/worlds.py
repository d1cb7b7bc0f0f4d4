"""A survey as files, and stores with reports to it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from liftlock.collect.store import open_store
from liftlock.collect.survey import Survey
from liftlock.collect.survey.simulation import simulate
from liftlock.collect.wire import Batch, width_of

HEALTH = """\
survey: health
people: 3000
questions:
  - name: flu
    ask: "How are you today?"
    values: [none, cold, flu]
    prior: {none: 700, cold: 200, flu: 100}
    guarantee: lip=1
  - name: smoking
    ask: "Do you smoke?"
    values: ["no", "yes"]
    prior: none
    guarantee: ldp=1
"""
TRUTHS = {
    "flu": {"none": "0.6", "cold": "0.3", "flu": "0.1"},
    "smoking": {"no": "0.7", "yes": "0.3"},
}

Counts = Mapping[str, Mapping[str, Sequence[int]]]


def fill(store: Path, survey: Survey, counts: Counts) -> None:
    """Make a store in which so many reports were counted."""
    made = open_store(store)
    try:
        for name, collection in survey.collections().items():
            mechanisms = {d: (each.outputs, each.file) for d, each in collection.mechanisms.items()}
            made.register(name, mechanisms, {"survey": survey.content()})
            for digest, numbers in counts.get(name, {}).items():
                made.store(batch_of(name, digest, numbers))
    finally:
        made.shutdown()


def batch_of(name: str, digest: str, numbers: Sequence[int]) -> Batch:
    """Return reports with distinct ids that are counted so often."""
    width = width_of(len(numbers))
    reports = b"".join(
        hashlib.sha256(f"{name} {output} {number}".encode()).digest()[:16]
        + output.to_bytes(width, "little")
        for output, often in enumerate(numbers)
        for number in range(often)
    )
    return Batch(name, digest, width, reports)


def answered(survey: Survey, people: int = 3000, seed: int = 1) -> Counts:
    """Return what people who answered survey have reported."""
    return simulate(survey, TRUTHS, people, seed=seed).counts
