"""Optimal local hashing: a hash function of one's own, and randomised response on its buckets."""

from __future__ import annotations

from liftlock._solver.problem import ldp_budget
from liftlock.context import Context
from liftlock.designs.base import LIFT_NOTIONS, PRIOR_KINDS, Design, FormDraft, few_outputs
from liftlock.designs.mechanisms.k_rr import WIDER
from liftlock.forms import HashingChannel
from liftlock.forms.hashing_channel import MOST_SYMBOLS
from liftlock.notions.base import Notion
from liftlock.utility.utility import Utility


def hashing(
    context: Context,
    notion: Notion,
    *,
    utility: Utility | None = None,  # noqa: ARG001
    buckets: int | None = None,
) -> FormDraft:
    """Report a random hash function and a noisy bucket of the value, of about E + 1 buckets.

    As accurate as optimal unary encoding in a report of five bytes. The lifts are proved for the
    worst hash function there could be, so they hold for each; a report is public and says which
    hash function was drawn, which does not depend on the value.

    >>> from liftlock.notions.ldp import LDP
    >>> from liftlock.prior import Prior
    >>> draft = hashing(Prior.uniform(range(1024)), LDP("1"))
    >>> draft.channel.buckets, draft.channel.report_bytes
    (4, 5)
    """
    channel = HashingChannel.optimal(context.inputs, ldp_budget(notion), buckets=buckets)
    remarks = [f"a report is {channel.report_size}: a seed and one of {channel.buckets} buckets"]
    if notion.ratio_limit is None:
        remarks.append(WIDER)
    return FormDraft(channel, DESIGN.key, remarks=tuple(remarks))


DESIGN = Design(
    key="hashing",
    make=hashing,
    says="optimal local hashing: a hash of one's own and a noisy bucket, five bytes; no table",
    promises="nothing beyond LDP; as accurate as oue in a much shorter report",
    source="LDP literature; not in the papers",
    notions=("ldp", *LIFT_NOTIONS),
    contexts=PRIOR_KINDS,
    prior_free=True,
    needs=f"at most {MOST_SYMBOLS:,} symbols",
    options={"buckets": "how many buckets the hash has"},
    memory=few_outputs,
)
