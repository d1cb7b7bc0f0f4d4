"""Laplace noise that is renormalised on the domain, with one scale for all inputs."""

from __future__ import annotations

from typing import Any

from liftlock.context import Context
from liftlock.designs.calibration import NUMERIC_NOTIONS
from liftlock.designs.draft import Draft
from liftlock.designs.laplace_noise import NEEDS, OPTIONS, single_scale
from liftlock.designs.registry import Design
from liftlock.notions.base import Notion
from liftlock.utility.utility import Utility


def bounded_laplace(
    context: Context,
    notion: Notion,
    *,
    utility: Utility | None = None,  # noqa: ARG001
    scale: str | float | None = None,
    sensitivity: str = "domain",
    domain: Any = None,
    outputs: int | None = None,
    as_published: bool = False,
) -> Draft:
    """Draw Y from [l, u] with density proportional to exp(-|y - x| / b), and release its cell.

        f(y | x) = exp(-|y - x| / b) / (2 b C_x),   C_x = 1 - (e^-(x - l)/b + e^-(u - x)/b) / 2

    By default b is the least at which the finite channel keeps the budget. Published scales are
    locked as they are, or refused.

    Source: 003 Def 6, Thm 1 eq. (17), eq. (19); 000 Thm 6 eq. (25).

    >>> from liftlock.notions.lip import LIP
    >>> from liftlock.prior import Prior
    >>> grades = Prior.from_counts({0: 1, 1: 18, 2: 1})
    >>> for scale in ("smallest", "published"):
    ...     print(bounded_laplace(grades, LIP("2"), scale=scale).remarks[0])
    Laplace noise of scale 0.545454, renormalised on [0, 2] and cut into 512 outputs
    Laplace noise of scale 0.978233, renormalised on [0, 2] and cut into 512 outputs
    """
    return single_scale(
        context,
        notion,
        bounded=True,
        method=DESIGN.key,
        scale=scale,
        sensitivity=sensitivity,
        domain=domain,
        outputs=outputs,
        as_published=as_published,
    )


DESIGN = Design(
    key="bounded-laplace",
    make=bounded_laplace,
    says="Laplace noise renormalised on the domain, cut; the least scale that truly suffices",
    promises="the least scale of its kind; more budget never asks for more noise",
    source="003 Def 6, eq. (17); 000 eq. (25)",
    notions=NUMERIC_NOTIONS,
    contexts=("prior",),
    needs=NEEDS,
    face_value=True,
    options=OPTIONS,
)
