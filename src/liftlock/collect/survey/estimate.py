"""From the counts of a collection to its answer: one mechanism, or several groups of people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from liftlock.collect.survey.least import shown_mechanisms, shown_parts
from liftlock.collect.survey.values import Range
from liftlock.errors import InputError

if TYPE_CHECKING:
    from liftlock.collect.survey.collection import CollectedMechanism, Collection
    from liftlock.estimate import Aggregate
    from liftlock.estimate.result import Estimate


@dataclass(frozen=True)
class Estimated:
    """What a collection says: the estimate of all reports, and of each group by itself."""

    collection: str
    estimate: Estimate
    reports: int
    groups: Mapping[str, Estimate] = field(default_factory=dict)
    """Of the groups that have enough reports to be shown."""
    rounding: float = 0.0
    """For numbers: by how much each may have been moved to the middle of its bin, at most."""

    def content(self) -> dict[str, Any]:
        """Return the JSON form: that of the estimate, and whose it is."""
        data = self.estimate.to_data() | {"collection": self.collection}
        if self.groups:
            data["groups"] = {
                name: found.to_data() | self._rounding(found) for name, found in self.groups.items()
            }
        return data | self._rounding(self.estimate)

    def _rounding(self, found: Estimate) -> dict[str, Any]:
        return {"rounding": self.rounding_content(found)} if self.rounding else {}

    def rounding_content(self, found: Estimate) -> dict[str, Any]:
        """Return what is true of the numbers before they were rounded to the middle of a bin.

        Of those outside of the range nothing is said: they count as its nearer end.
        """
        most = self.rounding * (found.total if found.of == "sum" else 1.0)
        answers = []
        for each in found.answers:
            if each.low is not None and each.high is not None:
                ends = {"low": each.low - most, "high": each.high + most}
                answers.append({"name": each.name, **ends})
        return {"most": self.rounding, "answers": answers}

    def __str__(self) -> str:
        lines = [f"{self.collection}: {self.estimate}"]
        lines += [f"group {name}: {found}" for name, found in self.groups.items()]
        return "\n".join(lines)


def estimate_counts(
    collection: Collection, counts: Mapping[str, Sequence[int]], options: Mapping[str, Any]
) -> Estimated:
    """Estimate from counts: of one mechanism as it does itself, of several as groups of people."""
    told = [(each, aggregate_of(each, counts[each.digest])) for each in _known(collection, counts)]
    given = [(each, reports) for each, reports in told if reports.reports]
    if not given:
        raise InputError(
            "no reports", where=collection.name, remedy="wait until the first ones are counted"
        )
    question = collection.question
    chosen = {**(question.answer.options if "of" not in options else {}), **options}
    reports = sum(reports.reports for _, reports in given)
    if question.panel is not None and len(collection.mechanisms) > 1:
        found = _estimate_panel(given, chosen)
    else:
        found = _estimate_together(given, question.weights, chosen)
    kept = shown_mechanisms(collection, counts)
    if any(each.digest not in kept for each, _ in given):
        found = _without_parts(found)
    rounding = 0.0
    if isinstance(question.domain, Range) and found.of in ("sum", "mean"):
        rounding = float(question.domain.width / 2)
    return Estimated(
        collection.name,
        found,
        reports,
        _estimate_groups(given, chosen, collection.least),
        rounding,
    )


Given = list[tuple["CollectedMechanism", "Aggregate"]]


def _estimate_together(
    given: Given, weights: Mapping[str | None, Fraction], options: Mapping[str, Any]
) -> Estimate:
    """Estimate from one mechanism, or from groups of different people."""
    from liftlock.estimate import combine

    pairs = [
        (each.mechanism, _weighted(reports, weights.get(each.group))) for each, reports in given
    ]
    if len(pairs) == 1:
        mechanism, reports = pairs[0]
        return mechanism.estimate(reports, **options)
    return combine(pairs, **options)


def _weighted(counted: Aggregate, weight: Fraction | None) -> Aggregate:
    """Give every report of a group its public weight."""
    from liftlock.estimate.weights import Weights

    if weight is None:
        return counted
    by_output = tuple(weight * count for count in counted.counts)
    squares = tuple(weight**2 * count for count in counted.counts)
    total, people = weight * counted.reports, counted.reports
    weights = Weights(by_output, squares, total, weight**2 * people, Fraction(0), weight)
    return replace(counted, weights=weights)


def _estimate_groups(given: Given, options: Mapping[str, Any], least: int) -> dict[str, Estimate]:
    """Estimate each group by itself, where it has enough reports to be shown."""
    named: dict[str, Given] = {}
    for each, reports in given:
        if each.group is not None:
            named.setdefault(each.group, []).append((each, reports))
    totals = {name: sum(reports.reports for _, reports in own) for name, own in named.items()}
    kept = shown_parts(totals, least)
    found = {}
    for name, own in named.items():
        if name in kept:
            found[name] = _estimate_together(own, {}, options)
            if any(reports.reports < least for _, reports in own):
                found[name] = _without_parts(found[name])
    return found


def _without_parts(found: Estimate) -> Estimate:
    """Leave out what is said of single mechanisms, as some have too few reports to be shown."""
    warnings = tuple(each for each in found.warnings if " in collection " not in each)
    return replace(found, fit=None, warnings=warnings)


def _estimate_panel(given: Given, options: Mapping[str, Any]) -> Estimate:
    """Estimate from people with a prior each, by the table of each distinct one."""
    from liftlock.estimate.panel import estimate_panel

    told = dict(options)
    of, value = told.pop("of"), told.pop("value", None)
    tables = [(each.panel_table, reports.counts) for each, reports in given]
    found = estimate_panel(tables, given[0][0].mechanism.table, of, value=value, **told)
    said = f"people with {len(tables):,} distinct priors, each read by the table made for it"
    return replace(found, remarks=(said, *found.remarks))


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
