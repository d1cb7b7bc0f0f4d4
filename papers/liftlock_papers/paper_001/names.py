"""What the curves of paper 001 are called; the budget is ε where nothing else is said."""

from __future__ import annotations

PUBLISHED = "LIP, as published"
PUBLISHED_HALF = "LIP at ε/2, as published"
OPTIMUM = "LIP, certified optimum"
OPTIMUM_HALF = "LIP at ε/2, certified optimum"
RESPONSE = "LDP, randomised response"
STAIRCASE = "LDP, certified optimum"
MERGED = "LDP, response on merged values"
UNAWARE = "LDP, prior not used"
UNARY = "LDP unary encoding, prior not used"
NOTHING = "no release: the prior alone"
