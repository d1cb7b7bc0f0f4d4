"""The account of several releases: the smallest proved bound of each leakage.

LIP budgets do not add up: two releases of 1-LIP may leak 2.7353 nats. Every accountant bounds the
leakages that it covers or refuses with a reason; for each leakage the account takes the smallest
valid bound and names the accountant.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, reduce
from typing import Any

import numpy as np

from liftlock.accounting.accountants import ACCOUNTANTS, PrivacyLoss, TightAccountant
from liftlock.accounting.accountants.base import (
    DIFFERENT,
    QUANTITIES,
    UNDER,
    concerns_edges,
    largest_level,
    rounded_up_text,
    sum_levels,
)
from liftlock.accounting.accountants.exact import product_channel
from liftlock.accounting.accountants.pairwise import measure_ldp
from liftlock.accounting.accountants.tight import ComposedLevels
from liftlock.accounting.readings import READINGS, SAME, Reading, ReadingKind, combine_values
from liftlock.accounting.release import (
    LeakageLevels,
    Ratio,
    Release,
    Released,
    common_inputs,
    delta_of,
)
from liftlock.errors import InputError, NotComposable, NotDefined, listed
from liftlock.exact.budget import Budget
from liftlock.exact.enclosure import Enclosure
from liftlock.model import (
    AnyUserPrior,
    Conditional,
    Context,
    PerUserPriors,
    Prior,
    PriorSet,
    ProfileGraph,
)
from liftlock.model._checks import require_context, require_list, require_notion
from liftlock.model.alphabet import Alphabet, Label, label_to_json
from liftlock.model.channel import Channel
from liftlock.model.structured import to_dense
from liftlock.notions.base import Notion
from liftlock.notions.certificate import Certificate
from liftlock.notions.given import rest_budget, worse_measurement
from liftlock.notions.ldp import LDP
from liftlock.notions.lift import Impossible, refuse_impossible
from liftlock.notions.measurement import Measurement, Witness, number_to_json

_SUMS = ("epsilon_ldp", "delta_ldp")
_NAMED = ("profile", *QUANTITIES, *_SUMS)
_LISTED = 5
MOST_NATS = Fraction(10)
"""What several releases leak above this protects nothing: odds of 1 to 148 become 148 to 1."""
INSIST = "--insist, in Python insist=True"
NO_SUM = "LIP budgets do not add up"
NO_SUM_OF_PROFILES = "budgets of the same observation do not add up"


@dataclass(frozen=True)
class Account:
    """What several releases have leaked together, at most, of the value or values they are of.

    >>> from liftlock.model.channel import Channel
    >>> from liftlock.model import Prior
    >>> bit = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
    >>> twice = account([bit, bit], Prior.uniform([0, 1]))
    >>> print(twice)
    2 releases of the same value, a prior on 2 symbols
      lip = 1.60944 nats (exact)
      eps_lower = 1.60944 nats (exact)
      eps_upper = 0.587787 nats (exact)
      ldp = 2.19722 nats (exact)
    each alone leaks up to 0.693147, which adds up to 1.38629, but the true leakage is 1.60944: LIP
    budgets do not add up
    read as the same value, since nothing names another; of 2 different values, whatever they have
    in common, lip is at most 1.79176 nats (reading="different")
    """

    releases: tuple[Release, ...]
    context: Context | None
    spent: tuple[PrivacyLoss, ...]
    refused: Mapping[str, str]
    """Why an accountant says nothing, by its name."""
    unprotected: tuple[Label, ...] = ()
    reading: Reading = SAME
    values: Mapping[str, Account] = field(default_factory=dict)
    """The account of each value by itself, if they are different ones."""

    def __len__(self) -> int:
        return len(self.releases)

    @property
    def _number(self) -> str:
        return f"{len(self):,} release{'s' * (len(self) != 1)}"

    @cached_property
    def best(self) -> Mapping[str, PrivacyLoss]:
        """The accountant of the least valid bound, for each quantity that any bounds."""
        found: dict[str, PrivacyLoss] = {}
        for spent in self.spent:
            if not spent.valid:
                continue
            for name in spent.measurements:
                if name not in found or _is_less(spent, found[name], name):
                    found[name] = spent
        return {name: found[name] for name in _NAMED if name in found}

    def __contains__(self, quantity: object) -> bool:
        return isinstance(quantity, str) and quantity in self.best

    def __getitem__(self, quantity: str) -> Measurement:
        """Return the least valid bound of a quantity."""
        if quantity not in self:
            if quantity not in _NAMED:
                raise InputError(
                    "unknown quantity", value=quantity, remedy=f"use one of {', '.join(_NAMED)}"
                )
            who = "delta-sum" if quantity in _SUMS else "tight"
            why = self.refused.get(who, "no accountant bounds it")
            raise NotDefined(quantity, self._number, why)
        return self.best[quantity][quantity]

    def is_exact(self, quantity: str) -> bool:
        """Tell whether a quantity is known exactly, with a witness."""
        return quantity in self and self.best[quantity].exact

    @property
    def exact_size(self) -> str:
        """How large the exact computation was, or why it was not done."""
        return next((s.needs for s in self.spent if s.accountant == "exact"), "") or (
            self.refused.get("exact", "")
        )

    # --- the false sum --------------------------------------------------------------------------

    @cached_property
    def budgets(self) -> Enclosure | None:
        """What the budgets add up to, which bounds nothing; None if one has no budget."""
        budgets = [release.budget for release in self.releases]
        if any(budget is None for budget in budgets):
            return None
        return sum_levels(budget.nats() for budget in budgets if budget is not None)

    @cached_property
    def own_losses(self) -> tuple[Enclosure, ...]:
        """The leakage of each release by itself: of LIP, or of the edges of a graph."""
        cache: dict[str, Enclosure] = {}
        for release in self.releases:
            if isinstance(self.context, Conditional):
                levels = release.levels(self.context)
                lip = largest_level([levels.log("lower"), levels.log("upper")])
                cache.setdefault(release.fingerprint, lip)
            if release.fingerprint not in cache:
                loss = TightAccountant().bound([release], self._context_for("lip"))
                cache[release.fingerprint] = loss[self.headline].value
        return tuple(cache[release.fingerprint] for release in self.releases)

    @property
    def headline(self) -> str:
        """The quantity that guarantees in this kind of context are about."""
        return "profile" if concerns_edges(self.releases, self.context) else "lip"

    def _context_for(self, quantity: str) -> Context:
        if self.context is None:
            raise NotDefined(quantity, f"{DIFFERENT[4:]}, or in none", UNDER)
        return self.context

    def warning(self) -> str:
        """Compare the leakage with the plain sum of budgets, which is no bound; empty if fine."""
        if len(self) < 2 or self.headline not in self or self.reading.kind != "same":
            return ""
        told = self.budgets
        if told is not None:
            start = f"budgets add up to {_short(told)}"
        else:
            told = sum_levels(self.own_losses)
            most = _short(largest_level(self.own_losses))
            start = f"each alone leaks up to {most}, which adds up to {_short(told)}"
        value = self[self.headline].value
        if told.is_infinite:
            return ""
        if not self.is_exact(self.headline):
            return f"{start}, which is no bound; at most {rounded_up_text(value)} is proved"
        assert told.upper is not None
        if value.is_infinite or value.lower > told.upper:
            why = NO_SUM if self.headline == "lip" else NO_SUM_OF_PROFILES
            return f"{start}, but the true leakage is {_short(value)}: {why}"
        return f"{start}, which is no bound in general; here the true leakage is {_short(value)}"

    # --- limits ---------------------------------------------------------------------------------

    def allows(self, limit: Notion) -> bool:
        """Tell whether everything released so far certainly keeps a guarantee.

        Without a common context the level of LDP decides about lifts: it bounds them under every
        prior. Notions that no accountant bounds are audited on all releases together, if that table
        is small enough, and refused otherwise.
        """
        asked = limited_quantities(require_notion(limit))
        if asked and self.rests_on_ldp(limit):
            if all(self._within("ldp", budget) for budget in asked.values()):
                return True
            level = self.best["ldp"].text("ldp")
            raise NotDefined(
                limit.name,
                f"releases that were certified in different contexts, or in none, where LDP bounds "
                f"it by {level} nats, which is above {limit}",
                UNDER,
            )
        if asked:
            return all(self._within(quantity, budget) for quantity, budget in asked.items())
        if self._sums_allow(limit):
            return True
        return self.certify(limit).holds

    def rests_on_ldp(self, limit: Notion) -> bool:
        """Tell whether nothing but the level of LDP, under every prior, speaks of a limit."""
        return self.context is None and bool(
            limited_quantities(limit).keys() - {"ldp"} - self.best.keys()
        )

    def _within(self, quantity: str, budget: Budget) -> bool:
        measurement = self[quantity]
        told = measurement.value.upper
        # Budgets that add up to the limit keep it, though e^budget has no exact ratio.
        return budget.allows(measurement.ratio) or (
            told is not None and told <= budget.nats().lower
        )

    def _sums_allow(self, limit: Notion) -> bool:
        """Tell whether sums prove a limit of (epsilon, delta)-LDP."""
        allowed = delta_of(limit)
        if allowed is None:
            return False
        if "ldp" in self and self._within("ldp", allowed.epsilon):
            return True
        if "delta_ldp" not in self:
            return False
        epsilon, delta = self["epsilon_ldp"].value.upper, self["delta_ldp"].value.upper
        most = allowed.epsilon.nats().lower
        return epsilon is not None and epsilon <= most and (delta or 0) <= allowed.delta

    def certify(self, guarantee: Notion) -> Certificate:
        """Audit a guarantee of any notion on all releases together, exactly; refused if too large.

        This is the only way to account for (epsilon, delta)-LIP and for averages.
        """
        require_notion(guarantee)
        if self.values:
            raise NotDefined(
                f"the account of {guarantee.name}",
                str(self.reading),
                "account for each of them, or under their joint prior: account_sequence(...)",
            )
        try:
            channel = product_channel(self.releases)
        except NotDefined as error:
            of_lifts = guarantee.delta_limit() is not None and delta_of(guarantee) is None
            what = "(epsilon, delta)-LIP" if of_lifts else guarantee.name
            kind = f"no rule of composition covers {what}"
            raise NotDefined(
                f"the account of {guarantee.name}",
                error.context,
                f"{kind}, and all releases together are not small enough for an audit; "
                "ask for lip, alip or ldp",
            ) from None
        context = self._context_for(guarantee.name)
        return guarantee.certify(channel, context, impossible="ignore")

    def refuse_beyond(self, limit: Notion, what: str = "the account") -> None:
        """Raise an error with the numbers if a limit is not certainly kept."""
        if self.allows(limit):
            return
        verb = "exceeds" if self._surely_beyond(limit) else "could exceed"
        raise NotComposable(f"{what} {verb} {limit}: {self.loss_text(limit)}")

    @cached_property
    def newly_unprotected(self) -> tuple[Label, ...]:
        """The unprotected symbols that some certificate did protect: no limit covers them."""
        return tuple(
            label
            for label in self.unprotected
            if not all(
                label in release.unprotected or _is_promised_in(release, self.context)
                for release in self.releases
            )
        )

    def refuse_newly_unprotected(self, limit: Notion) -> None:
        """Refuse to judge a limit where the context calls a symbol impossible that may occur."""
        if self.newly_unprotected and limit.ratio_limit is None:
            raise InputError(
                f"{limit} says nothing of what the context to account under calls impossible",
                value=list(self.newly_unprotected[:_LISTED]),
                remedy="the mechanisms accept it: give it a probability, or limit ldp instead",
            )

    @cached_property
    def useless(self) -> str:
        """Why all releases together protect nothing, though each by itself did; empty if they do.

        A single release leaks what was asked for; what it adds up to nobody may have looked at.
        """
        quantity = self.headline if self.headline in self else "ldp"
        if len(self) < 2 or quantity not in self:
            return ""
        value = self[quantity].value
        limited = all(_limits(release, quantity, self.context) for release in self.releases)
        if not limited or _protects(value):
            return ""
        return useless_text(f"{self._number} {'lose' * (quantity == 'profile') or 'leak'}", value)

    def refuse_useless(self, what: str = "the account") -> None:
        """Refuse releases that protect nothing together."""
        if self.useless:
            raise NotComposable(f"{what}: {self.useless}; release less, or insist ({INSIST})")

    def _surely_beyond(self, limit: Notion) -> bool:
        asked = limited_quantities(limit)
        return bool(asked) and all(self.is_exact(quantity) for quantity in asked)

    def loss_text(self, limit: Notion | None = None) -> str:
        """Say the leakage so far in a few words, in the quantities that a limit bounds."""
        names: Sequence[str] = [name for name in ("profile", *QUANTITIES) if name in self]
        if limit is not None and limit.name in self:
            names = [limit.name]
        elif limit is not None and limited_quantities(limit).keys() <= self.best.keys():
            names = list(limited_quantities(limit)) or names
        words = []
        for name in names:
            kind = "is" if self.is_exact(name) else "is at most"
            words.append(f"{name} {kind} {self.best[name].text(name)} nats")
        bare = f"; {self._bare()}" if self.unprotected else ""
        return f"after {self._number} {', '.join(words) or 'nothing is proved'}{bare}"

    def _bare(self) -> str:
        return f"NOT protected (prior probability 0): {listed(self.unprotected)}"

    # --- words and files ------------------------------------------------------------------------

    def __str__(self) -> str:
        about = "no context" if self.context is None else self.context.describe()
        head = f"{self._number} of {self.reading}" if len(self) > 1 else self._number
        lines = [head if self.values else f"{head}, {about}"]
        for name, spent in self.best.items():
            measurement = spent[name]
            unit = f" {measurement.unit}" if measurement.unit else ""
            sign = "=" if spent.exact else "<="
            how = "exact" if spent.exact else spent.accountant
            lines.append(f"  {name} {sign} {spent.text(name)}{unit} ({how})")
        if self.warning():
            lines.append(self.warning())
        if self.other_reading():
            lines.append(self.other_reading())
        if self.useless:
            lines.append(f"WARNING: {self.useless}")
        if self.unprotected:
            lines.append(self._bare())
        return "\n".join(lines)

    def other_reading(self) -> str:
        """Say what another reading gives, where nobody told which one it is; empty if somebody did.

        The other one is never less: different values may be one and the same.
        """
        if self.reading.told or len(self) < 2 or not isinstance(self.context, Prior | PriorSet):
            return ""
        other = Reading("different", len(self))
        spent = combine_values([r.levels(self.context) for r in self.releases], other.kind)
        return (
            f"read as the same value, since nothing names another; of {other}, lip is at most "
            f'{spent.text("lip")} nats (reading="different")'
        )

    def best_data(self) -> dict[str, Any]:
        """Return the JSON form of the least valid bounds."""
        return {
            name: {
                **spent[name].to_data(),
                "exact": spent.exact,
                "accountant": spent.accountant,
            }
            for name, spent in self.best.items()
        }

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "releases": [
                {
                    "channel": None if r.channel is None else r.channel.fingerprint,
                    "guarantee": None if r.guarantee is None else str(r.guarantee),
                }
                for r in self.releases
            ],
            "context": None if self.context is None else self.context.fingerprint,
            "context_kind": None if self.context is None else self.context.describe(),
            "unprotected": [label_to_json(label) for label in self.unprotected],
            "read_as": self.reading.to_data(),
            "spent": self.best_data(),
            "accountants": [spent.to_data() for spent in self.spent],
            "refused": dict(self.refused),
            "budgets_sum": None if self.budgets is None else number_to_json(self.budgets),
            "warning": self.warning(),
            "useless": self.useless,
        }


def useless_text(what: str, value: Enclosure) -> str:
    """Say that a leakage of several releases protects nothing.

    >>> print(useless_text("200 rows lose", Enclosure.of(60)))
    200 rows lose up to 60 nats, and more than 10 protect nothing: odds of 1 to 148 become 148 to 1
    """
    most = "infinitely many" if value.is_infinite else rounded_up_text(value)
    return (
        f"{what} up to {most} nats, and more than {MOST_NATS} protect nothing: odds of 1 to 148 "
        "become 148 to 1"
    )


def _protects(value: Enclosure) -> bool:
    return value.upper is not None and value.upper <= MOST_NATS


def _limits(release: Release, quantity: str, context: Context | None) -> bool:
    """Tell whether a release by itself has a finite leakage: then what it adds up to counts."""
    levels = release.levels(context if context is not None else release.context)
    if quantity == "lip":
        return levels.lower is not None and levels.upper is not None
    found: Ratio = getattr(levels, quantity)
    return found is not None


def protect_together(releases: Sequence[Release], context: Context | None = None) -> bool:
    """Tell, without the exact account, whether releases of the same value still protect it."""
    chosen = context if context is not None else _common_context(releases)
    if isinstance(chosen, Conditional):
        found = _account_given(tuple(releases), chosen, "ignore", SAME).best
        return bool(found) and all(_protects(loss[name].value) for name, loss in found.items())
    try:
        spent = TightAccountant().bound(releases, chosen)
    except NotDefined:
        return False
    return all(_protects(measurement.value) for measurement in spent.measurements.values())


def limited_quantities(limit: Notion) -> dict[str, Budget]:
    """Return the budget of each quantity that a limit bounds; empty for other notions."""
    lifts = limit.lift_limits()
    limits = {
        "eps_lower": None if lifts is None else lifts.lower,
        "eps_upper": None if lifts is None else lifts.upper,
        "ldp": limit.ratio_limit,
        "profile": limit.profile_budget,
    }
    return {name: budget for name, budget in limits.items() if budget is not None}


def account(
    releases: Iterable[Released] | Mapping[str, Released | Sequence[Released]],
    context: Context | None = None,
    *,
    reading: ReadingKind | None = None,
    impossible: Impossible = "refuse",
) -> Account:
    """Account for several releases, each independent of the others given what is released.

    `releases` are mechanisms, channels or `Release`s; name one twice for two releases. Mechanisms
    bring their context if they share it; otherwise it must be given, or only LDP is said. In a
    graph of profiles the same data is the same observation; for others see `compose`. Users with a
    prior each are bounded by what everybody is promised.

    They are read as releases of the same value, unless they bring names of different ones: the
    columns that mechanisms were made for, or the keys of a mapping. Then the leakage about all
    values at once is bounded, whatever these have in common. The `reading` "same", "different" or
    "independent" chooses; without names, different values are one for each release.

    Source: 000 Thm 4, Cor 4 (corrected), Cor 5; 004 Obs 13.

    >>> from liftlock.model import Prior
    >>> from liftlock.model.channel import Channel
    >>> bit = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
    >>> both = {"smokes": bit, "drinks": bit}
    >>> print(account(both, Prior.uniform([0, 1]))["lip"])
    lip 1.79176 nats
    >>> print(account(both, Prior.uniform([0, 1]), reading="independent")["lip"])
    lip 1.38629 nats
    """
    if reading is not None and reading not in READINGS:
        raise InputError("unknown reading", value=reading, remedy=f"use {', '.join(READINGS)}")
    if context is not None and isinstance(require_context(context), PerUserPriors):
        context = AnyUserPrior(context.inputs)
    found = _named_releases(releases, context)
    names = {release.about for release in found}
    kind = reading or ("different" if len(names - {""}) > 1 else "same")
    if kind == "same" or not found:
        told = reading is not None or (len(names) == 1 and "" not in names)
        return _account_for_value(found, context, impossible, replace(SAME, told=told))
    values: dict[str, list[Release]] = {}
    for place, release in enumerate(found):
        values.setdefault(release.about or f"release {place + 1}", []).append(release)
    accounts = {
        name: _account_for_value(tuple(each), context, impossible, SAME)
        for name, each in values.items()
    }
    for name, each in accounts.items():
        if isinstance(each.context, ProfileGraph):
            raise InputError(
                "different values of profiles",
                value=name,
                remedy="compose(...) is for independent observations of profiles",
            )
    spent = combine_accounts(list(accounts.values()), kind)
    bare = dict.fromkeys(label for each in accounts.values() for label in each.unprotected)
    taken = Reading(kind, len(accounts))
    return Account(found, None, (spent,), {}, tuple(bare), taken, accounts)


def combine_accounts(accounts: Sequence[Account], kind: ReadingKind) -> PrivacyLoss:
    """Bound the leakage about different values at once, from the account of each."""
    each = [
        LeakageLevels(
            _ratio(found, "eps_lower"), _ratio(found, "eps_upper"), _data_ratio(found), None
        )
        for found in accounts
    ]
    # For a secret behind the data the values have other secrets, and no tuple of all.
    lifts = all(isinstance(found.context, Prior | PriorSet) for found in accounts)
    exact = all(found.is_exact(name) for found in accounts for name in QUANTITIES)
    return combine_values(each, kind, lifts=lifts, exact=exact)


def _data_ratio(found: Account) -> Ratio:
    """Return the LDP ratio of all releases of a value, for the data and whatever is behind them."""
    try:
        return measure_ldp(found.releases).ratio
    except NotDefined:
        return ComposedLevels.of(found.releases, None).product("ldp")


def _ratio(found: Account, quantity: str) -> Ratio:
    try:
        return found[quantity].ratio
    except NotDefined:
        return None


def _named_releases(
    releases: Iterable[Released] | Mapping[str, Released | Sequence[Released]],
    context: Context | None,
) -> tuple[Release, ...]:
    """Return the releases in order, with the names of their values."""
    if not isinstance(releases, Mapping):
        return tuple(Release.of(each, context) for each in require_list(releases, "releases"))
    found: list[Release] = []
    for name, given in releases.items():
        several: Sequence[Any] = given if isinstance(given, list | tuple) else [given]
        found += (replace(Release.of(each, context), about=str(name)) for each in several)
    return tuple(found)


def _account_for_value(
    found: tuple[Release, ...], context: Context | None, impossible: Impossible, reading: Reading
) -> Account:
    """Ask every accountant about releases of the same value."""
    chosen = context if context is not None else _common_context(found)
    if isinstance(chosen, Conditional):
        return _account_given(found, chosen, impossible, reading)
    if isinstance(chosen, ProfileGraph):
        found = _on_same_inputs(found, chosen)
    common_inputs(found)
    unprotected = _check_unprotected(found, chosen, impossible, given=context is not None)
    spent: list[PrivacyLoss] = []
    refused: dict[str, str] = {}
    for name, accountant in ACCOUNTANTS.items():
        try:
            spent.append(accountant.bound(found, chosen))
        except NotDefined as error:
            refused[name] = f"{error.context}: {error.remedy}"
    return Account(found, chosen, tuple(spent), refused, unprotected, reading)


def _account_given(
    releases: tuple[Release, ...], context: Conditional, impossible: Impossible, reading: Reading
) -> Account:
    """Account for every given value by itself, for the rest under every prior; the worst counts."""
    by_release = [list(_given_parts(release, context, impossible)) for release in releases]
    found: list[Account] = []
    for place, label in enumerate(context.given.labels):
        parts = tuple(each[place] for each in by_release)
        within = context.known_of(label)
        own = _account_for_value(parts, within, "ignore", reading)
        found.append(
            replace(
                own,
                spent=tuple(
                    replace(
                        spent,
                        measurements={
                            name: replace(
                                each, witness=replace(each.witness or Witness(), given=label)
                            )
                            for name, each in spent.measurements.items()
                        },
                    )
                    for spent in own.spent
                ),
            )
        )
    names = [spent.accountant for spent in found[0].spent]
    spent = []
    for name in names:
        own_spent = [next((s for s in each.spent if s.accountant == name), None) for each in found]
        known = [each for each in own_spent if each is not None]
        if len(known) == len(found):
            spent.append(_worst_loss(known))
    refused = {name: why for each in found for name, why in each.refused.items()}
    bare = dict.fromkeys(label for release in releases for label in release.unprotected)
    return Account(releases, context, tuple(spent), refused, tuple(bare), reading)


def _given_parts(
    release: Release, context: Conditional, impossible: Impossible
) -> Iterator[Release]:
    """Give the part of a release that each given value sees, under what is known there."""
    if release.channel is None:
        for label in context.given.labels:
            within = context.known_of(label)
            promised = release.guarantee
            if promised is not None and isinstance(within, PriorSet):
                budget = rest_budget(promised)
                promised = None if budget is None else LDP(budget)
            if promised is None or release.context is None:
                bare = _uninformative_channel(within.inputs)
                yield Release(within.inputs, bare, within, about=release.about)
            else:
                yield replace(Release.from_guarantee(promised, within), about=release.about)
        return
    table = to_dense(release.channel)
    refuse_impossible(table, context, "ignore" if release.unprotected else impossible)
    for part in context.parts(table):
        yield Release(
            part.channel.inputs,
            part.channel,
            context.known_of(part.label),
            release.guarantee,
            about=release.about,
        )


def _worst_loss(losses: Sequence[PrivacyLoss]) -> PrivacyLoss:
    """Return the largest leakages of several parts, as one accountant found them."""
    names = [name for name in losses[0].measurements if all(name in s.measurements for s in losses)]
    worst = {
        name: reduce(worse_measurement, (loss.measurements[name] for loss in losses))
        for name in names
    }
    return replace(
        losses[0], measurements=worst, exact=all(loss.exact for loss in losses), needs=""
    )


def _common_context(releases: Sequence[Release]) -> Context | None:
    """Return the context that all releases were certified in, or None if they differ."""
    contexts = [release.context for release in releases]
    first = contexts[0] if contexts else None
    if first is None:
        return None
    return first if all(_same_context(first, context) for context in contexts) else None


def _check_unprotected(
    releases: Sequence[Release], context: Context | None, impossible: Impossible, *, given: bool
) -> tuple[Label, ...]:
    """Return the inputs of which nothing is promised, or refuse them.

    What a certificate listed already is listed again, not refused, unless a context is `given`.
    """
    if isinstance(context, ProfileGraph):
        return tuple(dict.fromkeys(_unprotected_pairs(releases, context)))
    found: dict[Label, None] = {}
    for release in releases:
        if context is None or isinstance(context, AnyUserPrior):
            found |= dict.fromkeys(release.unprotected)
            continue
        told = bool(release.unprotected) and not given
        known = "ignore" if told or _is_promised_in(release, context) else impossible
        channel = release.channel or _uninformative_channel(release.inputs)
        found |= dict.fromkeys(refuse_impossible(channel, context, known))
    return tuple(found)


def _is_promised_in(release: Release, context: Context | None) -> bool:
    """Tell whether a release is known by its promise alone, and made in this context."""
    own = release.context
    return release.channel is None and own is not None and _same_context(own, context)


def _uninformative_channel(inputs: Alphabet) -> Channel:
    """Return a channel that says nothing, for a release of which the channel is not known."""
    ones = np.ones((len(inputs), 1), dtype=np.int64)
    return Channel(inputs, Alphabet.of(["any"]), ones, (1,) * len(inputs))


def _same_context(one: Context, other: Context | None) -> bool:
    """Tell whether two contexts are the same, in whatever order their inputs are listed."""
    if other is None or one.fingerprint == other.fingerprint:
        return other is not None
    reorder = getattr(other, "reordered", None)
    if reorder is None or set(one.inputs.labels) != set(other.inputs.labels):
        return False
    return bool(reorder(one.inputs).fingerprint == one.fingerprint)


def _on_same_inputs(releases: tuple[Release, ...], graph: ProfileGraph) -> tuple[Release, ...]:
    """Let all releases take pairs (profile, value) if one of them does."""
    uses = [r.channel is not None and graph.uses_profile(r.channel.inputs) for r in releases]
    if not any(uses):
        return releases
    return tuple(
        release if pairs else _to_pairs(release, graph)
        for release, pairs in zip(releases, uses, strict=True)
    )


def _to_pairs(release: Release, graph: ProfileGraph) -> Release:
    table = None if release.channel is None else to_dense(release.channel)
    wide = None if table is None else table.precompose(graph.pairs, lambda pair: pair[1])
    return replace(release, inputs=graph.pairs, channel=wide)


def _unprotected_pairs(releases: Sequence[Release], graph: ProfileGraph) -> list[Label]:
    """Return the pairs (profile, value) of which nothing is promised.

    Of one release its certificate lists them. What values that a profile calls impossible give away
    in several releases was certified by none.
    """
    if len(releases) == 1 and releases[0].guarantee is not None:
        return list(releases[0].unprotected)
    joined = {place for edge in graph.edges for place in edge}
    names, values = graph.profiles.labels, graph.inputs.labels
    return [(names[i], values[x]) for i, x in graph.impossible() if i in joined]


def _is_less(spent: PrivacyLoss, other: PrivacyLoss, name: str) -> bool:
    """Tell whether an accountant proves less leakage than another."""
    ours, theirs = spent[name], other[name]
    if ours.value.upper is None:
        return False
    if theirs.value.upper is None:
        return True
    if ours.ratio is not None and theirs.ratio is not None:
        return ours.ratio < theirs.ratio
    return ours.value.upper < theirs.value.upper


def _short(value: Enclosure) -> str:
    return "infinite" if value.is_infinite else f"{float(value):.6g}"
