"""A transformer of scikit-learn: `fit` learns priors and designs, `transform` releases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from liftlock.errors import InputError, extra

with extra("fit"):
    import pyarrow as pa
    from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
    from sklearn.utils.validation import (
        check_consistent_length,
        check_is_fitted,
        column_or_1d,
        validate_data,
    )

from liftlock.designs.api import lock
from liftlock.designs.base import Draft
from liftlock.exact.integers import Floats
from liftlock.mechanism import Mechanism
from liftlock.model import Joint, Prior
from liftlock.model.alphabet import Alphabet
from liftlock.model.columns import MISSING_LABEL, CellReader, ColumnEncoding, TableEncoding
from liftlock.notions.base import Notion
from liftlock.notions.lip import ALIP, LIP
from liftlock.tables.cells import column_to_floats
from liftlock.tables.formats.base import value_type
from liftlock.tables.formats.frame import FrameAdapter, FrameSource, arrow_columns
from liftlock.tables.protect.context import learn_labels, learn_numbers
from liftlock.tables.protect.count import CombinationCounter
from liftlock.tables.protect.design import design_column
from liftlock.tables.protect.given import learn_given
from liftlock.tables.protect.inspect import inspect_other_columns
from liftlock.tables.protect.spec import (
    BINS_FITTED,
    BINS_WITH_SECRET,
    ColumnSpec,
    Policy,
    is_numeric,
)
from liftlock.tables.randomiser import ColumnRandomiser
from liftlock.tables.releases import release_frame

_NOTHING = Alphabet.of(["(nothing)"])


class PrivateColumn(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Replace each column by what may be seen of it.

    `fit` counts how often the values of each column occur (with ``secret="y"``, together with each
    class of y), designs a mechanism for the column and proves its guarantee. `transform` draws one
    report for each cell with the operating system's entropy.

    **Each call of `transform` releases anew**, and two releases of the same rows reveal more than
    one: transform once and store the result. There is no ``random_state``: whoever knew it could
    undo the noise. The guarantee is for each column by itself, relative to the prior that was
    learned; several columns together tell more. The fitted object holds the counts of the rows,
    and is as confidential as they are.

    Columns of floating-point numbers are cut into cells, and those outside of the domain count as
    its nearer end; all other columns are labels.

    Parameters
    ----------
    epsilon : number or text, default 1
        The budget of local information privacy (LIP), in nats.
    epsilon_lower, epsilon_upper : number or text, optional
        How far beliefs may fall and rise (ALIP), both instead of `epsilon`.
    secret : "y", optional
        Protect the target y from being inferred. Without it the values themselves are protected.
    utility, method : text, optional
        As in `liftlock.design`; by default the best that can be certified in `seconds`.
    missing : "category", "keep" or "refuse"
        Missing values are a category of their own, stay missing, or are refused. Numbers that are
        their own secret have no category for them.
    unseen : "refuse" or "map"
        Values that `fit` did not see are refused, or become the merged or most frequent one.
    rare : int, default 0
        Values in fewer rows than this are merged.
    cells : int, optional
        How many cells numbers have: 64, or 48 if y is the secret. With it, or with a domain,
        columns of whole numbers are cut as well.
    domain : pair of numbers, or a mapping from columns to pairs, optional
        The ends of numbers. Without it they are taken from the data, and known to everybody.
    seconds : number, default 10
        How long to search for the best mechanism of each column.
    given : list of columns, optional
        Columns that stay as they are, and that the mechanisms of the others may use: guarantees
        then hold given each of their values, for whoever sees them.

    Attributes
    ----------
    mechanisms_ : tuple of `liftlock.Mechanism`
        One for each column that is replaced, certified, with the rules of its column.
    guarantee_ : str
        What each column keeps by itself.
    notes_ : tuple of str
        What was done with missing, rare and unseen values.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    >>> jobs = [["nurse"], ["cook"], ["clerk"], ["cook"], ["cook"], ["nurse"]] * 10
    >>> private = PrivateColumn(epsilon=1).fit(jobs)
    >>> private.guarantee_
    'lip(epsilon=1)'
    >>> private.transform(jobs).shape
    (60, 1)
    """

    def __init__(
        self,
        epsilon: object = 1,
        *,
        epsilon_lower: object = None,
        epsilon_upper: object = None,
        secret: str | None = None,
        utility: str | None = None,
        method: str | None = None,
        missing: str = "category",
        unseen: str = "refuse",
        rare: int = 0,
        bins: int | None = None,
        domain: Any = None,
        seconds: float = 10.0,
        given: Sequence[Any] | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.epsilon_lower = epsilon_lower
        self.epsilon_upper = epsilon_upper
        self.secret = secret
        self.utility = utility
        self.method = method
        self.missing = missing
        self.unseen = unseen
        self.rare = rare
        self.bins = bins
        self.domain = domain
        self.seconds = seconds
        self.given = given

    def fit(self, X: Any, y: Any = None) -> PrivateColumn:
        """Learn the prior of each column, design, and prove."""
        notion = self._notion()
        policy = Policy(self.missing, self.unseen, self.rare)  # type: ignore[arg-type]
        columns = self._columns(X, reset=True)
        told = self._secrets(X, y)
        beside = self._given(columns)
        made = [
            self._design_column(name, cells, told, notion, policy, beside)
            for name, cells in columns.items()
            if name not in beside
        ]
        if not made:
            raise InputError(
                "every column is given", value=list(beside), remedy="leave one to be replaced"
            )
        self.mechanisms_ = tuple(mechanism for mechanism, _ in made)
        self.notes_ = tuple(note for _, notes in made for note in notes)
        self.guarantee_ = self.mechanisms_[0].certificate.guarantee
        return self

    def transform(self, X: Any) -> Any:
        """Return one private report for each cell; every call draws, and reveals, anew.

        A data frame gives a frame of its own kind, an array an array.
        """
        check_is_fitted(self)
        columns = self._columns(X, reset=False)
        beside = self._given(columns)
        replaced = [name for name in columns if name not in beside]
        if _is_frame(X):
            everything = [str(name) for name in columns]
            for name, mechanism in zip(replaced, self.mechanisms_, strict=True):
                # Nothing stays beside them but what is given: each column has its turn.
                X = release_frame(X, mechanism, name, keep=everything)
            return X
        works = [ColumnRandomiser(mechanism) for mechanism in self.mechanisms_]
        drawn = {
            name: work.release([columns[name], *beside.values()] if beside else [columns[name]])[0]
            for name, work in zip(replaced, works, strict=True)
        }
        released = [drawn.get(name, cells.combine_chunks()) for name, cells in columns.items()]
        may_be_none = any(work.may_be_none() for work in works)
        return _as_array(released, may_be_none, np.asarray(X).dtype)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        tags.target_tags.required = self.secret is not None
        tags.input_tags.allow_nan = self.missing == "keep"
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.transformer_tags.preserves_dtype = ["float64"]
        return tags

    # --- what was asked for ---------------------------------------------------------------------

    def _notion(self) -> Notion:
        if self.secret not in (None, "y"):
            raise InputError(
                "unknown secret",
                value=self.secret,
                remedy='give "y" to protect the target, or None to protect the values themselves',
            )
        lower, upper = self.epsilon_lower, self.epsilon_upper
        if lower is None and upper is None:
            return LIP(self.epsilon)
        if lower is None or upper is None:
            raise InputError(
                "epsilon_lower and epsilon_upper go together", remedy="give both, or epsilon"
            )
        return ALIP(lower=lower, upper=upper)

    def _columns(self, X: Any, *, reset: bool) -> dict[Any, pa.ChunkedArray]:
        """Check X, and return its columns as Arrow arrays."""
        if hasattr(X, "collect"):
            raise InputError(
                "a lazy frame would be computed again in every step",
                remedy="collect it first",
            )
        if _is_frame(X):
            validate_data(self, X, reset=reset, skip_check_array=True)
            columns = arrow_columns(X)
            if not columns:
                raise InputError("the frame has no columns", remedy="give at least one")
            return columns
        given = np.asarray(X) if not hasattr(X, "tocsr") else X
        # NaN among objects is a missing value, which has its policy.
        finite: Any = "allow-nan" if self.missing == "keep" else True
        if given.dtype == object and self.missing != "refuse":
            finite = False
        array = validate_data(
            self,
            X,
            reset=reset,
            dtype=None,
            ensure_all_finite=finite,
            ensure_min_samples=2 if reset else 1,
        )
        names = getattr(self, "feature_names_in_", [f"x{at}" for at in range(array.shape[1])])
        return {name: _as_arrow(array[:, at], name) for at, name in enumerate(names)}

    def _given(self, columns: Mapping[Any, pa.ChunkedArray]) -> dict[Any, pa.ChunkedArray]:
        """Return the columns that stay, and that mechanisms may use."""
        for name in self.given or ():
            if name not in columns:
                raise InputError(
                    "no such column to be given",
                    value=name,
                    remedy=f"name one of {', '.join(map(str, columns))}",
                )
        return {name: columns[name] for name in self.given or ()}

    def _secrets(self, X: Any, y: Any) -> pa.Array | None:
        if self.secret is None:
            return None
        if y is None:
            raise ValueError(
                f"{type(self).__name__} with secret='y' requires y to be passed, but the target y "
                "is None."
            )
        check_consistent_length(X, y)
        if hasattr(y, "to_frame"):
            (cells,) = arrow_columns(y.to_frame()).values()
            return cells.combine_chunks()
        column = column_or_1d(y, warn=True)
        if column.dtype.kind == "f" and not np.isfinite(column).all():
            raise ValueError("Input y contains NaN or infinity.")
        return _as_arrow(column, "y").combine_chunks()

    # --- one column -----------------------------------------------------------------------------

    def _design_column(
        self,
        name: Any,
        cells: pa.ChunkedArray,
        told: pa.Array | None,
        notion: Notion,
        policy: Policy,
        beside: Mapping[Any, pa.ChunkedArray],
    ) -> tuple[Mechanism, tuple[str, ...]]:
        title, secret = str(name), None if told is None else "y"
        column = _Column(title, cells.combine_chunks(), told)
        counts = column.counts()
        if column.is_constant(counts, policy):
            return _constant_mechanism(title, counts, notion, policy, secret)
        domain = self.domain.get(name) if isinstance(self.domain, Mapping) else self.domain
        spec = ColumnSpec(title, notion, secret, utility=self.utility, method=self.method)
        if column.numeric:
            spec = replace(spec, domain=domain, bins=self.bins)
        if is_numeric(spec, cells.type):
            learned = learn_numbers(
                title,
                column.numbers(),
                None if told is None else told.to_pylist(),
                # Rare values are merged by the cells that they are in.
                replace(policy, rare=0),
                secret=secret,
                bins=spec.bins or (BINS_FITTED if secret is None else BINS_WITH_SECRET),
                domain=domain,
            )
        else:
            learned = learn_labels(title, counts, policy, secret=secret)
        if beside:
            spec = replace(spec, policy=policy, given=tuple(map(str, beside)))
            known = {str(given): each for given, each in beside.items()} | {title: cells}
            table = pa.table(known if told is None else known | {"y": pa.chunked_array([told])})
            rows = FrameSource.of(FrameAdapter.of(table))
            inspect_other_columns(rows, list(spec.given), spec.secrets, [title])
            learned = learn_given(rows, [spec], learned)
        made = design_column(
            learned,
            notion,
            utility=spec.utility,
            method=spec.method,
            seconds=float(self.seconds),
        )
        # Notes name options as the command line does.
        return made.mechanism, tuple(note.replace("--", "") for note in learned.notes)


@dataclass(frozen=True)
class _Column:
    """A column to learn from, and the secrets beside it."""

    name: str
    cells: pa.Array
    told: pa.Array | None

    @property
    def _kind(self) -> pa.DataType:
        return value_type(self.cells.type)

    @property
    def numeric(self) -> bool:
        """Whether cells are numbers."""
        types = pa.types
        kind = self._kind
        return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))

    def numbers(self) -> Floats:
        """Return the numbers, not a number where a cell is missing."""
        return column_to_floats(self.cells, CellReader(ColumnEncoding(self.name), _NOTHING))

    def counts(self) -> dict[tuple[Any, Any], int]:
        """Return how often each pair of a secret and a value occurs."""
        told = pa.nulls(len(self.cells), pa.string()) if self.told is None else self.told
        tally = CombinationCounter((f"the target of {self.name}", self.name))
        tally.add(pa.record_batch([told, self.cells], names=list(tally.columns)))
        return {(secret, value): number for (secret, value), number in tally.counts.items()}

    def is_constant(self, counts: Mapping[tuple[Any, Any], int], policy: Policy) -> bool:
        """Tell whether all cells are the same, besides missing ones that stay so.

        Beside a secret they are not: who has no value may tell it.
        """
        reader = CellReader(ColumnEncoding(self.name), _NOTHING)
        values = {None if reader.is_missing(value) else value for _, value in counts}
        if policy.missing == "keep" and self.told is None:
            values.discard(None)
        return len(values) == 1 and None not in values


def _constant_mechanism(
    name: str,
    counts: Mapping[tuple[Any, Any], int],
    notion: Notion,
    policy: Policy,
    secret: str | None,
) -> tuple[Mechanism, tuple[str, ...]]:
    """Return the mechanism of a column with one value: that value, which tells nothing."""
    reader = CellReader(ColumnEncoding(name), _NOTHING)
    found = next(value for _, value in counts if not reader.is_missing(value))
    label = found if isinstance(found, str | int | float) else str(found)
    context: Prior | Joint = Prior.from_counts({label: 1})
    if secret is not None:
        context = Joint.from_columns(
            [MISSING_LABEL if told is None else str(told) for told, _ in counts],
            [label] * len(counts),
        )
    code = ColumnEncoding(
        name,
        keeps_missing=policy.missing == "keep",
        other=label if policy.unseen == "map" else None,
        unseen=policy.unseen,
    )
    made = lock(Draft.of([label], [label], [[1.0]]), notion, context)
    made = replace(made, encoding=TableEncoding((code,)))
    return made, (f"{name!r} has only one value, which reveals nothing",)


# --- arrays -------------------------------------------------------------------------------------


def _is_frame(X: Any) -> bool:
    return hasattr(X, "__arrow_c_stream__") or (
        hasattr(X, "columns") and not isinstance(X, np.ndarray)
    )


def _as_arrow(column: npt.NDArray[Any], name: str) -> pa.ChunkedArray:
    """Return a column of an array; not a number is missing."""
    cells = column.tolist() if column.dtype.kind in "OUS" else np.ascontiguousarray(column)
    try:
        return pa.chunked_array([pa.array(cells, from_pandas=True)])
    except (pa.ArrowException, TypeError, ValueError):
        raise InputError(
            f"the column {name!r} holds mixed or unsupported types",
            remedy="make them all text, all numbers or all truth values",
        ) from None


def _as_array(
    columns: Sequence[pa.Array], may_be_none: bool, before: np.dtype[Any]
) -> npt.NDArray[Any]:
    """Return columns side by side, of the type before where all outputs fit it.

    The type depends on the mechanisms, never on what happened to be drawn.
    """
    kinds = [column.type for column in columns]
    kind: Any = object
    if before.kind == "U" and all(map(_is_text, kinds)) and not may_be_none:
        kind = str
    elif before.kind == "b" and all(map(pa.types.is_boolean, kinds)) and not may_be_none:
        kind = bool
    elif before.kind in "iuf" and all(map(_is_number, kinds)):
        kind = np.result_type(*(each.to_pandas_dtype() for each in kinds))
        if may_be_none and kind.kind != "f":
            kind = np.float64
    parts = [_to_numpy(column, kind) for column in columns]
    return np.column_stack(parts)


def _to_numpy(column: pa.Array, kind: Any) -> npt.NDArray[Any]:
    if kind is object or kind is str:
        return np.array([*column.to_pylist(), None], dtype=object)[:-1].astype(kind)
    values: npt.NDArray[Any] = column.to_numpy(zero_copy_only=False)
    return values.astype(kind)


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
