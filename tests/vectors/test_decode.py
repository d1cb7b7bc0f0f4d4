"""The golden vectors of sampling: Python, the bulk sampler and JavaScript read the same words."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from liftlock.exact.alias import AliasTable, decode
from liftlock.sampling import draw
from tests.vectors import make_decode

CASES: list[dict[str, Any]] = json.loads(make_decode.FILE.read_text(encoding="utf-8"))["cases"]
each_case = pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])


class GivenWords:
    """Random bits that are not random: the words of the vectors, in order."""

    def __init__(self, words: list[int]) -> None:
        self.rest = np.array(words, dtype=np.uint64)

    def fill(self, buffer: npt.NDArray[np.uint64]) -> None:
        buffer[:] = self.rest[: len(buffer)]
        self.rest = self.rest[len(buffer) :]


def build(case: dict[str, Any]) -> AliasTable:
    weights = np.array([[int(w) for w in row] for row in case["weights"]], dtype=np.int64)
    return AliasTable.build(weights, case["bits"])


def test_stored_vectors_are_what_the_generator_writes() -> None:
    assert make_decode.FILE.read_text(encoding="utf-8") == make_decode.text()


@each_case
def test_table(case: dict[str, Any]) -> None:
    table = build(case)
    assert table.bin_bits == case["bin_bits"]
    for row, (threshold, alias) in enumerate(zip(case["threshold"], case["alias"], strict=True)):
        bins = range(1 << table.bin_bits)
        assert [table.threshold(row, b) for b in bins] == [int(t) for t in threshold]
        assert [table.alias(row, b) for b in bins] == alias


@each_case
def test_decode(case: dict[str, Any]) -> None:
    table = build(case)
    for row, draws in enumerate(case["draws"]):
        for word, output in draws:
            assert decode(table, row, int(word, 16)) == output


@each_case
def test_draw(case: dict[str, Any]) -> None:
    table = build(case)
    draws = [(row, *pair) for row, pairs in enumerate(case["draws"]) for pair in pairs]
    codes = np.array([row for row, _, _ in draws])
    words = GivenWords([int(word, 16) for _, word, _ in draws])
    assert draw(table, codes, words).tolist() == [output for _, _, output in draws]


@each_case
def test_outputs_of_weight_zero_never_appear(case: dict[str, Any]) -> None:
    for weights, draws in zip(case["weights"], case["draws"], strict=True):
        assert all(int(weights[output]) > 0 for _, output in draws)


def test_javascript() -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed: the vectors are not checked in JavaScript")
    script = make_decode.FILE.with_name("decode.mjs")
    done = subprocess.run(
        [node, str(script), str(make_decode.FILE)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    tables = sum(len(case["weights"]) for case in CASES)
    draws = sum(len(pairs) for case in CASES for pairs in case["draws"])
    assert done.stdout.split() == [str(tables), str(draws)]
