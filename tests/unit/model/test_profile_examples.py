"""The settings of the paper are made exactly, and the made-up workstation is always the same."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pytest

from liftlock.errors import CountError, InputError
from liftlock.model.profile_examples import (
    EXAMPLES,
    LEVELS,
    ROLES,
    bernoulli_chain,
    example,
    workstation,
)


def test_every_example_is_made_by_its_name() -> None:
    assert list(EXAMPLES) == ["couplet", "chain-6", "chain-21", "categorical-chain", "workstation"]
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


def test_the_workstation_is_counted_as_it_was_made() -> None:
    table = workstation()
    assert table == workstation()
    assert table != workstation(seed=8)
    assert len(workstation(25)) == 25
    role_of = {user: role for user, role, _ in table}
    assert role_of == {user: role for role, (users, _) in ROLES.items() for user in users}
    graph = example("workstation")
    assert graph.inputs.labels == LEVELS
    seen = Counter((user, usage) for user, _, usage in table)
    for user in role_of:
        distribution = graph.distribution(user)
        counts = [seen[user, level] + 1 for level in LEVELS]  # smoothed by 1
        assert list(distribution.fractions) == [Fraction(count, sum(counts)) for count in counts]
    assert {(role_of[str(a)], role_of[str(b)]) for a, b in graph.edge_names} == {
        (role, role) for role in ROLES
    }
    assert len(graph.edges) == sum(
        len(users) * (len(users) - 1) // 2 for users, _ in ROLES.values()
    )
    assert not graph.impossible()


def test_users_of_a_role_are_more_alike_than_others() -> None:
    """Otherwise the story that is told with them would not be true."""
    table = workstation(60_000, seed=3)
    role_of = {user: role for user, role, _ in table}
    seen = Counter((user, usage) for user, _, usage in table)
    total = Counter(user for user, _, _ in table)

    def apart(one: str, other: str) -> float:
        return sum(
            abs(seen[one, level] / total[one] - seen[other, level] / total[other])
            for level in LEVELS
        )

    inside: list[float] = []
    across: list[float] = []
    users = list(role_of)
    for place, one in enumerate(users):
        for other in users[:place]:
            (inside if role_of[one] == role_of[other] else across).append(apart(one, other))
    assert sum(inside) / len(inside) < 0.7 * sum(across) / len(across)


def test_no_rows() -> None:
    with pytest.raises(CountError, match="no rows"):
        workstation(0)
