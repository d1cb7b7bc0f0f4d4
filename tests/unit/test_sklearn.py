"""The transformer of scikit-learn: its own checks, and the guarantee recounted from the rows."""

from __future__ import annotations

import datetime
import json
import math
import pickle
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.estimator_checks import parametrize_with_checks

from liftlock.errors import CellError, InputError
from liftlock.model.columns import KEPT
from liftlock.model.continuous import GridPrior
from liftlock.sklearn import PrivateColumn
from liftlock.tables.randomiser import ColumnRandomiser
from tests import published_rows

ANEW = "it compares the results of two calls of transform, and each call draws anew"
JOBS = ["nurse"] * 30 + ["cook"] * 50 + ["clerk"] * 15 + ["baker"] * 5
ILL = (["yes"] * 10 + ["no"] * 20) + (["yes"] * 10 + ["no"] * 40) + ["no"] * 13 + ["yes"] * 7


@parametrize_with_checks(
    # With "keep" the checks give numbers with fractions, otherwise whole ones.
    [
        PrivateColumn(method="safe-response"),
        PrivateColumn(missing="keep", method="quantile-blocks", bins=8),
    ],
    expected_failed_checks=lambda _: {
        "check_estimators_pickle": ANEW,
        "check_fit_idempotent": ANEW,
    },
)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


def column(values: list[Any]) -> Any:
    return pd.DataFrame({"job": values})


def lifts(private: PrivateColumn, values: list[Any], secrets: list[Any]) -> list[Fraction]:
    """P(s|y) / P(s) of every secret and output, from the rows and the integers of the table."""
    (made,) = private.mechanisms_
    table = made.table
    rows = {label: table.weights[at] for at, label in enumerate(table.inputs.labels)}
    pairs, told = Counter(zip(secrets, values, strict=True)), Counter(secrets)
    found = []
    for output in range(len(table.outputs)):
        mass = {
            s: sum(int(rows[x][output]) * n for (t, x), n in pairs.items() if t == s) for s in told
        }
        whole = sum(mass.values())
        found += [Fraction(mass[s] * len(secrets), told[s] * whole) for s in told]
    return found


# --- the guarantee ------------------------------------------------------------------------------


def test_the_values_are_protected() -> None:
    private = PrivateColumn(epsilon="0.7").fit(column(JOBS))
    assert private.guarantee_ == "lip(epsilon=0.7)"
    found = lifts(private, JOBS, JOBS)
    assert max(found) <= Fraction(math.exp(0.7)) * (1 + Fraction(1, 10**12))
    assert min(found) >= Fraction(math.exp(-0.7)) * (1 - Fraction(1, 10**12))
    assert max(found) > 1


def test_the_target_is_protected() -> None:
    private = PrivateColumn(secret="y", epsilon_lower=0.2, epsilon_upper="0.1")
    private.fit(column(JOBS), ILL)
    assert private.guarantee_ == "alip(lower=0.2, upper=0.1)"
    found = lifts(private, JOBS, ILL)
    assert max(found) <= Fraction(math.exp(0.1)) * (1 + Fraction(1, 10**12))
    assert min(found) >= Fraction(math.exp(-0.2)) * (1 - Fraction(1, 10**12))
    for target in (pd.Series(ILL, dtype="category"), pl.Series(ILL), np.array(ILL)):
        again = clone(private).fit(column(JOBS), target)
        assert again.mechanisms_[0].context == private.mechanisms_[0].context


def test_reports_have_the_law_of_the_table() -> None:
    """False-alarm rate below 1e-8: 8 exp(-2 n d^2), Hoeffding's bound for n = 100,000 reports."""
    private = PrivateColumn().fit(np.array(JOBS)[:, None])
    (made,) = private.mechanisms_
    rows = np.full((100_000, 1), "cook")
    reports = private.transform(rows)
    assert reports.dtype.kind == "U"
    row = made.table.floats()[made.table.inputs.index("cook")]
    for label, chance in zip(made.table.outputs.labels, row, strict=True):
        assert abs((reports == str(label)).mean() - chance) < 0.0105
    assert (private.transform(rows) != reports).any()


def test_numbers_are_cut_into_cells() -> None:
    ages = np.random.default_rng(3).normal(40, 10, size=(300, 1))
    private = PrivateColumn(domain=(0, 100), bins=12).fit(ages)
    (made,) = private.mechanisms_
    assert isinstance(made.context, GridPrior)
    assert (made.context.grid.lower, made.context.grid.upper) == (0, 100)
    codes = np.searchsorted(made.context.grid.edges[1:-1], ages[:, 0], side="right")
    bins = [made.context.labels[code] for code in codes]
    assert max(lifts(private, bins, bins)) <= Fraction(math.exp(1)) * (1 + Fraction(1, 10**12))
    reports = private.transform(ages)
    assert reports.dtype == np.float64
    assert set(reports.ravel()) <= {float(x) for x in made.table.outputs.coordinates or ()}
    assert private.notes_ == ()
    (note,) = PrivateColumn(method="quantile-blocks").fit(ages).notes_
    assert note.startswith("no domain: ")
    whole = PrivateColumn(domain={"age": (0, 100)}, bins=12, secret="y")
    whole.fit(pd.DataFrame({"age": ages[:, 0].astype(int)}), ages[:, 0] > 40)
    rules = whole.mechanisms_[0].encoding
    assert rules is not None
    assert len(rules.columns[0].bins) == 12
    assert whole.transform(pd.DataFrame({"age": [3, 99]}))["age"].dtype == np.float64


KINDS: list[list[Any]] = [
    [None, "", " ", "a", " a", "a ", "A", "1", "01", "1.0", "True", "nan", "?", "\u00a0a"],
    [None, "0", "1", "-1", "2"],
    [None, 0, 1, -1, 2**53, 2**53 + 1],
    [None, True, False],
    [None, datetime.date(2024, 2, 29), datetime.date(2024, 3, 1)],
    [None, 0.0, 1.0, 1.5, -2.0, 100.0],
]


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(KINDS).flatmap(
        lambda kind: st.lists(st.sampled_from(kind), min_size=2, max_size=5)
    ),
    st.sampled_from(["category", "keep"]),
    st.sampled_from([0, 4, 8]),
)
def test_what_is_learned_is_what_is_released(bins: list[Any], missing: str, rare: int) -> None:
    """The prior of the proof is how often the very rows that are released become each input."""
    table = pa.table({"x": pa.array(bins * 4)})
    private = PrivateColumn(missing=missing, rare=rare, unseen="map", method="safe-response")
    try:
        private.fit(table)
    except InputError:  # all are missing, say
        return
    (made,) = private.mechanisms_
    codes = ColumnRandomiser(made).inputs([table.column("x")])
    assert (codes == KEPT).any() <= (missing == "keep")
    seen = Counter(made.channel.inputs.labels[code] for code in codes if code != KEPT)
    prior = made.known_prior
    assert prior is not None
    assert {label: Fraction(n, seen.total()) for label, n in seen.items()} == dict(
        zip(prior.labels, prior.fractions, strict=True)
    )


# --- policies -----------------------------------------------------------------------------------


def test_missing_rare_and_unseen_values() -> None:
    bins = [*JOBS, *[None] * 10]
    private = PrivateColumn(rare=10, unseen="map").fit(column(bins))
    (made,) = private.mechanisms_
    assert set(made.table.inputs.labels) == {"nurse", "cook", "clerk", "(other)", "(missing)"}
    assert any("merged" in note for note in private.notes_)
    assert len(private.transform(column(["baker", "astronaut", None]))) == 3
    kept = PrivateColumn(missing="keep").fit(column(bins))
    assert kept.transform(column(bins))["job"].isna().tolist() == [False] * 100 + [True] * 10
    objects = np.array(bins, dtype=object)[:, None]
    assert kept.fit(objects).transform(objects)[-1, 0] is None
    with pytest.raises(
        CellError, match="not an input of the mechanism at row 2, column 'job': 'astronaut'"
    ):
        PrivateColumn().fit(column(bins)).transform(column(["cook", "astronaut"]))
    with pytest.raises(InputError, match="10 of 110 values of 'job' are missing"):
        PrivateColumn(missing="refuse").fit(column(bins))
    with pytest.raises(CellError, match="missing value at row 1"):
        PrivateColumn().fit(column(JOBS)).transform(column([None]))


def test_missing_values_beside_a_secret_are_in_the_guarantee() -> None:
    bins, secrets = [*JOBS, *[None] * 10], [*ILL, *["yes"] * 3, *["no"] * 7]
    private = PrivateColumn(secret="y", missing="keep", epsilon=0.5).fit(column(bins), secrets)
    named = ["(missing)" if cell is None else cell for cell in bins]
    assert max(lifts(private, named, secrets)) <= Fraction(math.exp(0.5)) * (1 + Fraction(1, 10**9))
    after = private.transform(column(bins))["job"]
    assert after.isna().tolist() == [cell is None for cell in bins]


def test_a_constant_column_stays_as_it_is() -> None:
    frame = pd.DataFrame({"a": ["x"] * 6, "b": [1.5] * 6, "c": [True] * 6})
    private = PrivateColumn(unseen="map").fit(frame)
    pd.testing.assert_frame_equal(private.transform(frame), frame)
    assert len(private.notes_) == 3
    secret = PrivateColumn(secret="y").fit(frame, list("ababab"))
    pd.testing.assert_frame_equal(secret.transform(frame), frame)


def test_cells_missing_from_a_constant_column_may_tell_the_secret() -> None:
    secrets = ["a", "b"] * 50
    for value in ("x", 1.5):
        tells = pd.DataFrame({"a": [value if told == "a" else None for told in secrets]})
        with pytest.raises(InputError, match=r"is the secret 'y' itself|values are the same"):
            PrivateColumn(secret="y", missing="keep").fit(tells, secrets)
    bins = [None if row % 5 == 0 or row % 14 == 1 else "x" for row in range(100)]
    private = PrivateColumn(secret="y", missing="keep", epsilon=0.5).fit(column(bins), secrets)
    named = ["(missing)" if cell is None else cell for cell in bins]
    assert max(lifts(private, named, secrets)) <= Fraction(math.exp(0.5)) * (1 + Fraction(1, 10**9))
    assert private.transform(column(bins))["job"].isna().tolist() == [c is None for c in bins]


def test_refusals() -> None:
    with pytest.raises(InputError, match="unknown secret: 'sex'"):
        PrivateColumn(secret="sex").fit(column(JOBS))
    with pytest.raises(InputError, match="epsilon_lower and epsilon_upper go together"):
        PrivateColumn(epsilon_lower=1).fit(column(JOBS))
    with pytest.raises(ValueError, match="requires y to be passed"):
        PrivateColumn(secret="y").fit(column(JOBS))
    with pytest.raises(InputError, match="the column 'job' is the secret 'y' itself"):
        PrivateColumn(secret="y").fit(column(JOBS), [job.upper() for job in JOBS])
    with pytest.raises(InputError, match="column 'x0' holds mixed or unsupported types"):
        PrivateColumn().fit(np.array([["a"], [1], ["a"]], dtype=object))
    with pytest.raises(InputError, match="a lazy frame"):
        PrivateColumn().fit(pl.from_pandas(column(JOBS)).lazy())
    with pytest.raises(InputError, match="the frame has no columns"):
        PrivateColumn().fit(pd.DataFrame(index=[1, 2]))
    with pytest.raises(NotFittedError):
        PrivateColumn().transform(column(JOBS))


# --- at home in scikit-learn --------------------------------------------------------------------


def test_kinds_of_frames() -> None:
    category = pd.CategoricalDtype(["cook", "nurse", "clerk", "baker"])
    frame = pd.DataFrame({"job": pd.Series(JOBS, dtype=category), "age": range(100)})
    frame["age"] //= 25
    frame.index = frame.index[::-1]
    private = PrivateColumn().fit(frame)
    after = private.transform(frame)
    assert after.dtypes.tolist() == frame.dtypes.tolist()
    assert after.index.equals(frame.index)
    assert private.get_feature_names_out().tolist() == ["job", "age"]
    assert private.transform(pl.from_pandas(frame)).schema == pl.from_pandas(frame).schema
    array = np.column_stack([frame["age"], frame["age"] % 2])
    numbers = PrivateColumn().fit(array)
    assert numbers.transform(array).dtype == array.dtype
    # The means of cells do not fit a float of 32 bits: reports could not be counted again.
    types = (("int8", "i1"), ("bool", "b1"), ("str", "U1"), ("float32", "f8"))
    for before, wanted in types:
        given = (array % 2).astype(before)
        private = PrivateColumn(method=None if before == "float32" else "safe-response")
        assert private.fit(given).transform(given).dtype == wanted
    for library, kind in (("pandas", pd.DataFrame), ("polars", pl.DataFrame)):
        out = clone(numbers).set_output(transform=library).fit_transform(array)
        assert isinstance(out, kind)
        assert list(out.columns) == ["x0", "x1"]


def test_pipelines_and_copies() -> None:
    frame = pd.DataFrame({"job": JOBS, "age": np.linspace(20, 60, 100)})
    step = ColumnTransformer(
        [("private", make_pipeline(PrivateColumn(2), OneHotEncoder()), ["job"])],
        remainder="passthrough",
    )
    model = make_pipeline(step, LogisticRegression()).fit(frame, ILL)
    assert set(model.predict(frame)) <= {"yes", "no"}
    private = PrivateColumn("1", missing="keep").fit(frame[["job"]])
    again = pickle.loads(pickle.dumps(private))
    assert again.mechanisms_ == private.mechanisms_
    assert again.get_params() == clone(private).get_params() == private.get_params()
    assert len(again.transform(frame[["job"]])) == 100


def test_all_columns_have_their_turn_and_the_index_stays() -> None:
    """Features with the values of the target are replaced; an index that has them is kept."""
    told = ["no", "yes"] * 30
    frame = pd.DataFrame(
        {"one": ["no", "no", "yes"] * 20, "other": ["yes", "no", "no", "yes"] * 15}
    )
    private = PrivateColumn(secret="y", epsilon=1).fit(frame, told)
    assert list(private.transform(frame).columns) == ["one", "other"]
    with pytest.raises(InputError, match="column 'target' has the values of the secret"):
        private.transform(frame.set_index(pd.Index(told, name="target")))


def test_columns_that_are_given_stay_and_are_used() -> None:
    """Given each region the lifts keep the budget, from raw rows; arrays and frames."""
    rows = published_rows.hospital()
    frame = pd.DataFrame(rows)[["region", "department"]]
    secrets = [row["hiv"] for row in rows]
    private = PrivateColumn(epsilon=0.5, secret="y", given=["region"]).fit(frame, secrets)
    (made,) = private.mechanisms_
    law = published_rows.law_of_given_file(json.loads(made.to_json()))
    found = published_rows.row_lifts(rows, "hiv", ["region"], law)
    assert max(found.beyond.eps_lower, found.beyond.eps_upper) <= 0.5 + 1e-9
    safe = private.transform(frame)
    assert safe["region"].equals(frame["region"])
    assert not safe["department"].equals(frame["department"])
    array = PrivateColumn(epsilon=0.5, secret="y", given=["x0"]).fit(frame.to_numpy(), secrets)
    released = array.transform(frame.to_numpy())
    assert released.shape == frame.shape
    assert released[:, 0].tolist() == list(frame["region"])
    coded = frame.assign(code=["x" if secret == "positive" else "z" for secret in secrets])
    with pytest.raises(InputError, match="'code' determines the secret 'y'"):
        PrivateColumn(secret="y", given=["code"]).fit(coded, secrets)
    for wrong in (["nowhere"], ["region", "department"]):
        with pytest.raises(InputError):
            PrivateColumn(secret="y", given=wrong).fit(frame, secrets)
