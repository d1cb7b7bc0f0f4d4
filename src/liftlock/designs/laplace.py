"""Unbounded Laplace noise, clamped to the domain, with one scale for all inputs."""

from __future__ import annotations

from typing import Any

from liftlock.context import Context
from liftlock.designs.calibration import NUMERIC_NOTIONS
from liftlock.designs.draft import Draft
from liftlock.designs.laplace_noise import NEEDS, OPTIONS, single_scale
from liftlock.designs.registry import Design
from liftlock.notions.base import Notion
from liftlock.utility.utility import Utility


def laplace(
    context: Context,
    notion: Notion,
    *,
    utility: Utility | None = None,  # noqa: ARG001
    scale: str | float | None = None,
    sensitivity: str = "data",
    domain: Any = None,
    outputs: int | None = None,
    as_published: bool = False,
) -> Draft:
    """Add noise of density exp(-|n| / b) / (2 b), clamp the sum to the domain, release its cell.

    Clamping comes after the noise, so Delta = x_max - x_min is enough for the published scales
    here. The scale Delta / epsilon is the classical epsilon-LDP mechanism. By default b is the
    least at which the finite channel keeps the budget.

    Source: 003 eq. (9)-(11), Thm 1 eq. (17); 000 Thm 6 eq. (25).

    >>> from liftlock.notions.lip import LIP
    >>> from liftlock.prior import Prior
    >>> grades = Prior.from_counts({0: 1, 1: 18, 2: 1})
    >>> for scale in ("smallest", "context-free"):
    ...     print(laplace(grades, LIP("2"), scale=scale).remarks[0])
    Laplace noise of scale 0.553387, clamped to [0, 2] and cut into 512 outputs
    Laplace noise of scale 1, clamped to [0, 2] and cut into 512 outputs
    """
    return single_scale(
        context,
        notion,
        bounded=False,
        method=DESIGN.key,
        scale=scale,
        sensitivity=sensitivity,
        domain=domain,
        outputs=outputs,
        as_published=as_published,
    )


DESIGN = Design(
    key="laplace",
    make=laplace,
    says="Laplace noise clamped to the domain, cut; the least scale that truly suffices",
    promises="the least scale of its kind; more budget never asks for more noise",
    source="003 eq. (11), (17); 000 eq. (25)",
    notions=NUMERIC_NOTIONS,
    contexts=("prior",),
    needs=NEEDS,
    face_value=True,
    options=OPTIONS,
)
