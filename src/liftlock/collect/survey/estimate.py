"""From the counts of a collection to its answer: one mechanism, or several groups of people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from liftlock.errors import InputError

if TYPE_CHECKING:
    from liftlock.collect.survey.collection import CollectedMechanism, Collection
    from liftlock.estimate import Aggregate
    from liftlock.estimate.result import Estimate


@dataclass(frozen=True)
class Estimated:
    """What a collection says: the estimate of all reports, and of how many it is."""

    collection: str
    estimate: Estimate
    reports: int

    def content(self) -> dict[str, Any]:
        """Return the JSON form: that of the estimate, and whose it is."""
        return self.estimate.to_data() | {"collection": self.collection}

    def __str__(self) -> str:
        return f"{self.collection}: {self.estimate}"


def estimate_counts(
    collection: Collection, counts: Mapping[str, Sequence[int]], options: Mapping[str, Any]
) -> Estimated:
    """Estimate from counts: of one mechanism as it does itself, of several as groups of people."""
    from liftlock.estimate import combine

    told = [(each, aggregate_of(each, counts[each.digest])) for each in _known(collection, counts)]
    given = [(each, reports) for each, reports in told if reports.reports]
    if not given:
        raise InputError(
            "no reports", where=collection.name, remedy="wait until the first ones are counted"
        )
    asked = collection.question.answer.options if "of" not in options else {}
    chosen = {**asked, **options}
    if len(collection.mechanisms) == 1:
        found = given[0][0].mechanism.estimate(given[0][1], **chosen)
    else:
        found = combine([(each.mechanism, reports) for each, reports in given], **chosen)
    return Estimated(collection.name, found, sum(reports.reports for _, reports in given))


def _known(collection: Collection, counts: Mapping[str, Sequence[int]]) -> list[CollectedMechanism]:
    """Return the mechanisms that counts are given of."""
    for digest in counts:
        if digest not in collection.mechanisms:
            raise InputError(
                "counts of another mechanism",
                where=collection.name,
                value=digest,
                remedy="estimate with the survey that the reports were collected for",
            )
    return [each for digest, each in collection.mechanisms.items() if digest in counts]


def aggregate_of(each: CollectedMechanism, counts: Sequence[int]) -> Aggregate:
    """Return the counts of one mechanism as what its reports add up to."""
    from liftlock.estimate import Aggregate

    numbers = tuple(int(count) for count in counts)
    if len(numbers) != each.outputs or min(numbers) < 0:
        raise InputError(
            f"not {each.outputs} counts of 0 or more",
            value=list(numbers[:8]),
            remedy="give one for each output of the mechanism",
        )
    return Aggregate(each.mechanism.reported.fingerprint, numbers, sum(numbers))
