"""The files of mechanisms and aggregates of users are those that the schemas describe."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from tests.docs.test_schemas import check, refused
from tests.unit.per_user.worlds import METHODS, world


@pytest.mark.parametrize("method", METHODS)
def test_schemas(method: Any) -> None:
    mechanism, priors, reports = world(method)
    data = json.loads(json.dumps(mechanism.to_data()))
    check(data, "mechanism")
    levels = [data["channel"]["levels"][0] | {"surprise": 1}]
    assert refused(data | {"channel": data["channel"] | {"levels": levels}}, "mechanism")
    for asked in ({}, {"weights": np.ones(40)}, {"of": "survey", "value": ["a", "b"]}):
        found = mechanism.aggregate(reports, priors, coded=True, **asked)
        data = json.loads(found.to_json())
        check(data, "local-aggregate")
        assert refused(data | {"surprise": 1}, "local-aggregate")
