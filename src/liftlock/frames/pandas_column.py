"""Columns of pandas to Arrow arrays and back into the type that they had."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa


def as_arrow(series: Any) -> pa.Array | pa.ChunkedArray:
    """Return a column as Arrow; what only pandas has, such as periods and intervals, by text."""
    import pandas as pd

    kind = series.dtype
    if isinstance(kind, pd.CategoricalDtype):
        names = kind.categories
        if not _plain(names.dtype) or pd.api.types.infer_dtype(names).startswith("mixed"):
            names = names.map(str)
        codes = series.cat.codes.to_numpy()
        indices = pa.array(codes, mask=codes < 0)
        dictionary = pa.array(names.to_numpy(dtype=object), from_pandas=True)
        return pa.DictionaryArray.from_arrays(indices, dictionary, ordered=bool(kind.ordered))
    if isinstance(kind, pd.SparseDtype):
        series = series.sparse.to_dense()
    elif not _plain(kind):
        series = series.astype("string")
    return pa.Array.from_pandas(series)


def from_arrow(
    released: pa.ChunkedArray, before: Any, arrow_type: pa.DataType, may_be_none: bool
) -> Any:
    """Return a series with the index, the name and, where the outputs fit, the type of before.

    What the type becomes depends on the mechanism, never on what happened to be drawn.
    """
    import pandas as pd

    kind = before.dtype
    kept = released.type == arrow_type
    values: Any
    if isinstance(kind, pd.ArrowDtype):
        values = pd.arrays.ArrowExtensionArray(released)
    elif pa.types.is_dictionary(released.type):
        values = _categories(released, kind)
    elif kind == np.dtype(object):
        values = np.empty(len(released), dtype=object)
        values[:] = released.to_pylist()
    elif kept and _plain(kind) and hasattr(kind, "__from_arrow__"):
        values = kind.__from_arrow__(released)
    elif may_be_none and pa.types.is_integer(released.type):
        values = pd.array(released.to_pylist(), dtype="Int64")
    elif may_be_none and pa.types.is_boolean(released.type):
        values = pd.array(released.to_pylist(), dtype="boolean")
    elif kept and isinstance(kind, np.dtype) and kind.kind in "biuf":
        values = released.to_numpy().astype(kind, copy=False)
    else:
        values = released.to_pandas().array
    # Pandas would call a column of objects that are all text one of text.
    return pd.Series(values, index=before.index, name=before.name, dtype=values.dtype)


def index_levels(frame: Any) -> dict[str, pa.ChunkedArray]:
    """Return the levels of a frame's index by name; none if it only numbers the rows.

    >>> import pandas as pd
    >>> people = pd.DataFrame({"age": [31, 47], "who": ["Ann", "Bob"]})
    >>> list(index_levels(people.set_index("who"))), list(index_levels(people))
    (['who'], [])
    """
    import pandas as pd

    if isinstance(frame.index, pd.RangeIndex):
        return {}
    found: dict[str, pa.ChunkedArray] = {}
    for at in range(frame.index.nlevels):
        level = frame.index.get_level_values(at)
        name = "(index)" if level.name is None else str(level.name)
        while name in found or name in frame.columns:
            name = f"{name} (index)"
        cells = as_arrow(level.to_series())
        found[name] = cells if isinstance(cells, pa.ChunkedArray) else pa.chunked_array([cells])
    return found


def _plain(kind: Any) -> bool:
    """Tell whether Arrow has values like these: periods and intervals are pandas' own."""
    import pandas as pd

    return not isinstance(kind, pd.PeriodDtype | pd.IntervalDtype)


def _categories(released: pa.ChunkedArray, kind: Any) -> Any:
    """Return a categorical of the same categories, if each output is one of them."""
    import pandas as pd

    whole = released.unify_dictionaries().combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        whole = pa.concat_arrays(whole.chunks)
    outputs = whole.dictionary.to_pylist()
    by_text = {str(name): at for at, name in enumerate(kind.categories)}
    places = [by_text.get(str(output)) for output in outputs]
    if None in places:
        kind, places = pd.CategoricalDtype(outputs), list(range(len(outputs)))
    indices = whole.indices.cast(pa.int64()).fill_null(len(outputs)).to_numpy(zero_copy_only=False)
    codes = np.array([*places, -1], dtype=np.int64)[indices]
    return pd.Categorical.from_codes(codes, dtype=kind)
