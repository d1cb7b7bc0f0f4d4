"""Values of profiles find their rows, whatever the order of the table."""

from __future__ import annotations

import numpy as np
import pytest

from liftlock import Channel, ProfileGraph
from liftlock.errors import InputError
from liftlock.sampling.release import profile_rows

GRAPH = ProfileGraph.chain({"a": {"x": 1, "y": 3}, "b": {"x": 3, "y": 1}})


def test_rows_follow_the_order_of_the_table() -> None:
    labels = [("b", "y"), ("a", "x"), ("b", "x"), ("a", "y")]
    channel = Channel.identity(labels)
    found = profile_rows(channel, GRAPH, ["x", "y", "y"], ["b", "b", "a"])
    assert found is not None
    assert [labels[row] for row in found] == [("b", "x"), ("b", "y"), ("a", "y")]
    alike = profile_rows(channel, GRAPH, np.array(["x", "y"]), "a")
    assert alike is not None
    assert [labels[row] for row in alike] == [("a", "x"), ("a", "y")]


def test_a_channel_that_ignores_the_profile() -> None:
    channel = Channel.identity(["y", "x"])
    assert profile_rows(channel, GRAPH, ["x"], None) is None
    found = profile_rows(channel, GRAPH, ["x", "y"], ["a", "b"])
    assert found is not None
    assert found.tolist() == [1, 0]
    with pytest.raises(InputError, match="so it is not protected at value 2"):
        profile_rows(channel, GRAPH, ["x", "y"], ["a", "b"], [("b", "y")])
