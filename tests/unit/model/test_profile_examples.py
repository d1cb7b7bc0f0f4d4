"""The settings of the paper are made exactly, and made-up observations are always the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from fractions import Fraction

import pytest

from liftlock.errors import CountError, InputError
from liftlock.model.profile_examples import (
    EXAMPLES,
    LEVELS,
    ROLES,
    ROUTES,
    SIDES,
    Group,
    Observations,
    bernoulli_chain,
    commute,
    example,
    workstation,
)


def test_every_example_is_made_by_its_name() -> None:
    assert list(EXAMPLES) == [
        *["couplet", "chain-6", "chain-21", "categorical-chain", "commute", "workstation"]
    ]
    for name, entry in EXAMPLES.items():
        assert (entry.name, bool(entry.says)) == (name, True)
        assert example(name) == entry.make() == example(f" {name.upper().replace('-', '_')} ")


def test_an_unknown_example() -> None:
    with pytest.raises(InputError, match="unknown example of profiles: 'ring'; use one of couplet"):
        example("ring")


@pytest.mark.parametrize("size", [2, 6, 21, 34])
def test_parameters_of_a_chain_are_evenly_spaced(size: int) -> None:
    graph = bernoulli_chain(size)
    ones = [Fraction(row[1], sum(row)) for row in graph.counts]
    assert ones == [Fraction(place, size - 1) for place in range(size)]
    assert [Fraction(str(name)) for name in graph.profiles.labels] == ones
    assert graph.edges == tuple((place, place + 1) for place in range(size - 1))


@pytest.mark.parametrize("size", [-1, 0, 1])
def test_a_chain_has_two_profiles(size: int) -> None:
    with pytest.raises(CountError, match="a chain of fewer than 2 profiles"):
        bernoulli_chain(size)


def test_the_table_of_the_paper() -> None:
    graph = example("categorical-chain")
    distributions = [[Fraction(c, sum(row)) for c in row] for row in graph.counts]
    assert distributions == [
        [Fraction(tenths, 10) for tenths in row]
        for row in ([2, 3, 4, 1], [3, 3, 3, 1], [4, 4, 1, 1])
    ]
    assert all(sum(distribution) == 1 for distribution in distributions)
    assert graph.edge_names == (("P1", "P2"), ("P2", "P3"))


def test_the_couplet() -> None:
    graph = example("couplet")
    assert [Fraction(row[1], sum(row)) for row in graph.counts] == [
        Fraction(4, 5),
        Fraction(9, 10),
    ]
    assert graph.edges == ((0, 1),)


@pytest.mark.parametrize(
    ("name", "make", "groups", "labels"),
    [("workstation", workstation, ROLES, LEVELS), ("commute", commute, SIDES, ROUTES)],
)
def test_observations_are_counted_as_they_were_made(
    name: str,
    make: Callable[..., Observations],
    groups: Mapping[str, Group],
    labels: tuple[str, ...],
) -> None:
    table = make().rows
    assert table == make().rows
    assert table != make(seed=8).rows
    assert len(make(25).rows) == 25
    group_of = {who: group for who, group, _ in table}
    assert group_of == {who: group for group, (members, _) in groups.items() for who in members}
    graph = example(name)
    assert graph.inputs.labels == labels
    seen = Counter((who, value) for who, _, value in table)
    for who in group_of:
        distribution = graph.distribution(who)
        counts = [seen[who, label] + 1 for label in labels]  # smoothed by 1
        assert list(distribution.fractions) == [Fraction(count, sum(counts)) for count in counts]
    assert {(group_of[str(a)], group_of[str(b)]) for a, b in graph.edge_names} == {
        (group, group) for group in groups
    }
    assert len(graph.edges) == sum(
        len(members) * (len(members) - 1) // 2 for members, _ in groups.values()
    )
    assert not graph.impossible()


@pytest.mark.parametrize(("make", "labels"), [(workstation, LEVELS), (commute, ROUTES)])
def test_members_of_a_group_are_more_alike_than_others(
    make: Callable[..., Observations], labels: tuple[str, ...]
) -> None:
    """Otherwise the story that is told with them would not be true."""
    table = make(60_000, seed=3).rows
    group_of = {who: group for who, group, _ in table}
    seen = Counter((who, value) for who, _, value in table)
    total = Counter(who for who, _, _ in table)

    def apart(one: str, other: str) -> float:
        return sum(
            abs(seen[one, label] / total[one] - seen[other, label] / total[other])
            for label in labels
        )

    inside: list[float] = []
    across: list[float] = []
    people = list(group_of)
    for place, one in enumerate(people):
        for other in people[:place]:
            (inside if group_of[one] == group_of[other] else across).append(apart(one, other))
    assert sum(inside) / len(inside) < 0.7 * sum(across) / len(across)


def test_no_rows() -> None:
    with pytest.raises(CountError, match="no rows"):
        workstation(0)
