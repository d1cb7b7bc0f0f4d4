"""What is wanted of a column: what it must not tell, how much it may, and how to read it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple, TypedDict, Unpack

import pyarrow as pa

from liftlock.errors import InputError, LabelError, NotDefined
from liftlock.exact.numbers import exact
from liftlock.model import Context, Joint, Prior
from liftlock.model.alphabet import Label
from liftlock.model.columns import (
    MISSING,
    MISSING_LABEL,
    OTHER_LABEL,
    UNSEEN,
    Missing,
    Unseen,
)
from liftlock.model.conditional import FEWEST
from liftlock.notions.base import Notion
from liftlock.notions.lip import LIP
from liftlock.notions.registry import parse_claim
from liftlock.tables.formats.base import value_type
from liftlock.utility.base import Utility

BINS_WITH_SECRET = 48
"""So many cells of numbers, unless told otherwise, if another column is the secret."""
BINS_TOGETHER = 12
"""And if combinations with other columns are one value: these become many."""
MOST_DECIMALS = 12
"""Floats tell no more decimals of common numbers apart."""
BINS_FITTED = 64
"""And if a transformer of scikit-learn designs for each column; else `continuous.DEFAULT_BINS`."""


@dataclass(frozen=True)
class Policy:
    """What becomes of missing, rare and unseen values."""

    missing: Missing = "category"
    unseen: Unseen = "refuse"
    rare: int = 0
    """Values in fewer rows than this are merged."""
    spelled: tuple[str, ...] = ()
    """Texts that mean a missing cell."""
    smooth: object = 0
    """What is added to every count of a joint or a prior that is learned."""

    def __post_init__(self) -> None:
        for name, value, known in (
            ("missing", self.missing, MISSING),
            ("unseen", self.unseen, UNSEEN),
        ):
            if value not in known:
                raise InputError(
                    f"unknown policy for {name} values",
                    value=value,
                    remedy=f"use {', '.join(known)}",
                )
        for text in self.spelled:
            if text.strip() in (MISSING_LABEL, OTHER_LABEL):
                # It would be counted as missing, and released as what it is called.
                raise reserved_label_error(
                    "one text instead of a list of texts for missing cells", text.strip()
                )
        if self.rare < 0:
            raise InputError(
                "rare is not a number of rows", value=self.rare, remedy="give 0 or more"
            )
        if exact(self.smooth, name="smooth") < 0:
            raise InputError("smooth is negative", value=self.smooth, remedy="give 0 or more")


class Hidden(NamedTuple):
    """What a column must not tell, and how much it may: of a secret, or of its own value."""

    secret: str | None
    """The column that must not be inferred; None is the value itself."""
    notion: Notion


@dataclass(frozen=True)
class ColumnSpec:
    """One column to be replaced by what may be seen of it."""

    column: str
    notion: Notion
    secret: str | None = None
    """The column that must not be inferred; None is the value itself."""
    context: Joint | Prior | None = None
    """A public joint or prior; None is counted in the table."""
    utility: str | Utility | None = None
    method: str | None = None
    policy: Policy = field(default_factory=Policy)
    numbers: bool = False
    """Whether cells are numbers; columns of floating-point numbers are so in any case."""
    domain: Any = None
    bins: int | None = None
    decimals: int | None = None
    """So many decimals have the numbers that are released; None is 0 if all cells are whole."""
    local: Mapping[Label, str] = field(default_factory=dict)
    """For a prior of each row's own: the column that holds the probability of each value."""
    local_budgets: str | None = None
    """The column that holds the budget of each row, where these differ; it is public."""
    normalise: bool = False
    """Whether the probabilities of a row's own prior are divided by their sum."""
    also: tuple[Hidden, ...] = ()
    """What else it must not tell: other secrets, or its own value beside a secret."""
    given: tuple[str, ...] = ()
    """Columns that stay in the output, which the mechanism may use: the guarantee holds for each
    combination of their values, for whoever sees them."""
    given_rows: int = FEWEST
    """Given values in fewer rows than this share one table, which holds whatever the joint."""

    @property
    def hidden(self) -> tuple[Hidden, ...]:
        """All that it must not tell."""
        return (Hidden(self.secret, self.notion), *self.also)

    @property
    def secrets(self) -> tuple[str, ...]:
        """The columns that must not be inferred."""
        return tuple(dict.fromkeys(each for each, _ in self.hidden if each is not None))

    def __post_init__(self) -> None:
        if self.also:
            self._check_several()
        if self.column in self.secrets:
            raise InputError(
                "the column is its own secret",
                value=self.column,
                remedy="leave out the secret to protect the values themselves",
            )
        self._check_given()
        if self.decimals is not None and self.decimals not in range(MOST_DECIMALS + 1):
            raise InputError(
                "not a number of decimals",
                value=self.decimals,
                remedy=f"give 0 to {MOST_DECIMALS}",
            )
        if self.local_budgets is not None and not self.local:
            raise InputError(
                "per-user budgets without per-user priors",
                value=self.local_budgets,
                remedy="name the columns of probabilities too (--local-priors)",
            )
        if self.local and (self.secret is not None or self.context is not None or self.numbers):
            raise InputError(
                "per-user priors do not go with a secret, a joint or numbers",
                value=self.column,
                remedy="protect the value itself, or leave out the columns of probabilities",
            )
        known: Any = self.context
        if isinstance(known, Context) and not isinstance(known, Joint | Prior):
            raise NotDefined(
                "protecting a column",
                known.describe(),
                "give a prior or a joint; or design a mechanism for it, and release the column "
                "with that",
            )
        cut = self.numbers or self.domain is not None or self.bins is not None
        if self.context is not None and cut:
            raise InputError(
                "a joint or prior is given for a column of numbers, whose bins are counted in the "
                "table",
                value=self.column,
                remedy="leave out one of them",
            )
        if isinstance(self.context, Joint) and self.secret is None:
            raise InputError(
                "the joint needs the name of its secret",
                value=self.column,
                remedy="name the secret (--secret); give a prior to protect the value itself",
            )
        if isinstance(self.context, Prior) and self.secret is not None:
            raise InputError(
                "a prior has no secret",
                value=self.secret,
                remedy="give a joint of the secret and the column",
            )

    def _check_given(self) -> None:
        """Refuse given columns that make no sense, or for which nothing is counted."""
        for name in self.given:
            if name in (self.column, *self.secrets):
                raise InputError(
                    "a column is given that is the secret or the released one",
                    value=name,
                    remedy="give columns that stay beside it",
                )
            if self.given.count(name) > 1:
                raise InputError("a column is given twice", value=name, remedy="name it once")
        if self.given and (self.local or self.context is not None):
            raise InputError(
                "given columns are counted in the table",
                value=self.column,
                remedy="leave out --given, or the joint, the prior and the per-user priors",
            )
        if self.given_rows < 1:
            raise InputError("not a number of rows", value=self.given_rows, remedy="give 1 or more")

    def _check_several(self) -> None:
        """Refuse what is not counted for several secrets at once."""
        if self.secret is None and self.secrets:
            raise InputError(
                "the value itself is named before a secret",
                value=self.column,
                remedy="give the secret first, and the value itself in also",
            )
        refused = None
        if self.local or self.context is not None:
            refused = "a prior or joint that is given: all are counted in the table"
        elif self.policy.missing == "keep":
            refused = "missing cells that are kept: make them a category"
        elif exact(self.policy.smooth, name="smooth"):
            refused = "counts that are smoothed: leave out smooth"
        if refused is not None:
            raise InputError(
                "several guarantees for one column", value=self.column, remedy=f"not with {refused}"
            )


def check_group(specs: Sequence[ColumnSpec]) -> None:
    """Refuse what columns that are one value cannot have each for themselves."""
    first = specs[0]
    if len(specs) < 2:
        raise InputError(
            "--together needs several columns", value=first.column, remedy="leave out --together"
        )
    for spec in specs:
        for what, same in (
            ("secret", [each for each, _ in spec.hidden] == [each for each, _ in first.hidden]),
            ("guarantee", list(map(str, spec.hidden)) == list(map(str, first.hidden))),
            ("utility", spec.utility == first.utility),
            ("list of given columns", spec.given == first.given),
        ):
            if not same:
                raise InputError(
                    f"columns protected together share one {what}",
                    value=spec.column,
                    remedy="leave out --together, or give them the same",
                )
        if spec.local or spec.context is not None:
            raise InputError(
                "columns protected together are counted in the table",
                value=spec.column,
                remedy="leave out --together, or the joint and prior",
            )
        if spec.policy.missing == "keep":
            raise InputError(
                "columns protected together cannot keep cells missing",
                value=spec.column,
                remedy="make missing values a category (--missing category)",
            )


def is_numeric(spec: ColumnSpec, kind: pa.DataType) -> bool:
    """Tell whether the cells of a column of this type are numbers that are cut into cells."""
    inner = value_type(kind)
    typed = pa.types.is_floating(inner) or pa.types.is_decimal(inner)
    return spec.numbers or spec.domain is not None or spec.bins is not None or typed


# --- what is asked for, in Python ---------------------------------------------------------------

AnyNotion = Notion | str | float
"""A notion, a claim such as ``"alip=1.3,0.7"``, or an epsilon of LIP."""
AnySecrets = str | Sequence[str | Sequence[str | None] | None] | Mapping[str, Any] | None
"""One secret for all columns, or one for each, or several of one column: by its name, as a list
in the list, or as the list if there is one column. None is the value itself."""


class SpecOptions(TypedDict, total=False):
    """How columns are read and designed for; a mapping goes by column, all else is for each."""

    context: Joint | Prior | Mapping[str, Joint | Prior] | None
    """A public joint or prior, instead of counting the table."""
    local: Mapping[Any, str] | None
    """For a prior of each row's own: the column that holds the probability of each value."""
    local_budgets: str | None
    """The column that holds the budget of each row, where these differ."""
    normalise: bool
    """Whether the probabilities of a row's own prior are divided by their sum."""
    utility: str | Utility | Mapping[str, str | Utility] | None
    method: str | None
    missing: Missing
    spelled: Sequence[str]
    """Texts that mean a missing cell."""
    unseen: Unseen
    rare: int
    """Values in fewer rows than this are merged."""
    smooth: object
    """What is added to every count."""
    numbers: Collection[str]
    """Columns to be read as numbers."""
    domain: Any
    """The ends that numbers are clamped to."""
    bins: int | Mapping[str, int] | None
    """How many cells numbers are cut into."""
    decimals: int | Mapping[str, int] | None
    """How many decimals released numbers have; by default none, if all cells are whole numbers."""
    budget_of: Mapping[str, AnyNotion]
    """The guarantee of single secrets, where it is not that of their column."""
    value_budget: AnyNotion | Mapping[str, AnyNotion] | None
    """What a column may tell of its own value besides, where it has a secret."""
    given: str | Sequence[str]
    """Columns that stay in the output, and that mechanisms may use: guarantees hold given each of
    their values."""
    given_rows: int
    """Given values in fewer rows than this share one table."""


def column_specs(
    column: str | Sequence[str] | Sequence[ColumnSpec],
    notion: AnyNotion | Mapping[str, AnyNotion] | None = None,
    secret: AnySecrets = None,
    **how: Unpack[SpecOptions],
) -> list[ColumnSpec]:
    """Say what is wanted of columns: of each the same, unless it is given by column.

    >>> [spec.bins for spec in column_specs(["age", "pay"], "lip=1", bins={"pay": 20})]
    [None, 20]
    >>> (spec,) = column_specs("job", "lip=1", ["sex", "race"], budget_of={"race": "lip=0.5"})
    >>> [f"{secret}: {notion}" for secret, notion in spec.hidden]
    ['sex: lip(1)', 'race: lip(0.5)']
    """
    unknown = how.keys() - SpecOptions.__annotations__.keys()
    if unknown:
        raise TypeError(f"protect() got an unexpected keyword argument {min(unknown)!r}")
    given: Any = column
    several = isinstance(given, Sequence) and not isinstance(given, str)
    names: list[Any] = list(given) if several else [given]
    if names and all(isinstance(name, ColumnSpec) for name in names):
        if notion is not None or secret is not None or how:
            raise InputError(
                "specs are given with other arguments",
                value=", ".join(how) or None,
                remedy="give either a list of specs or the single-column arguments",
            )
        return names
    secrets = _secrets_of(names, secret)
    own: Mapping[Any, AnyNotion] = how.get("budget_of") or {}
    unused = own.keys() - {each for some in secrets for each in some}
    if unused:
        raise InputError(
            "a budget of what is not a secret", value=min(unused), remedy="name it as a secret"
        )
    policy = Policy(
        how.get("missing", "category"),
        how.get("unseen", "refuse"),
        how.get("rare", 0),
        tuple(how.get("spelled", ())),
        how.get("smooth", 0),
    )

    def hidden_by(name: Any, told: Sequence[str | None]) -> list[Hidden]:
        cap = _value_for(how.get("value_budget"), name)
        # The value itself last.
        found = [
            Hidden(each, _notion(own[each] if each in own else _value_for(notion, name), name))
            for each in sorted(told, key=lambda each: each is None)
        ]
        return found if cap is None else [*found, Hidden(None, _notion(cap, name))]

    asked = [hidden_by(name, told) for name, told in zip(names, secrets, strict=True)]
    return [
        ColumnSpec(
            _text(name),
            first.notion,
            first.secret,
            _value_for(how.get("context"), name),
            _value_for(how.get("utility"), name),
            how.get("method"),
            policy,
            name in how.get("numbers", ()),
            _value_for(how.get("domain"), name),
            _value_for(how.get("bins"), name),
            _value_for(how.get("decimals"), name),
            dict(how.get("local") or {}),
            how.get("local_budgets"),
            how.get("normalise", False),
            tuple(also),
            _names(how.get("given", ())),
            how.get("given_rows", FEWEST),
        )
        for name, (first, *also) in zip(names, asked, strict=True)
    ]


def _names(given: str | Sequence[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(_text(name) for name in given)


def _secrets_of(names: Sequence[Any], secret: AnySecrets) -> list[tuple[str | None, ...]]:
    """Return the secrets of each column, without the same one twice."""
    given: list[Any]
    if secret is None or isinstance(secret, str):
        given = [secret] * len(names)
    elif isinstance(secret, Mapping):
        unknown = [name for name in secret if name not in names]
        if unknown:
            raise InputError(
                "secrets of a column that is not protected",
                value=unknown[0],
                remedy=f"name one of {', '.join(map(str, names))}",
            )
        given = [secret.get(name) for name in names]
    else:
        given = list(secret)
        if len(names) == 1 and len(given) > 1:
            given = [tuple(given)]
    if len(given) != len(names):
        raise InputError(
            f"{len(given)} secrets for {len(names)} columns",
            remedy="give one value, one per column, or a mapping from columns to their secrets",
        )
    lists = [(each,) if each is None or isinstance(each, str) else tuple(each) for each in given]
    return [tuple(dict.fromkeys(each)) or (None,) for each in lists]


def read_total(
    total: AnyNotion | None, notion: AnyNotion | Mapping[str, AnyNotion] | None
) -> Notion | None:
    """Return the budget that all columns share, if one is given, and no other beside it."""
    if total is None:
        return None
    if notion is not None:
        raise InputError(
            "a total budget and one for each column",
            value=str(total),
            remedy="give one of them: the total is split among the columns",
        )
    return _notion(total, "total")


def _value_for(given: Any, name: Any) -> Any:
    """Return what is given for one column: by its name, or for all."""
    return given.get(name) if isinstance(given, Mapping) else given


def _text(name: Any) -> str:
    if isinstance(name, str):
        return name
    raise InputError(
        "the name of a column is not a text",
        value=name,
        remedy="rename the columns: frame.columns = frame.columns.astype(str)",
    )


def _notion(given: Any, name: Any) -> Notion:
    """Read a guarantee: a notion, a claim such as ``lip=1``, or an epsilon of LIP."""
    if given is None:
        raise InputError("no guarantee", value=name, remedy="give one per column")
    if isinstance(given, str) and "=" in given:
        return parse_claim(given)
    if isinstance(given, str | int | float | Fraction) and not isinstance(given, bool):
        return LIP(given if isinstance(given, str) else str(given))
    if not hasattr(given, "certify"):
        raise InputError(
            f"not a guarantee: {type(given).__name__}",
            value=given,
            remedy="give a notion such as LIP('0.5'), or its text lip=0.5",
        )
    found: Notion = given
    return found


def reserved_label_error(what: str, label: str) -> LabelError:
    """Return the refusal of a label that means something here."""
    return LabelError(f"{what} is called {label!r}, a reserved name", remedy="rename it")
