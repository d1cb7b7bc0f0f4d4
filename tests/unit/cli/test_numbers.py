"""Numbers on the command line: columns, distributions, fits, domains, from file to release."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

import liftlock as ll
from liftlock import Mechanism
from liftlock.cli._options import with_delta
from liftlock.designs import DESIGNS
from liftlock.model.continuous import GridPrior
from tests.unit.cli.conftest import Outcome, Run
from tests.unit.cli.test_bad_input import assert_refused

WAGES = [31, 35, 35, 38, 40, 42, 44, 47, 52, 55, 60, 71, 90, 120]
STAFF = "name,wage,team\n" + "".join(
    f"p{place},{wage}.5,{'ab'[place % 2]}\n" for place, wage in enumerate(WAGES)
)
FILES = {"staff.csv": STAFF, "prior.csv": "label,count\na,1\nb,2\n"}
ASKED = (
    "design",
    "--prior",
    "staff.csv",
    "--column",
    "wage",
    "--domain",
    "0:100",
    "--epsilon",
    "1",
)
FAST = ("--bins", "8", "--method", "sampling")


def design(run: Run, *more: str, files: dict[str, Any] | None = None) -> Outcome:
    return run(*ASKED, *more, files=FILES | (files or {}))


# --- from a table to released numbers -------------------------------------------------------------


def test_from_a_table_to_released_numbers(run: Run) -> None:
    outcome = design(run, "--bins", "8", "-o", "m.json")
    assert outcome.code == 0
    assert outcome.made == {"m.json"}
    assert "CERTIFIED: lip(epsilon=1) for a prior on 8 cells of [0, 100]" in outcome.out
    assert (
        "squared error of the best reading" in outcome.out
    )  # what numbers are for, unless told otherwise
    assert "a released number is off by" in outcome.out
    assert "released  how often" in outcome.out
    assert "of the prior, 7.14 % above the domain is clamped to its ends" in outcome.out
    assert outcome.err == (
        "note: 1 of 14 values lie outside the domain and were clamped to it\nnote: written to "
        "m.json\n"
    )
    made = Mechanism.load("m.json")
    assert isinstance(made.context, GridPrior)
    assert made.origin is not None
    assert made.origin.method == "optimal"
    numbers = made.release([31.5, 500, -3])
    assert isinstance(numbers, list)
    known = {float(label) for label in made.table.outputs.labels}  # type: ignore[arg-type]
    assert set(numbers) <= known
    released = made.release(np.array([40.0, 80.0]))
    assert isinstance(released, np.ndarray)
    assert released.dtype == np.float64
    assert made.simulate([31.5, 90], seed=3) == made.simulate([31.5, 90], seed=3)
    assert run("audit", "m.json", "--check", "lip=1", "-q").code == 0


def test_the_same_mechanism_in_python(run: Run) -> None:
    design(run, *FAST, "-o", "m.json")
    values = ll.read_column("staff.csv", "wage")
    prior = ll.continuous.from_data(values, domain=(0, 100))
    made = ll.design(prior, ll.LIP("1"), method="sampling", bins=8)
    assert made.channel.fingerprint == Mechanism.load("m.json").channel.fingerprint


def test_what_is_printed_is_what_the_mechanism_does(run: Run) -> None:
    outcome = design(run, "--bins", "8", "--json", "-o", "m.json")
    data = json.loads(outcome.out)["numbers"]
    made = Mechanism.load("m.json")
    found = made.accuracy()
    assert data["absolute_error"] == found.absolute
    assert data["squared_error"] == found.squared
    assert data["domain"] == [0, 100]
    assert data["cells"] == 8
    assert data["above"] == pytest.approx(1 / 14)
    assert sum(data["shares"]) == pytest.approx(1)
    assert sorted(data["released"]) == data["released"]
    clipped = np.clip(np.array(WAGES) + 0.5, 0, 100)
    assert data["squared_error_of_nothing"] == pytest.approx(clipped.var(), rel=1e-6)
    assert data["squared_error"] < data["squared_error_of_nothing"]
    drawn = np.array(made.simulate(np.tile(clipped, 4000), seed=1))
    assert np.abs(drawn - np.tile(clipped, 4000)).mean() == pytest.approx(found.absolute, rel=0.05)


def test_other_mechanisms_have_no_numbers(run: Run) -> None:
    outcome = run("design", "--prior", "prior.csv", "--epsilon", "1", "--json", files=FILES)
    assert json.loads(outcome.out)["numbers"] is None


def test_a_law_instead_of_a_file(run: Run) -> None:
    asked = (
        "design",
        "--distribution",
        "normal(50, 10)",
        "--domain",
        "20:80",
        "--epsilon",
        "1",
        *FAST,
    )
    outcome = run(*asked)
    assert outcome.code == 0
    assert "8 bins of equal probability on [20, 80]" in outcome.out
    assert "0.135 % below and 0.135 % above the domain" in outcome.out
    wide = run(*asked, "--spacing", "width")
    assert "8 bins of equal width on [20, 80], 7.5 to 7.5 wide" in wide.out


@pytest.mark.parametrize(
    "distribution", ["sample", "normal", "lognormal", "laplace", "uniform", "histogram"]
)
def test_fitted_laws(run: Run, distribution: str) -> None:
    outcome = design(run, *FAST, "--fit", distribution, "--json")
    source = json.loads(outcome.out)["numbers"]["source"]
    assert source.startswith(
        {"sample": "14 values", "histogram": "a histogram"}.get(distribution, distribution)
    )


def test_without_a_domain_the_data_show_theirs(run: Run) -> None:
    outcome = run(*ASKED[:5], "--epsilon", "1", *FAST, files=FILES)
    assert "no --domain: [31.5, 120.5] was taken from the data" in outcome.err


def test_the_usual_grid(run: Run) -> None:
    asked = (
        "design",
        "--distribution",
        "normal(0, 1)",
        "--epsilon",
        "1",
        "--method",
        "sampling",
        "--json",
    )
    assert json.loads(run(*asked).out)["inputs"] == 512


def test_few_outputs_are_listed_and_many_are_not(run: Run) -> None:
    few = design(run, "--bins", "8").out
    assert "different numbers are released" not in few
    many = design(run, "--bins", "14", "--method", "sampling").out
    assert "13 different numbers are released, from " in many
    assert "how often" not in many


def test_the_yardstick_of_numbers_ignores_the_prior(run: Run) -> None:
    out = design(run, "--bins", "8").out.partition("compared with")[2]
    names = [line.split("  ")[0] for line in out.splitlines()[1:] if line]
    assert names == [
        "this mechanism (optimal)",
        "the best found under LDP, same LIP",
        "the best found under LDP, same epsilon",
        "the best found under LDP, same LDP",
        "Laplace noise for any prior, same LIP",
        "Laplace noise for any prior, same epsilon",
        "no release",
        "no noise",
    ]
    assert "k-ary" not in out


# --- missing values and odd tables ----------------------------------------------------------------


def test_missing_values_are_left_out_when_told(run: Run) -> None:
    files = {"staff.csv": STAFF + "q,,a\nr,,b\n"}
    outcome = design(run, *FAST, "--missing", "drop", files=files)
    assert outcome.code == 0
    assert "note: 2 of 16 rows have no wage, and were left out\n" in outcome.err
    assert_refused(
        design(run, *FAST, files=files),
        "2 of 16 rows have no wage at staff.csv, line 16; leave them out (--missing drop, ",
    )


@pytest.mark.parametrize(("mark", "name"), [(";", "semicolons"), ("\t", "tabs")])
def test_other_separators_are_read_and_said(run: Run, mark: str, name: str) -> None:
    table = "\n".join(
        mark.join(f'"{cell}"' for cell in line.split(",")) for line in STAFF.splitlines()
    )
    other = table.replace('"a"', '"a, or b"')
    outcome = design(run, *FAST, "-o", "m.json", files={"staff.csv": other})
    assert outcome.code == 0
    assert f"note: the cells of staff.csv are separated by {name}, and were read so" in outcome.err
    made = Mechanism.load("m.json")
    design(run, *FAST, "-o", "usual.json")
    assert made.channel == Mechanism.load("usual.json").channel


def test_one_column_is_a_table(run: Run) -> None:
    narrow = "wage\n" + "".join(f"{wage}\n" for wage in WAGES)
    assert design(run, *FAST, files={"staff.csv": narrow}).code == 0
    assert_refused(design(run, *FAST, files={"staff.csv": narrow + '""\n'}), "1 of 15 rows have no")
    assert_refused(design(run, *FAST, files={"staff.csv": "id,wage\n,\n,\n"}), "no numbers")


ROW = "staff.csv, line 16, column 2 ('wage')"


@pytest.mark.parametrize(
    ("files", "more", "parts"),
    [
        ({"staff.csv": STAFF + "q,nan,a\n"}, [], [f"not a finite number at {ROW}: 'nan'"]),
        ({"staff.csv": STAFF + "q,inf,a\n"}, [], [f"not a finite number at {ROW}: 'inf'"]),
        ({"staff.csv": STAFF + "q,1e999,a\n"}, [], ["not a finite number"]),
        ({"staff.csv": STAFF + "q,lots,a\n"}, [], [f"not a number at {ROW}: 'lots'"]),
        ({"staff.csv": STAFF + 'q,"52,000",a\n'}, [], ["not a number", "like 52000.50"]),
        ({"staff.csv": STAFF + "q,5_0,a\n"}, [], ["not a number", "'5_0'"]),
        ({"staff.csv": STAFF + "q,7\n"}, [], ["2 cells, but the header has 3"]),
        ({"staff.csv": "a|wage\n1|2\n"}, [], ["cells separated by bars"]),
        (
            {"staff.csv": "a;wage\n1;2,5\n2;3,5\n"},
            [],
            ["not a number at staff.csv, line 2, column 2 ('wage'): '2,5'", "a point before dec"],
        ),
        ({"staff.csv": "a;wage\n1;2\n2\n"}, [], ["1 cell, but the header has 2", "as those of"]),
        (
            {"staff.csv": "a,wage\n1,2\n2,n/a\n"},
            [],
            ["'n/a'; correct it, or empty the cell and leave it out (--missing drop"],
        ),
        ({"staff.csv": ""}, [], ["empty file at staff.csv"]),
        ({"staff.csv": "name,wage\n"}, [], ["no numbers below the header"]),
        ({"staff.csv": "wage,n\n7,a\n7,b\n"}, [], ["all values are the same at staff.csv: 7.0"]),
        ({"staff.csv": '{"wage": 3}'}, [], ["JSON is not a table with columns"]),
        ({}, ["--column", "pay"], ["no such column", "'pay'; it has name, wage, team"]),
        ({}, ["--column", "team"], ["not a number", "'a'"]),
        ({}, ["--domain", "9:1"], ["upper end of the domain is not above the lower"]),
        ({}, ["--domain", "5:5"], ["not above the lower"]),
        ({}, ["--domain", "5"], ["not a domain: '5'; write it like 0:300000"]),
        ({}, ["--domain", "0:inf"], ["not two finite numbers"]),
        ({}, ["--domain", "100:200"], ["the domain holds only 7.14 % of 14 values"]),
        ({}, ["--bins", "1"], ["out of range: 1; give 2 to 4096 bins"]),
        ({}, ["--bins", "5000"], ["out of range: 5000; give 2 to 4096"]),
        ({}, ["--bins", "many"], ["'--bins'"]),
        ({}, ["--spacing", "even"], ["'--spacing'"]),
        ({}, ["--fit", "cauchy"], ["'--fit'"]),
        ({}, ["--fit", "beta"], ["1 of 14 values lie outside the open domain"]),
        ({}, ["--missing", "guess"], ["'--missing'"]),
        ({}, ["--radius", "0.1"], ["--radius works with priors of labels, not of numbers"]),
        ({}, ["--smooth", "1"], ["--smooth works with priors of labels"]),
        ({}, ["--distribution", "normal(0, 1)"], ["give --column or --distribution, not both"]),
        ({}, ["--joint", "prior.csv"], ["give only one of --prior and --joint"]),
        ({}, ["--plot", "m.bmp"], ["unknown picture format"]),
        ({}, ["--plot", "staff.csv.png", "-o", "staff.csv.png"], ["would overwrite the output"]),
        ({}, ["-o", "staff.csv"], ["would overwrite --prior"]),
        ({}, ["--delta", "0.1", "--method", "arc"], ["the notion lip_ediv"]),
        ({}, ["--delta", "0.1", "--method", "optimal"], ["use lip", "leave out --method"]),
        (
            {},
            ["--bins", "8", "--method", "oue", "--plot", "p.png", "-o", "m.json"],
            ["releases sets: 'oue'", "leave out --plot"],
        ),
        ({}, ["--delta", "2"], ["delta"]),
        ({}, ["--as-published", "--delta", "0.1"], ["give --method"]),
        ({}, ["--form", "joint"], ["--form goes with --delta"]),
    ],
)
def test_bad_input_is_one_line(
    run: Run, files: dict[str, str], more: list[str], parts: list[str]
) -> None:
    # Options given twice count the last time.
    assert_refused(design(run, *more, files=files), *parts)


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (
            ["--joint", "prior.csv", "--column", "x"],
            ["--column goes with --prior, not with --joint"],
        ),
        (["--family", "prior.csv", "--column", "x"], ["not with --family"]),
        (["--column", "x"], ["--column needs --prior"]),
        (["--prior", "prior.csv", "--domain", "0:1"], ["--domain goes with numbers"]),
        (["--prior", "prior.csv", "--bins", "8"], ["--bins goes with numbers"]),
        (["--prior", "prior.csv", "--fit", "normal"], ["--fit goes with numbers"]),
        (
            ["--prior", "p.json", "--bins", "8"],
            ["already discretised", "--bins to liftlock fit"],
        ),
        (["--prior", "p.json", "--domain", "0:9"], ["already discretised"]),
        (
            ["--prior", "staff.csv"],
            ["header is not label,count", "name the numeric column", "--column"],
        ),
        (["--distribution", "normal(1e200, 1e199)"], ["too large", "another unit"]),
        (["--distribution", "normal(0, 1e-200)", "--domain", "0:1"], ["too large, or too close"]),
        (["--distribution", "lognormal(-800, 1)"], ["too large, or too close"]),
        (["--prior", "prior.csv", "--plot", "p.png"], ["--plot draws mechanisms for numbers"]),
        (
            ["--prior", "prior.csv", "--distribution", "normal(0, 1)"],
            ["--distribution replaces --prior"],
        ),
        (
            ["--joint", "prior.csv", "--distribution", "normal(0, 1)"],
            ["--distribution replaces --joint"],
        ),
        (["--distribution", "normal(0, 1)", "--fit", "normal"], ["--fit goes with --column"]),
        (["--distribution", "normal(0, 1)", "--missing", "drop"], ["--missing goes with --column"]),
        (
            ["--distribution", "normal"],
            ["not a distribution: 'normal'; write one of normal(MEAN, SD)"],
        ),
        (["--distribution", "cauchy(0, 1)"], ["unknown distribution: 'cauchy'"]),
        (["--distribution", "normal(0, -1)"], ["normal: sd is not positive: -1.0"]),
        (["--distribution", "normal(0)"], ["wrong parameters of a distribution"]),
        (
            ["--distribution", "normal(0, 1)", "--domain", "5:9"],
            ["the domain holds only 2.87e-05 %"],
        ),
    ],
)
def test_what_does_not_go_together(run: Run, arguments: list[str], parts: list[str]) -> None:
    assert_refused(run("design", *arguments, "--epsilon", "1", files=FILES), *parts)


# --- deltas ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "guarantee"),
    [
        (["--delta", "0.05"], "lip_ediv(epsilon=1, delta=0.05)"),
        (["--delta", "0.05", "--form", "def5"], "lip_def5(epsilon=1, delta=0.05)"),
        (["--delta", "0.05", "--form", "joint"], "lip_joint(epsilon=1, delta=0.05)"),
        (["--delta", "0.05", "--notion", "lip_def5"], "lip_def5(epsilon=1, delta=0.05)"),
        (["--delta", "0.05", "--notion", "ldp"], "ldp_delta(epsilon=1, delta=0.05)"),
    ],
)
def test_deltas(run: Run, more: list[str], guarantee: str) -> None:
    outcome = design(run, "--bins", "6", *more, "-o", "m.json")
    assert outcome.code == 0, outcome.err
    assert f"CERTIFIED: {guarantee}" in outcome.out
    assert Mechanism.load("m.json").certificate.guarantee == guarantee


def test_without_a_method_the_best_is_taken(run: Run) -> None:
    best = json.loads(design(run, "--bins", "6", "--delta", "0.05", "--json").out)
    assert best["method"] in DESIGNS
    tried = [
        key
        for key, entry in DESIGNS.items()
        if entry.keeps and not entry.on_request and "lip_ediv" in entry.notions
    ]
    worth = []
    for key in tried:
        one = design(run, "--bins", "6", "--delta", "0.05", "--json", "--method", key)
        if one.code == 0:
            worth.append(json.loads(one.out)["objective"])
    worth.append(json.loads(design(run, "--bins", "6", "--json").out)["objective"])
    assert best["objective"] == pytest.approx(min(worth), rel=1e-9)
    assert any("the best of" in remark for remark in best["remarks"]) == (len(worth) > 1)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ((None, None, None), None),
        (("lip", "0.1", "joint"), "lip_joint"),
        (("LDP", "0.1", None), "ldp_delta"),
        (("lip-def5", "0.1", None), "lip-def5"),
        (("eps_upper", None, None), "eps_upper"),
    ],
)
def test_what_a_delta_makes_of_a_notion(given: Any, expected: str | None) -> None:
    assert with_delta(*given) == expected


@pytest.mark.parametrize(
    ("more", "part"),
    [
        (["--notion", "lip_ediv"], "give --delta"),
        (["--notion", "eps_upper", "--delta", "0.1"], "--delta goes with lip and ldp"),
        (["--notion", "ldp", "--delta", "0.1", "--form", "def5"], "--form goes with --delta"),
    ],
)
def test_deltas_that_do_not_fit(run: Run, more: list[str], part: str) -> None:
    assert_refused(design(run, *more), part)


# --- the other commands ---------------------------------------------------------------------------


def test_fit_prints_writes_and_draws(run: Run) -> None:
    asked = ("fit", "staff.csv", "--column", "wage", "--domain", "0:100")
    outcome = run(*asked, "--distribution", "normal", "--bins", "16", "-o", "p.json", files=FILES)
    assert outcome.code == 0
    assert outcome.made == {"p.json"}
    assert outcome.out.startswith("normal(54.7857, 23.87), fitted to 14 values (largest distance")
    assert "BIC" in outcome.out
    assert "16 bins of equal probability on [0, 100]" in outcome.out
    assert "% above the domain is clamped to its ends" in outcome.out
    assert "note: 1 of 14 values lie outside the domain" in outcome.err
    made = run("design", "--prior", "p.json", "--epsilon", "1", "--method", "sampling")
    assert "CERTIFIED: lip(epsilon=1) for a prior on 16 cells of [0, 100]" in made.out
    drawn = run(*asked, "--distribution", "histogram", "--plot", "fit.svg", "--json")
    assert "fit.svg" in drawn.made
    data = json.loads(drawn.out)
    assert data["law"] == "histogram"
    assert data["outside"] == 1
    assert 0 < data["distance"] < 1


def test_fit_of_a_mixture(run: Run) -> None:
    wages = [*range(20, 40), *range(120, 140)]
    files = {"t.csv": "wage\n" + "".join(f"{wage}\n" for wage in wages)}
    outcome = run("fit", "t.csv", "--column", "wage", "--domain", "0:200", files=files)
    assert "a mixture of 2 normal distributions" in outcome.out
    assert "least" in outcome.out
    assert "0.5000   29.5" in outcome.out
    assert "less than 0.0001 % below" in outcome.out
    fixed = run("fit", "t.csv", "--column", "wage", "--components", "1", "--json")
    assert [score["components"] for score in json.loads(fixed.out)["scores"]] == [1]


def test_a_bad_fit_is_said(run: Run) -> None:
    wages = [*range(20, 40), *range(520, 540)]
    files = {"t.csv": "wage\n" + "".join(f"{wage}\n" for wage in wages)}
    outcome = run("fit", "t.csv", "--column", "wage", "--distribution", "normal", files=files)
    assert "far from the data: under this prior a mechanism may leak more" in outcome.out
    assert "far from" not in outcome.err
    data = json.loads(
        run("fit", "t.csv", "--column", "wage", "--distribution", "normal", "--json").out
    )
    assert any("is far from the data" in text for text in data["notes"])


def test_a_bad_fit_is_said_wherever_it_is_a_context(run: Run) -> None:
    wages = [*range(20, 40), *range(520, 540)]
    files = {"t.csv": "wage\n" + "".join(f"{wage}\n" for wage in wages)}
    numbers = ("--prior", "t.csv", "--column", "wage")
    bad = (*numbers, "--fit", "normal")
    cut = ("--domain", "0:600", "--bins", "8")
    said = "is far from the data (largest distance 0.3"
    made = run("design", *bad, *cut, "--epsilon", "1", *FAST[2:], "-o", "m.json", files=files)
    assert made.code == 0
    assert said in made.err
    assert said in run("compare", *bad, *cut, "--epsilons", "1", "--methods", "sampling").err
    assert said in run("audit", "m.json", *bad).err
    assert "far from" not in run("audit", "m.json", *numbers).err


@pytest.mark.parametrize(
    ("more", "part"),
    [
        (["--column", "pay"], "it has name, wage, team"),
        (["--column", "wage", "--distribution", "normal", "--components", "2"], "only a mixture"),
        (["--column", "wage", "--bins", "1"], "out of range: 1;"),
        (["--column", "wage", "--domain", "3:1"], "not above the lower"),
        (["--column", "wage", "-o", "staff.csv"], "would overwrite TABLE"),
        (["--column", "wage", "--plot", "x.bmp"], "unknown picture format"),
        (["--column", "wage", "--components", "99"], "99 components for 13 different values"),
        ([], "--column"),
    ],
)
def test_fits_that_are_refused(run: Run, more: list[str], part: str) -> None:
    assert_refused(run("fit", "staff.csv", *more, files=FILES), part)


def test_a_stored_grid_is_a_prior(run: Run) -> None:
    run(
        "fit",
        "staff.csv",
        "--column",
        "wage",
        "--distribution",
        "sample",
        "-o",
        "p.json",
        files=FILES,
    )
    found = ll.read_prior("p.json")
    assert isinstance(found, GridPrior)
    assert found.total == len(WAGES)
    for option in ("--radius", "--smooth"):
        outcome = run("design", "--prior", "p.json", "--epsilon", "1", option, "0.1")
        assert_refused(outcome, f"{option} works with priors of labels, not of numbers at p.json")


def test_compare_numbers(run: Run) -> None:
    asked = ("compare", *ASKED[1:7], "--bins", "6", "--epsilons", "1,2", "--methods", "sampling")
    outcome = run(*asked, "--json", files=FILES)
    data = json.loads(outcome.out)
    assert data["utility"] == "mean"
    first, second = data["curves"][0]["points"]
    assert first["objective"] > second["objective"]
    small = json.loads(run(*asked, "--delta", "0.05", "--json").out)
    point = small["curves"][0]["points"][0]
    assert point["guarantee"] == "lip_ediv(epsilon=1, delta=0.05)"
    assert point["needed"] <= 1
    assert point["objective"] < first["objective"]
    assert_refused(run(*asked, "--delta", "0.1", "--split", "0.5"), "leave out --delta")


def test_an_audit_under_another_prior(run: Run) -> None:
    """What leaks if the column is not what the mechanism was made for."""
    design(run, *FAST, "-o", "m.json")
    other = "wage\n" + "".join(f"{wage}\n" for wage in [*range(20, 110)])
    outcome = run(
        "audit", "m.json", "--prior", "other.csv", "--column", "wage", "--check", "lip=1", "--json",
        files={"other.csv": other},
    )  # fmt: skip
    data = json.loads(outcome.out)
    assert outcome.code == 1
    assert data["measures"]["lip"] > 1
    same = run("audit", "m.json", "--prior", "staff.csv", "--column", "wage", "--check", "lip=1")
    assert same.code == 0
    refused = run("audit", "m.json", "--distribution", "normal(50, 9)", "--domain", "0:100")
    assert_refused(refused, "--domain cannot change the bins of a stored mechanism")
    distribution = run("audit", "m.json", "--distribution", "normal(50, 20)", "--json")
    assert distribution.code == 0
    assert math.isfinite(json.loads(distribution.out)["measures"]["lip"])


def test_pictures_of_numbers(run: Run) -> None:
    outcome = design(run, *FAST, "--plot", "m.svg")
    assert "m.svg" in outcome.made
    assert "note: picture written to m.svg" in outcome.err
