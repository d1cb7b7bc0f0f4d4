"""The contract of stored files that prove something: no field of them can be changed unnoticed."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import liftlock as ll
from liftlock._runtime.storage import StoredObject
from liftlock.errors import FileError, LiftlockError
from liftlock.model.columns import ColumnEncoding, TableEncoding
from liftlock.model.provenance import Provenance
from tests.compatibility.stored import FILES, names
from tests.contracts.test_stored import GRAPH, PRIOR, ledger, mechanism, per_user

Place = tuple[Any, ...]

UNSEALED = {
    "origin": "information, on which no guarantee rests",
    "column": "rules of a column: commands that use them say that they could not be checked",
    "group": "rules of columns: the same",
    "context.edges": "the same edges in another order are the same graph",
    "context.grid": "where a distribution on numbers came from; masses and edges are certified",
}
"""What can be changed unnoticed in files of version 1, which carry no fingerprint, and the harm."""


def column() -> ll.Mechanism:
    """Return a mechanism with every kind of rule of a column."""
    prior = ll.Prior.from_counts({"no": 6, "yes": 3, "(missing)": 1, "(other)": 1})
    rules = ColumnEncoding(
        "smokes",
        missing="(missing)",
        spelled=("n/a", "-"),
        other="(other)",
        merged=("rarely",),
        unseen="map",
        secret="ill",
    )
    made = ll.design(prior, ll.LIP("1"), method="arc")
    return ll.Mechanism(made.channel, made.certificate, prior, made.origin, TableEncoding((rules,)))


def optimum() -> ll.Mechanism:
    made = ll.design(PRIOR, ll.ALIP(lower="1", upper="1/2"), utility="guess")
    assert made.origin is not None
    assert made.origin.gap is not None
    return made


STORED: dict[str, Callable[[], StoredObject]] = {
    "mechanism": mechanism,
    "column": column,
    "optimum": optimum,
    "profiles": lambda: ll.design(GRAPH, ll.ProfilePrivacy("1")),
    "numbers": lambda: ll.design(
        ll.continuous.normal(3, 2).discretise(4), ll.LIP("1"), method="laplace"
    ),
    "per-user": per_user,
    "ledger": ledger,
    "empty ledger": ll.Ledger.new,
}


def leaves(data: Any, place: Place = ()) -> Iterator[Place]:
    """Give every place of a value, innermost ones and the lists and objects around them."""
    if place:
        yield place
    if isinstance(data, dict | list):
        for key, value in data.items() if isinstance(data, dict) else enumerate(data):
            yield from leaves(value, (*place, key))


def at(data: Any, place: Place) -> Any:
    for key in place:
        data = data[key]
    return data


def others(value: Any) -> Iterator[Any]:
    """Give what somebody might write instead of a value."""
    yield None
    yield {"x": 1}
    if isinstance(value, bool):
        yield not value
        yield int(value)
    elif isinstance(value, int):
        yield value + 1
        yield -value or 7
        yield bool(value)
        yield value + 0.5
        yield str(value)
    elif isinstance(value, float):
        yield value * 1.25 + 0.125
        yield 0.0
        yield str(value)
        yield "inf"
    elif isinstance(value, str):
        yield value + " "
        yield value.upper() if value.upper() != value else value + "x"
        yield "\uff11" + value
        yield "inf"
    elif isinstance(value, list):
        yield [*value, *value[:1]] if value else ["x"]
        yield value[:-1] if value else None
        yield value[::-1] if value[::-1] != value else [value]
    elif isinstance(value, dict):
        yield {**value, "note": "x"}
        for key in value:
            yield {k: v for k, v in value.items() if k != key}


def changes(data: dict[str, Any], most: int) -> Iterator[tuple[Place, Any, dict[str, Any]]]:
    """Give the file with one place changed, for every place (of long lists the first ones)."""
    for place in leaves(data):
        if any(isinstance(key, int) and key >= most for key in place):
            continue
        value = at(data, place)
        for other in others(value):
            if other == value and isinstance(other, bool) == isinstance(value, bool):
                continue  # 1.0 is 1
            changed = copy.deepcopy(data)
            at(changed, place[:-1])[place[-1]] = other
            yield place, other, changed


def refuses(kind: type[StoredObject], data: dict[str, Any]) -> bool:
    try:
        kind.from_data(data)
    except LiftlockError:
        return True
    return False


def unnoticed(kind: type[StoredObject], data: dict[str, Any], most: int = 3) -> set[str]:
    """Return the names of the places where a change is not noticed."""
    return {
        ".".join(str(key) for key in place if not isinstance(key, int))
        for place, _, changed in changes(data, most)
        if not refuses(kind, changed)
    }


@pytest.mark.parametrize("make", STORED.values(), ids=STORED)
def test_no_field_is_changed_unnoticed(make: Callable[[], StoredObject]) -> None:
    stored = make()
    data = json.loads(stored.to_json())
    type(stored).from_data(data)
    assert unnoticed(type(stored), data) == set()


@pytest.mark.parametrize("name", [n for n in names() if n.startswith(("mechanism-", "ledger"))])
def test_no_field_of_an_older_file_is_changed_unnoticed(name: str) -> None:
    data = json.loads((FILES / f"{name}.json").read_text(encoding="utf-8"))
    kind = ll.Ledger if name.startswith("ledger") else ll.Mechanism
    found = unnoticed(kind, data, most=1)
    assert [place for place in found if not place.startswith(tuple(UNSEALED))] == []


@pytest.mark.parametrize(
    ("field", "value"),
    [
        (("nats", "eps_upper", "value"), 0.125),
        (("nats", "eps_upper", "between"), ["0", "1"]),
        (("claims", 0, "measured", "value"), 1.01),
        (("claims", 0, "witness", "output"), "no"),
        (("claims", 0, "witness"), {}),
        (("context_kind",), "every prior"),
        (("holds",), 1),
        (("budgets", "epsilon"), "1.0"),
    ],
    ids=str,
)
def test_the_forged_field_is_named_with_both_values(field: Place, value: Any) -> None:
    data = mechanism().to_data()
    place = ("certificate", *field)
    before = at(data, place)
    at(data, place[:-1])[place[-1]] = value
    with pytest.raises(FileError) as refused:
        ll.Mechanism.from_data(data)
    text = str(refused.value)
    assert str(field[-1]) in text
    if not isinstance(value, dict | list):
        assert repr(value) in text
        assert json.dumps(before) in text
    assert refused.value.remedy


@pytest.mark.parametrize(
    ("rule", "value"),
    [("secret", None), ("secret", "age"), ("missing", "no"), ("unseen", "refuse"), ("name", "x")],
)
def test_the_rules_of_a_column_belong_to_the_fingerprint(rule: str, value: Any) -> None:
    data = column().to_data()
    data["column"][rule] = value
    if value is None:
        del data["column"][rule]
    with pytest.raises(FileError, match="rules of its columns"):
        ll.Mechanism.from_data(data)


def test_a_better_gap_than_was_proved_is_noticed() -> None:
    data = optimum().to_data()
    data["origin"]["gap"] = 0.0
    data["origin"]["bound"] = data["origin"]["objective"]
    with pytest.raises(FileError, match="origin"):
        ll.Mechanism.from_data(data)


def test_numbers_may_be_written_otherwise() -> None:
    """JSON has many spellings of a number, and a rewriter may sort keys: the file is the same."""
    made = mechanism()
    data = made.to_data()
    data["channel"]["bits"] = data["channel"]["bits"]
    shuffled = json.loads(json.dumps(data, sort_keys=True))
    assert ll.Mechanism.from_data(shuffled).to_data() == made.to_data()


def test_a_file_reads_the_same_from_the_disk(tmp_path: Path) -> None:
    """Decimals are kept as text there, which must not make them something else."""
    path = tmp_path / "m.json"
    made = column()
    made.save(path)
    assert ll.Mechanism.load(path) == made
    text = path.read_text(encoding="utf-8")
    for old, new in (
        ('"unseen": "map"', '"unseen": "map", "unseen": "refuse"'),
        ('"version": 2', '"version": 2.0'),
        ('"version": 2', '"version": true'),
        ('"holds": true', '"holds": 1'),
        ('"secret": "ill"', '"secret": "\\u200bill"'),
        ('"secret": "ill"', '"secret": NaN'),
        ('"gap": null', '"gap": Infinity'),
    ):
        assert old in text
        path.write_text(text.replace(old, new, 1), encoding="utf-8")
        with pytest.raises(FileError):
            ll.Mechanism.load(path)
    path.write_text(text.replace('"ill"', '"\\u0069ll"'), encoding="utf-8")
    assert ll.Mechanism.load(path) == made


def test_an_older_file_says_that_it_has_no_fingerprint() -> None:
    made = column()
    data = made.to_data()
    del data["fingerprint"]
    with pytest.raises(FileError, match="fingerprint"):
        ll.Mechanism.from_data(data)
    former = ll.Mechanism.from_data(data | {"version": 1})
    assert not former.sealed
    assert "has no fingerprint" in former.caution
    assert former.caution in str(former)
    assert made.caution == ""
    assert former.to_data() == data | {"version": 1}
    with pytest.raises(FileError, match="fingerprint"):
        ll.Mechanism.from_data(made.to_data() | {"version": 1})


def test_the_origin_belongs_to_the_fingerprint() -> None:
    made = mechanism()
    other = ll.Mechanism(made.channel, made.certificate, made.context, Provenance("x", "y", 1.0))
    assert other.fingerprint != made.fingerprint
