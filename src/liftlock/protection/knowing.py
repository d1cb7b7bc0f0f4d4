"""From what is wanted of columns to what their mechanisms are to know, in one pass."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from liftlock.alphabet import Label
from liftlock.column_code import MISSING_LABEL, OTHER_LABEL, ColumnCode, texts_of
from liftlock.contexts import Joint
from liftlock.errors import InputError
from liftlock.progress import Progress
from liftlock.protection.learning import Numbers, Source, counts_of
from liftlock.protection.rules import Counts, Learned, learn_labels, learn_numbers, secret_label
from liftlock.protection.wish import Wish


def learned_of(
    source: Source, wishes: Sequence[Wish], watch: Progress | None = None
) -> tuple[list[Learned | None], int]:
    """Read the table once, and make of it what each mechanism is to know."""
    numeric = [is_numeric(source, wish) for wish in wishes]
    pairs: list[tuple[str | None, str]] = []
    numbers: list[Numbers] = []
    for wish, of_numbers in zip(wishes, numeric, strict=True):
        if wish.local or wish.context is not None:
            if wish.secret is not None and wish.secret in source.columns:
                pairs.append((None, wish.secret))
            continue
        if of_numbers:
            numbers.append(Numbers(wish.column, wish.secret, wish.policy.spelled))
        else:
            pairs.append((wish.secret, wish.column))
    counts, rows = counts_of(source, pairs, numbers, watch)
    by_pair: dict[tuple[str | None, str], Counts] = dict(zip(pairs, counts, strict=True))
    by_column = {each.column: each for each in numbers}
    found: list[Learned | None] = []
    for wish, of_numbers in zip(wishes, numeric, strict=True):
        if wish.local:
            found.append(None)
        elif wish.context is not None:
            if wish.secret is not None and wish.secret in source.columns:
                _check_secrets(wish, by_pair[None, wish.secret])
            found.append(_given(wish))
        elif of_numbers:
            each = by_column[wish.column]
            found.append(
                learn_numbers(
                    wish.column,
                    each.numbers(),
                    each.secrets(),
                    wish.policy,
                    secret=wish.secret,
                    cells=wish.cells,
                    domain=wish.domain,
                )
            )
        else:
            pair = by_pair[wish.secret, wish.column]
            found.append(learn_labels(wish.column, pair, wish.policy, secret=wish.secret))
    return found, rows


def is_numeric(source: Source, wish: Wish) -> bool:
    """Tell whether the cells of a column are numbers that are cut into cells."""
    kind = source.type_of(wish.column)
    inner = kind.value_type if pa.types.is_dictionary(kind) else kind
    typed = pa.types.is_floating(inner) or pa.types.is_decimal(inner)
    return wish.numbers or wish.domain is not None or wish.cells is not None or typed


def _check_secrets(wish: Wish, counts: Counts) -> None:
    """Refuse secrets that a public joint does not know: nothing is proved about them."""
    assert isinstance(wish.context, Joint)
    joint = wish.context
    known = {
        str(label)
        for label, row in zip(joint.secrets.labels, joint.counts, strict=True)
        if any(row)
    }
    for _, told in counts:
        label = secret_label(told)
        if label != MISSING_LABEL and known.isdisjoint(texts_of(label)):
            raise InputError(
                f"a value of the secret {wish.secret!r} that the joint does not know",
                value=label,
                remedy=f"add it to the joint, which knows {', '.join(sorted(known)[:6])}",
            )


def _given(wish: Wish) -> Learned:
    """Take a public joint or prior as it is, with what it says about missing and other values."""
    context = wish.context
    assert context is not None
    policy = wish.policy
    labels = context.inputs.labels
    masses = (context.prior if isinstance(context, Joint) else context).floats()
    # What cannot occur is no input of the mechanism.
    known = {label for label, mass in zip(labels, masses, strict=True) if mass}
    keeps = policy.missing == "keep"
    if keeps and wish.secret is None and MISSING_LABEL in known:
        raise InputError(
            f"the prior of {wish.column!r} knows {MISSING_LABEL}, and missing cells are kept",
            remedy="take it out of the prior, or make it a category (--missing category)",
        )
    asks = MISSING_LABEL in known and policy.missing != "refuse"
    notes: list[str] = []
    other: Label | None = OTHER_LABEL if OTHER_LABEL in known else None
    if other is None and policy.unseen == "map":
        other = labels[int(np.argmax(masses))]
        notes.append(f"values of {wish.column!r} that are unseen become {other!r}, the likeliest")
    code = ColumnCode(
        wish.column,
        missing=MISSING_LABEL if asks else None,
        keeps_missing=keeps and wish.secret is None,
        spelled=policy.spelled,
        secret=wish.secret,
        other=other,
        unseen=policy.unseen,
    )
    return Learned(context, code, MISSING_LABEL if asks and keeps else None, tuple(notes))
