"""What the curves of paper 001 are called."""

from __future__ import annotations

PUBLISHED = "LIP at ε, as published"
PUBLISHED_HALF = "LIP at ε/2, as published"
OPTIMUM = "LIP at ε, certified optimum"
OPTIMUM_HALF = "LIP at ε/2, certified optimum"
RESPONSE = "LDP at ε, randomised response"
STAIRCASE = "LDP at ε, certified optimum"
UNAWARE = "LDP at ε, response, without the prior"
UNARY = "LDP at ε, unary encoding, without the prior"
NOTHING = "no release: the prior alone"
