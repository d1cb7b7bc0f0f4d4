"""Places: the optimum against a linear programme of its own, files, tables and the map."""

from __future__ import annotations

import csv
import gzip
import math
import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linprog

import liftlock as ll
from liftlock.cli import main
from liftlock.errors import InputError
from liftlock.report.plots.map import draw_map
from liftlock.utility import Distortion
from liftlock.utility.distortion import places_of

GOWALLA = Path(__file__).parents[4] / "shared/data/gowalla/nyc_past_counts_36x36.csv.gz"


def least_distance(counts: dict[tuple[float, float], int], epsilon: float) -> float:
    """Return the least mean distance under LIP, by one programme over whole channels."""
    places, size = list(counts), len(counts)
    masses = np.array([counts[place] for place in places]) / sum(counts.values())
    costs = [masses[x] * math.dist(places[x], places[z]) for x in range(size) for z in range(size)]
    rows, limits = [], []
    for x in range(size):
        for z in range(size):
            for sign, factor in ((1, math.exp(epsilon)), (-1, math.exp(-epsilon))):
                row = np.zeros((size, size))
                row[:, z] -= sign * factor * masses
                row[x, z] += sign
                rows.append(row.ravel())
                limits.append(0.0)
    sums = np.kron(np.eye(size), np.ones(size))
    found = linprog(costs, A_ub=rows, b_ub=limits, A_eq=sums, b_eq=np.ones(size))
    assert found.fun is not None
    return float(found.fun)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("epsilon", ["0.3", "1", "2.5"])
def test_the_optimum_is_that_of_the_programme(seed: int, epsilon: str) -> None:
    draw = random.Random(seed)
    grid = [(x / 1, y / 2) for x in range(4) for y in range(4)]
    counts = {place: draw.randint(1, 40) for place in draw.sample(grid, 6)}
    made = ll.design(ll.Prior.from_counts(counts), ll.LIP(epsilon), utility="distance")
    assert made.origin is not None
    assert made.origin.objective == pytest.approx(least_distance(counts, float(epsilon)), abs=1e-8)


def test_distances_of_numbers_are_absolute_and_squares_are_of_distances() -> None:
    numbers, places = ll.Alphabet.of([1, 4]), ll.Alphabet.of([(0, 0), (3, 4), ("1/2", 0)])
    assert Distortion.from_name("distance", numbers).name == "absolute"
    assert Distortion.from_name("squared", places).loss[0].tolist() == [0.0, 25.0, 0.25]
    assert not Distortion.from_name("squared", places).numeric
    assert Distortion.from_name("squared", numbers).numeric
    assert places_of(ll.Alphabet.of([(0, 0), (1, 2, 3)])) is None
    assert places_of(ll.Alphabet.of([("north", 1), ("south", 2)])) is None
    with pytest.raises(InputError, match="distance for points"):
        Distortion.from_name("distance", ll.Alphabet.of(["north", "south"]))


def test_a_prior_of_places_names_the_columns_of_a_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("town.csv").write_text("east,north,count\n0,0.5,3\n1,0.5,2\n2,2,4\n", encoding="utf-8")
    asked = ["--epsilon", "1", "--utility", "distance", "-o", "town.json", "--plot", "map.svg"]
    assert main(["design", "--prior", "town.csv", *asked]) == 0
    assert "<svg" in Path("map.svg").read_text(encoding="utf-8")
    rows = "".join(f"{k},{e},{n}\n" for k, (e, n) in enumerate([(0, 0.5), (2, 2), (1, 0.5)] * 9))
    Path("visits.csv").write_text(f"visit,east,north\n{rows}", encoding="utf-8")
    assert main(["release", "town.json", "visits.csv", "-o", "safe.csv"]) == 0
    with Path("safe.csv").open(newline="", encoding="utf-8") as stream:
        reported = list(csv.DictReader(stream))
    made = ll.Mechanism.load("town.json")
    known = places_of(made.table.outputs)
    assert known is not None
    found = {(float(row["east"]), float(row["north"])) for row in reported}
    assert found <= set(map(tuple, known.tolist()))
    capsys.readouterr()
    assert main(["estimate", "town.json", "safe.csv", "--json"]) == 0
    assert '"reports": 27' in capsys.readouterr().out
    Path("visits.csv").write_text("visit,east,north\n1,0,2\n", encoding="utf-8")
    assert main(["release", "town.json", "visits.csv", "-o", "other.csv"]) == 2


def test_places_of_json_and_places_given_twice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.json").write_text('{"labels": [[0, 1], [1, 1]], "counts": [2, 3]}')
    assert ll.read_prior(tmp_path / "a.json").labels == ((0, 1), (1, 1))
    (tmp_path / "b.csv").write_text("x,y,count\n0,1,2\n0,1.0,3\n")
    with pytest.raises(InputError, match="lines 2 and 3"):
        ll.read_prior(tmp_path / "b.csv")


def test_a_map_is_of_places(tmp_path: Path) -> None:
    made = ll.design(ll.Prior.uniform("abc"), ll.LIP("1"))
    with pytest.raises(InputError, match="a map is for places"):
        draw_map(made, tmp_path / "map.png")


def test_a_real_city() -> None:
    """Squares of 8 km of New York, from check-ins of Gowalla."""
    if not GOWALLA.is_file():
        pytest.skip("the data is not there: gowalla")
    counts: Counter[tuple[float, float]] = Counter()
    with gzip.open(GOWALLA, "rt", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            counts[int(row["col"]) // 6, int(row["row"]) // 6] += int(row["n"])
    likely = dict(counts.most_common(9))
    made = ll.design(ll.Prior.from_counts(likely), ll.LIP("1"), utility="distance")
    assert made.origin is not None
    assert made.origin.objective == pytest.approx(least_distance(likely, 1.0), abs=1e-8)
