"""What a report says, as finished words, numbers and pictures; templates only put them in place.

Numbers of a promise are rounded here, to the safe side.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from string import Formatter
from typing import TYPE_CHECKING

from liftlock.accounting.account import Account
from liftlock.errors import InputError, NotCertified
from liftlock.exact import enclosure
from liftlock.exact.decimals import (
    fold_text,
    moves_text,
    round_down_text,
    round_up_text,
    share_text,
)
from liftlock.exact.enclosure import Enclosure
from liftlock.mechanism import Mechanism
from liftlock.model import Joint, PriorSet
from liftlock.model.structured import UserChannel
from liftlock.model.structured.user_channel import budget_text
from liftlock.notions.base import Notion
from liftlock.notions.lift import extreme_lifts
from liftlock.notions.measurement import Witness
from liftlock.report.format import (
    amount,
    compared,
    counted,
    enclosed,
    moved_by,
    percent,
    times,
    title_of,
)
from liftlock.report.html.beliefs import LeakView
from liftlock.report.html.charts import (
    Bar,
    Group,
    scale_text,
    trade_off,
)
from liftlock.report.html.markup import Content, Markup, listed, markup, named, tag
from liftlock.report.html.measures import Kept, Leak, numbers_of, output_counts
from liftlock.report.html.rows import Rows, RowsView, VerdictView
from liftlock.report.html.usefulness import FrequencyView, UtilityView, as_counted
from liftlock.report.text.account import how

if TYPE_CHECKING:
    from liftlock.tables.protect.result import (
        CombinedLeak,
        Curve,
        KeptColumn,
        ProtectedColumn,
        Protection,
    )

_QUANTITIES = {
    "max-lift": "Largest factor by which a probability rises (max-lift)",
    "min-lift": "Smallest share of a probability that is left (min-lift)",
    "eps_upper": "Largest rise, as a logarithm (eps_upper, nats)",
    "eps_lower": "Largest fall, as a logarithm (eps_lower, nats)",
    "ldp": "Largest ratio of two likelihoods, as a logarithm (LDP, nats)",
    "delta_ediv": "Largest probability of an exception (delta, ediv)",
    "delta_def5": "Largest probability of an exception (delta, def5)",
    "delta_joint": "Largest probability of an exception (delta, joint)",
    "delta_ldp": "Largest probability of an exception (delta)",
}
_MOST_KEPT = 16


# --- the page -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class PageView:
    """The whole report."""

    protection: Protection
    version: str

    @cached_property
    def columns(self) -> list[ColumnView]:
        """The protected columns, each with its key in the page."""
        places = enumerate(self.protection.columns, start=1)
        return [ColumnView(f"column-{place}", column) for place, column in places]

    @property
    def rows(self) -> str:
        """How many rows the table has."""
        return counted(self.protection.rows, "row")

    @property
    def exceeded(self) -> tuple[str, ...]:
        """Secrets about which all columns together may tell more than one of them is allowed to."""
        return self.protection.exceeded_secrets()

    @property
    def facts(self) -> Rows:
        """A row for each column: its secret, its guarantee, and how much is kept."""
        return [
            [
                named(facet.name),
                facet.hidden,
                tag("code", facet.guarantee, class_="whole"),
                "" if place else column.headline,
            ]
            for column in self.columns
            for place, facet in enumerate(column.facets)
        ]

    @property
    def own_priors(self) -> bool:
        """Whether a column has users with a prior each."""
        return any(column.own for column in self.columns)

    @cached_property
    def verdict(self) -> VerdictView:
        """Whether the rows that go out keep the promise."""
        return VerdictView(self.protection.verdict)

    @cached_property
    def row_tables(self) -> list[RowsView]:
        """What a row tells, for each secret and released columns."""
        return RowsView.of(self.protection)

    @property
    def confidential(self) -> bool:
        """Whether the report holds anything of the original table."""
        return bool(self.learned) or self.measured

    @property
    def about(self) -> Rows:
        """What the report is about, and who says so."""
        found, head = self.protection, self.protection.head
        rows: Rows = [["Data", markup(named(found.source), f", {self.rows}")]]
        if found.output:
            day = f", {found.day}" if found.day else ""
            rows.append(["Released", markup(named(found.output), day)])
        rows += [
            [name, text or "not stated"]
            for name, text in (
                ("Date of the data", head.data_date),
                ("Purpose", head.purpose),
                ("Responsible", head.responsible),
                ("Version of this report", head.edition),
            )
        ]
        return [*rows, ["Written by", f"liftlock {self.version}"]]

    @property
    def learned(self) -> list[str]:
        """The columns whose statistics were counted in the table."""
        return [column.name for column in self.protection.columns if column.learned]

    @property
    def measured(self) -> bool:
        """Whether the report holds what was measured in the table."""
        found = self.protection
        return bool(found.kept or found.combined or found.rows_out) or any(
            column.in_table is not None for column in found.columns
        )

    @cached_property
    def together(self) -> list[TogetherView]:
        """What all released columns tell together, for each secret."""
        return [TogetherView(self.protection, leak) for leak in self.protection.combined]

    @property
    def total(self) -> str:
        """The budget of all columns together; empty if each has its own."""
        total = self.protection.total
        return "" if total is None else total.notion.guarantee

    @property
    def shares(self) -> Rows:
        """What each column got of the total, and what it keeps with that."""
        total = self.protection.total
        return [
            [
                named(share.column),
                tag("code", share.text, class_="whole"),
                f"{100 * share.kept:.1f} %",
                "" if share.equal_kept is None else f"{100 * share.equal_kept:.1f} %",
            ]
            for share in (() if total is None else total.shares)
        ]

    @property
    def kept_names(self) -> list[str]:
        """The kept columns that tell more than the budget allows."""
        return list(dict.fromkeys(column.name for column in self.protection.kept))

    @cached_property
    def kept(self) -> list[KeptView]:
        """What kept columns tell, for each secret."""
        kept = self.protection.kept
        return [
            _kept_view(self.protection, secret, [c for c in kept if c.secret == secret])
            for secret in dict.fromkeys(column.secret for column in kept)
        ]


@dataclass(frozen=True)
class KeptView:
    """How far kept columns change the probability of one secret."""

    secret: str
    groups: tuple[Group, ...]
    limited: bool
    """Whether budgets of protected columns are marked."""
    left_out: str


def _kept_view(protection: Protection, secret: str, columns: Sequence[KeptColumn]) -> KeptView:
    limits = [
        notion.belief_limits()
        for column in protection.columns
        for notion in column.limits_for(secret)
    ]
    up = sorted({float(limit.upper.nats()) for limit in limits if limit.upper is not None})
    down = sorted({float(limit.lower.nats()) for limit in limits if limit.lower is not None})
    moved = [value for column in columns for value in (column.eps_lower, column.eps_upper)]
    full = 1.1 * max([*filter(math.isfinite, moved), *up, *down, 1e-9])
    order = sorted(columns, key=lambda column: -max(column.eps_upper, column.eps_lower))
    groups = [
        Group(
            markup(named(column.name, 60), f" ({counted(column.values, 'value')})"),
            (
                _kept_bar("raises", column.eps_upper, full, up),
                _kept_bar("lowers", column.eps_lower, full, down),
            ),
        )
        for column in order[:_MOST_KEPT]
    ]
    more = len(order) > _MOST_KEPT
    left_out = f" The {_MOST_KEPT} that tell most of {len(order)} are drawn." if more else ""
    return KeptView(secret, tuple(groups), bool(up or down), left_out)


def _kept_bar(name: str, moved: float, full: float, budgets: Sequence[float]) -> Bar:
    limits = tuple(budget / full for budget in budgets)
    up = name == "raises"
    kind = "highest" if up else "lowest"
    if math.isinf(moved):
        words = "without limit" if up else "to 0: rules it out"
        return Bar(name, 1.0, words, f"{kind} endless", limits=limits)
    words = f"{times(math.exp(moved))}-fold" if up else f"to {percent(math.exp(-moved))}"
    return Bar(name, moved / full, words, kind, limits=limits)


# --- a column -------------------------------------------------------------------------------------

_SEVERAL = 2


@dataclass(frozen=True, eq=False)
class ColumnView:
    """One protected column."""

    key: str
    column: ProtectedColumn
    beside: tuple[str | None, ...] = ()
    """What else the same mechanism hides, where this is about one of several guarantees."""

    @property
    def made(self) -> Mechanism:
        """Its mechanism."""
        return self.column.mechanism

    @cached_property
    def facets(self) -> list[ColumnView]:
        """The column once for each of its guarantees."""
        every = [facet.secret for facet in self.column.facets]
        if len(every) < _SEVERAL:
            return [self]
        return [
            ColumnView(f"{self.key}-{place + 1}", facet, tuple(every[:place] + every[place + 1 :]))
            for place, facet in enumerate(self.column.facets)
        ]

    @property
    def hidden_itself(self) -> bool:
        """Whether another of its guarantees is about its own value."""
        return None in self.beside

    @property
    def name(self) -> str:
        """Its name."""
        return self.column.name

    @property
    def secret(self) -> str | None:
        """The column that must not be inferred; None if it is the value itself."""
        return self.column.secret

    @property
    def hidden(self) -> Content:
        """What is hidden, and given what."""
        about: Content = "the value itself" if self.secret is None else named(self.secret)
        if not self.given:
            return about
        names = markup(*_joined([named(name) for name in self.given]))
        return markup(about, " given " if self.is_given else " without ", names)

    @property
    def own(self) -> bool:
        """Whether each user has a prior."""
        return self.made.per_user

    @property
    def guarantee(self) -> str:
        """What was certified, in short."""
        return self.made.certificate.guarantee

    @cached_property
    def promise(self) -> Markup:
        """What is promised, in one or two sentences: never more than the certificate proves."""
        if not self.made.certificate.holds:
            raise NotCertified(self.made.certificate, "none asked for")
        if self.own:
            channel = proved_distributions(self.made)
            text = (
                "Whoever sees the released {column} of a person, and knows that person's own "
                "prior, can raise the probability of any true {column} at most "
                f"{fold_text(channel.largest)}, and lower it to no less than "
                f"{share_text(channel.smallest)} of what it was."
            )
            return _filled(text, column=named(self.name))
        said = promise_of(self.made.notion, self.name, self.secret)
        if self.given:
            said = markup(said, self._whom())
        if whose := self.made.describe_person():
            said = markup(said, f" {whose.replace('PER PERSON', 'Per person')}.")
        if self.made.encoding is None or not self.made.encoding.columns[0].keeps_missing:
            return said
        more = (
            " This is about people who have a {column}, and what was believed of those: who has "
            "none can be seen."
        )
        return markup(said, _filled(more, column=named(self.name)))

    def _whom(self) -> Markup:
        """Say for whom a promise holds, where the mechanism uses given columns."""
        if self.is_given:
            return _given_promise(self.given, self.made, unseen=self.secret in self.beside)
        names = markup(*_joined([named(name) for name in self.given]))
        return markup(" This is for whoever does not see ", names, ".")

    @property
    def is_given(self) -> bool:
        """Whether this is the guarantee for whoever sees given columns."""
        return self.made.context.kind == "given"

    @property
    def given(self) -> tuple[str, ...]:
        """The columns that stay, and that the mechanism uses."""
        rules = None if self.made.encoding is None else self.made.encoding.given
        return () if rules is None else rules.names

    @property
    def counted_here(self) -> bool:
        """Whether what is assumed is what the table says: counted there, and not smoothed."""
        return as_counted(self.column)

    @property
    def needs_prior(self) -> bool:
        """Whether the promise depends on what an observer expects beforehand."""
        return not self.made.notion.context_free or isinstance(self.made.context, Joint)

    @property
    def several_priors(self) -> str:
        """The priors that an observer may have, if they are a set."""
        context = self.made.context
        return context.describe() if isinstance(context, PriorSet) else ""

    @property
    def source(self) -> str:
        """Where the statistics come from that the observer may know."""
        if self.counted_here:
            return "in this table"
        if self.column.learned:
            return "in this table, after its counts were smoothed"
        return "in the statistics that were given"

    @cached_property
    def kept(self) -> Kept | None:
        """How much of the column is kept; None if there is no table to tell by."""
        return None if self.own else Kept.of(self.made)

    @property
    def headline(self) -> str:
        """What is kept, in a few words; empty if it is not known."""
        if self.kept is None:
            return ""
        part, whole = self.kept.information()
        words = f"{percent(part / whole if whole else 1.0)} of the information about it is kept"
        true = self.kept.true_share()
        if true is not None and numbers_of(self.kept.channel.outputs) is None:
            words += f"; {percent(true)} of the released values are the true ones"
        return words

    @property
    def numbers(self) -> Rows:
        """The guarantee in numbers: measured, allowed, and where it is attained."""
        return _own_numbers(self.made) if self.own else _numbers(self.made)

    @property
    def leak(self) -> LeakView | None:
        """How beliefs change; None where it is not one table."""
        leak = Leak.of(self.made)
        return None if leak is None else LeakView(f"{self.key}-lifts", self.column, leak)

    @property
    def utility(self) -> UtilityView | None:
        """What the released column is still good for; None if reports are encodings."""
        return (
            None
            if self.kept is None
            else UtilityView(f"{self.key}-channel", self.column, self.kept)
        )

    @property
    def frequencies(self) -> FrequencyView | None:
        """How often each value occurs; None before anything was released."""
        if self.kept is None or not self.column.counts:
            return None
        counts, outside = output_counts(self.made, self.column.counts)
        return FrequencyView(self.column, self.kept, counts, outside) if sum(counts) else None

    @property
    def curve(self) -> CurveView | None:
        """What other budgets would cost."""
        curve = self.column.curve
        if curve is None or not curve.points:
            return None
        return CurveView(curve, trade_off(curve, self.guarantee, f"{self.key}-curve"))

    @property
    def in_table(self) -> str:
        """What the mechanism tells by the table's own counts."""
        found = self.column.in_table
        if found is None:
            return ""
        return (
            f"By the table's own counts beliefs fall {moved_by(found.eps_lower)} and rise "
            f"{moved_by(found.eps_upper)}"
        )

    @property
    def origin(self) -> Rows:
        """How the mechanism was made, and its fingerprints."""
        made = self.made
        rows: Rows = []
        if isinstance(made.channel, UserChannel):
            rows.append(["Method", tag("code", made.channel.form)])
            rows.append(["Mechanism", _fingerprint(made.users_fingerprint)])
        else:
            rows += _design(made)
            rows.append(["Assumed", made.context.describe()])
            rows.append(["Table", str(made.channel)])
            rows.append(["Fingerprint of the table", _fingerprint(made.channel.fingerprint)])
            rows.append(["Fingerprint of what is assumed", _fingerprint(made.context.fingerprint)])
        if self.column.file:
            rows.append(["File", tag("code", self.column.file)])
        return rows

    @property
    def remarks(self) -> tuple[str, ...]:
        """What the method says about its design."""
        return () if self.own or self.made.origin is None else self.made.origin.remarks

    @property
    def audit_command(self) -> str:
        """The command that proves the guarantee again."""
        return f"liftlock audit {shlex.quote(self.column.file or 'MECHANISM.json')}"


# --- the promise ----------------------------------------------------------------------------------


def promise_of(notion: Notion, column: str, secret: str | None) -> Markup:
    """Say what a guarantee promises.

    >>> from liftlock.notions.lip import MaxLift
    >>> print(promise_of(MaxLift("ln 2"), "job", "home").striptags())
    Whoever sees the released “job” of a person can raise the probability of any “home”
    at most 2-fold. How far it can fall is not limited: a value can be ruled out.
    """
    about = markup("true ", named(column)) if secret is None else named(secret)
    return _filled(notion.promise, column=named(column), secret=about)


def _given_promise(given: Sequence[str], made: Mechanism, *, unseen: bool) -> Markup:
    """Say for whom a promise holds that is made for each given value."""
    names = markup(*_joined([named(name) for name in given]))
    said = markup(
        " This is what the released value adds to ",
        names,
        ", for whoever sees both; what ",
        names,
        " tells alone it does not limit.",
    )
    if made.encoding is not None and made.encoding.given is not None:
        banded = [code.name for code in made.encoding.given.columns if code.bins]
        if banded:
            bands = markup(*_joined([named(name) for name in banded]))
            said = markup(said, " Of ", bands, " the band is meant, not the number.")
    if unseen:  # the guarantee for those has its own words
        return said
    return markup(said, " For whoever does not see ", names, " it is not proved.")


def _joined(names: Sequence[Markup]) -> list[Content]:
    found: list[Content] = []
    for place, name in enumerate(names):
        found += [name] if not place else [" and ", name]
    return found


def _filled(text: str, **names: Markup) -> Markup:
    """Put names in the places of a text."""
    pieces = Formatter().parse(text)
    return markup(*([before, names[name] if name else None] for before, name, _, _ in pieces))


def proved_distributions(made: Mechanism) -> UserChannel:
    """Return the distributions of a mechanism, or refuse a promise that their integers break."""
    channel = made.channel
    assert isinstance(channel, UserChannel)
    limits = made.notion.lift_limits()
    assert limits is not None
    for (lower, upper), distribution in [
        (limits, channel),
        *zip(channel.limits, channel.distributions, strict=True),
    ]:
        assert lower is not None
        assert upper is not None
        if (
            not upper.allows(distribution.largest)
            or distribution.smallest <= 0
            or not lower.allows(1 / distribution.smallest)
        ):
            raise InputError(
                f"the sampling distribution of {channel.form} does not keep "
                f"{made.certificate.guarantee}",
                value=f"{float(distribution.smallest):.10g} to {float(distribution.largest):.10g}",
                remedy="make the mechanism again",
            )
    return channel


def _own_numbers(made: Mechanism) -> Rows:
    channel = proved_distributions(made)
    rows: Rows = []
    for (lower, upper), distribution in zip(channel.limits, channel.distributions, strict=True):
        who = "" if len(channel.distributions) == 1 else f", budget {budget_text((lower, upper))}"
        rise, left = (
            enclosed(Enclosure.of(lift), 10)
            for lift in (distribution.largest, distribution.smallest)
        )
        rows.append(
            [f"Largest factor by which a probability rises{who}", rise, f"at most e^{upper}"]
        )
        rows.append(
            [f"Smallest share of a probability that is left{who}", left, f"at least e^-{lower}"]
        )
    return rows


def _numbers(made: Mechanism) -> Rows:
    certificate = made.certificate
    limits = made.notion.belief_limits()
    budgets = {"eps_upper": limits.upper, "eps_lower": limits.lower}
    rows: Rows = [
        [
            _QUANTITIES.get(claim.quantity, claim.quantity),
            *_beside(claim.measured, claim.relation, claim.bound),
            witnessed(claim.witness),
        ]
        for claim in certificate.claims
    ]
    stated = {claim.quantity for claim in certificate.claims}
    for name, value in certificate.nats.items():
        if name not in stated:
            budget = budgets.get(name)
            cells = (
                [enclosed(value, 10), "not limited"]
                if budget is None
                else _beside(value, "<=", budget.nats())
            )
            rows.append([_QUANTITIES.get(name, name), *cells, ""])
    if certificate.anyway is not None:
        name, value = certificate.anyway.notion, certificate.anyway.value
        most = "infinite" if value.upper is None else round_up_text(value.upper, 10)
        rows.append([_QUANTITIES.get(name, name), most, "not limited", ""])
    if "max-lift" not in stated:
        rows += _measured_lifts(made, stated)
    return rows


def _beside(measured: Enclosure, relation: str, bound: Enclosure) -> list[Content]:
    """Write what was measured and what is allowed, and how little is left where it is little."""
    found, allowed, left = compared(measured, bound)
    words = f"{'at most' if relation == '<=' else 'at least'} {allowed}"
    if not left or left.startswith("0"):
        return [found, words]
    return [found, markup(words, tag("br"), tag("small", f"{left} left"))]


def _measured_lifts(made: Mechanism, stated: set[str]) -> Rows:
    """Return the extreme lifts, for guarantees that speak of something else."""
    found = extreme_lifts(made.channel, made.context)
    limits = made.notion.belief_limits()
    follows = {
        "eps_upper": limits.most and f"at most {round_up_text(limits.most, 7)}, as follows",
        "eps_lower": limits.least and f"at least {round_down_text(limits.least, 7)}, as follows",
    }
    rows: Rows = []
    for name, side, extreme in (
        ("max-lift", "eps_upper", found.largest),
        ("min-lift", "eps_lower", found.smallest),
    ):
        value = Enclosure.infinity() if extreme.lift is None else Enclosure.of(extreme.lift)
        limit = "as above" if side in stated else follows[side] or "not limited by itself"
        rows.append([_QUANTITIES[name], enclosed(value, 7), limit, witnessed(extreme.witness)])
    return rows


def witnessed(witness: Witness | None) -> Content:
    """Say where a number is attained."""
    if witness is None:
        return ""
    parts: list[Content] = []
    if witness.secret is not None:
        parts += ["secret ", named(witness.secret, 60)]
    if witness.other is not None:
        parts += [" against ", named(witness.other, 60)]
    if witness.secrets is not None:
        parts += ["secrets ", listed(witness.secrets, 3)]
    if witness.output is not None:
        parts += [", released ", named(witness.output, 60)]
    if witness.outputs is not None:
        parts += [", released ", listed(witness.outputs, 3)]
    if witness.prior is not None:
        parts.append(", under the worst of the priors")
    return markup(*parts)


def _design(made: Mechanism) -> Rows:
    origin = made.origin
    if origin is None:
        return [["Method", "given, not designed here"]]
    rows: Rows = [
        ["Method", tag("code", origin.method)],
        [title_of(origin.utility, origin.title), amount(origin.objective)],
    ]
    if origin.nothing is not None and origin.truth is not None:
        ends = f"{amount(origin.nothing)} and {amount(origin.truth)}"
        rows.append(["Releasing nothing, and the truth", ends])
    if origin.bound is not None:
        kind = origin.kind or "mechanism with this guarantee"
        rows.append([f"Best that any {kind} could reach", amount(origin.bound)])
    rows.append(["How close to the best", origin.describe_gap() or "nothing was proved"])
    return rows


def _fingerprint(text: str) -> Markup:
    return tag("code", text, class_="print")


# --- other budgets, and other columns -------------------------------------------------------------


@dataclass(frozen=True)
class CurveView:
    """What stricter and looser budgets would cost."""

    curve: Curve
    drawing: Markup

    @property
    def rows(self) -> Rows:
        """The same in numbers."""
        curve = self.curve
        span = curve.truth - curve.nothing
        rows: Rows = [
            [
                tag("strong", "chosen") if point.scale == 1 else scale_text(point.scale),
                tag("code", point.guarantee, class_="whole"),
                amount(point.utility, 5),
                "" if not span else percent((point.utility - curve.nothing) / span),
            ]
            for point in sorted(curve.points, key=lambda point: point.scale)
        ]
        for name, guarded, utility, share in (
            ("no release", "everything is protected", curve.nothing, 0.0),
            ("the truth", "nothing is protected", curve.truth, 1.0),
        ):
            rows.append([name, guarded, amount(utility, 5), percent(share)])
        return rows


@dataclass(frozen=True, eq=False)
class TogetherView:
    """What all released columns tell together about one secret."""

    protection: Protection
    leak: CombinedLeak

    @property
    def said(self) -> str:
        """How far the probability of the secret may move."""
        return moves_text(*factors(self.leak.account))

    @property
    def rows(self) -> Rows:
        """The largest changes of a probability, alone and together."""
        up, down = factors(self.leak.account)
        last: list[Content] = [tag("strong", "all together"), fold_text(up), share_text(down)]
        return [*_alone(self.leak), [*last, _proof(self.leak.account)]]

    @property
    def limited(self) -> bool:
        """Whether any of the columns has a budget for this secret."""
        return bool(self.protection.limits_of(self.leak))

    @property
    def beyond(self) -> list[str]:
        """The columns whose budget for one is exceeded by all together."""
        limits = self.protection.limits_of(self.leak)
        return [
            name
            for name, notions in limits.items()
            if not all(self.leak.keeps(notion) for notion in notions)
        ]


def factors(account: Account) -> tuple[Fraction | None, Fraction]:
    """Return the largest rise (None: no limit) and the smallest share left, on the safe side."""
    up, fall = (_ratio(account, name) for name in ("eps_upper", "eps_lower"))
    return up, Fraction(0) if fall is None else 1 / fall


def _ratio(account: Account, name: str) -> Fraction | None:
    """Return a leakage as a factor that is not too small; None if nothing limits it."""
    if name not in account:
        return None
    measurement = account[name]
    if measurement.ratio is not None or measurement.value.upper is None:
        return measurement.ratio
    # What is known as a sum of budgets has no exact factor.
    return enclosure.exp(measurement.value.upper).upper


def _alone(leak: CombinedLeak) -> Rows:
    """Measure each column by itself under the same joint, whatever secret it was made for."""
    context = leak.account.context
    rows: Rows = []
    for name, release in zip(leak.columns, leak.account.releases, strict=False):
        if release.channel is None or context is None:
            rows.append([named(name), "not known", "not known", "no table was accounted for"])
            continue
        found = extreme_lifts(release.channel, context)
        least = found.smallest.lift or Fraction(0)
        rows.append(
            [named(name), fold_text(found.largest.lift), share_text(least), "measured exactly"]
        )
    return rows


def _proof(account: Account) -> str:
    names = [name for name in ("eps_upper", "eps_lower") if name in account]
    if not names:
        return "nothing is proved"
    if all(account.is_exact(name) for name in names):
        return "measured exactly"
    return "; ".join(sorted({how(account.best[name]) for name in names}))
