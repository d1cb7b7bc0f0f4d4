"""Protected files: cells are randomised by their channels, rows and columns independently.

False alarms: four chi-square tests at 1e-6 each, so once in 250,000 runs.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import stats

from liftlock import Mechanism
from liftlock.cli import main

ALARM = 1e-6
ROWS = 400_000


def chances(made: Mechanism) -> dict[str, dict[str, float]]:
    table = made.table
    outputs = table.outputs.labels
    return {
        str(x): {str(y): int(w) / (1 << table.bits) for y, w in zip(outputs, row, strict=True) if w}
        for x, row in zip(table.inputs.labels, table.weights.tolist(), strict=True)
    }


def fits(found: Counter[Any], expected: dict[Any, float]) -> bool:
    assert set(found) <= {key for key, chance in expected.items() if chance > 0}
    seen = [found[key] for key in expected]
    hoped = np.array([*expected.values()])
    rare = hoped < 5  # too few for the chi-square distribution: counted as one
    if rare.any():
        seen = [*np.array(seen)[~rare].tolist(), int(np.array(seen)[rare].sum())]
        hoped = np.array([*hoped[~rare], hoped[rare].sum()])
    return bool(stats.chisquare(seen, hoped).pvalue > ALARM)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_two_columns_of_a_large_file(tmp_path: Path, ending: str) -> None:
    chance = np.random.default_rng(5)
    secret = chance.choice([*"stu"], ROWS, p=[0.5, 0.3, 0.2])
    x = np.where(chance.random(ROWS) < 0.3, secret, chance.choice([*"stuv"], ROWS))
    y = np.where(chance.random(ROWS) < 0.5, x, chance.choice([*"stuv"], ROWS))
    table = pa.table({"k": np.arange(ROWS), "x": x, "secret": secret, "y": y})
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=70_000)
    safe = tmp_path / f"safe.{ending}"
    command = ["protect", str(tmp_path / "t.parquet"), "-o", str(safe), "--seconds", "10"]
    command += ["--column", "x", "--column", "y", "--secret", "secret", "--epsilon", "0.15"]
    assert main(command) == 0
    if ending == "csv":
        lines = safe.read_text().splitlines()
        cells = [line.replace('"', "").split(",") for line in lines]
        assert cells[0] == ["k", "x", "y"]
        k, a, b = ([row[at] for row in cells[1:]] for at in range(3))
        assert k == [str(row) for row in range(ROWS)]
    else:
        done = pq.read_table(safe)
        assert done.column("k").equals(table.column("k"))
        a, b = done.column("x").to_pylist(), done.column("y").to_pylist()
    first, second = (
        chances(Mechanism.load(tmp_path / f"safe.{name}.mechanism.json")) for name in "xy"
    )
    assert any(len(distribution) > 1 for distribution in first.values())
    assert any(len(distribution) > 1 for distribution in second.values())
    inputs = Counter(zip(x.tolist(), y.tolist(), strict=True))
    expected = {
        (u, v, p, q): count * left * right
        for (u, v), count in inputs.items()
        for p, left in first[u].items()
        for q, right in second[v].items()
    }
    found = Counter(zip(x.tolist(), y.tolist(), a, b, strict=True))
    assert fits(found, expected)
    # Neighbouring rows, which lie in one batch and are drawn together, know nothing of each other.
    pairs = Counter(zip(x[:-1:2].tolist(), x[1::2].tolist(), strict=True))
    beside = {
        (u, v, p, q): count * left * right
        for (u, v), count in pairs.items()
        for p, left in first[u].items()
        for q, right in first[v].items()
    }
    both = zip(x[:-1:2].tolist(), x[1::2].tolist(), a[:-1:2], a[1::2], strict=True)
    assert fits(Counter(both), beside)
