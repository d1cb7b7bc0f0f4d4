"""Surveys to begin with: the one that `liftlock collect new` writes, and the one of the demo."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from liftlock.collect.survey.question import read_name
from liftlock.errors import InputError

_NEW = """\
# A survey. Check it before anybody is asked:  liftlock collect check {name}.yaml
# Then serve it:                               liftlock collect serve {name}.yaml

survey: {name}                     # part of addresses: small letters, digits, - and _
title: "How are we?"               # what people read
people: 10000                      # how many are expected; the check says how precise that is
# opens: 2026-11-01
# closes: 2026-11-30               # the last day on which reports are taken
least: 100                         # results of fewer reports are not shown
results: public                    # or analysts
tokens: open                       # anybody may report; signed: one report for each token

# What all answers of one person together may tell; a survey that exceeds it is refused.
# lip: a belief changes at most e^3-fold, if the priors below are believed; ldp: odds, whatever is
# believed.
total: lip=3

# What a device does when it is asked again:
#   first     its first report for ever: nothing is added, whatever happens to the answer
#   fresh=3   a new report in each of at most 3 rounds: what they tell adds up
#   memo=2    one report for each value, in at most 2 rounds: a change of the answer can be noticed
repeat: first

questions:
  # One of several answers. How common each one is, is roughly known and public, so that less noise
  # is needed: counts, or probabilities that sum to 1.
  - name: flu
    ask: "How are you today?"
    values: [none, cold, flu]
    prior: {{none: 700, cold: 200, flu: 100}}
    guarantee: lip=1

  # Nothing is known of the answers: prior: none. The promise holds whatever anybody believes.
  # Note the quotes: no and yes without them are not text in YAML.
  - name: smoking
    ask: "Do you smoke?"
    values: ["no", "yes"]
    prior: none
    guarantee: ldp=0.5

  # Numbers can be added up: estimate their mean, or their sum.
  - name: sleep
    ask: "How many hours did you sleep last night?"
    values: [4, 5, 6, 7, 8, 9]
    prior: {{4: 5, 5: 10, 6: 20, 7: 30, 8: 25, 9: 10}}
    guarantee: lip=0.5
    answer: mean

  # Numbers between two ends, in bins; the prior may be a distribution.
  # - name: age
  #   ask: "How old are you?"
  #   range: [0, 100]
  #   bins: 10
  #   prior: normal(45, 15)
  #   guarantee: lip=1

  # Groups that everybody can see have a prior each; their estimates are combined.
  # - name: cough
  #   ask: "Do you cough?"
  #   values: ["no", "yes"]
  #   groups:
  #     north: {{prior: {{"no": 9, "yes": 1}}}}
  #     south: {{prior: none}}
  #   guarantee: lip=1

  # People may choose how much they are protected; the worst level counts for the total.
  # - name: votes
  #   ask: "Will you vote?"
  #   values: ["no", "yes"]
  #   levels: {{careful: ldp=0.5, open: ldp=2}}

# If it is known what answers have in common, say so: the total may be less. What it says of each
# answer must be what its prior says.
# joint:
#   questions: [flu, smoking]
#   counts: [[none, "no", 500], [none, "yes", 200], [cold, "no", 150], [cold, "yes", 50],
#            [flu, "no", 80], [flu, "yes", 20]]
"""

DEMO = """\
survey: town
title: Health in our town
people: 2500
least: 100
total: lip=4
questions:
  - name: flu
    ask: "How are you today?"
    values: [none, cold, flu]
    prior: none
    guarantee: lip=1
  - name: smoking
    ask: "Do you smoke?"
    values: ["no", "yes"]
    prior: none
    guarantee: ldp=1
  - name: sleep
    ask: "How many hours did you sleep last night?"
    values: [5, 6, 7, 8, 9]
    prior: {5: 15, 6: 20, 7: 30, 8: 25, 9: 10}
    guarantee: lip=1
    answer: mean
"""
"""The survey of the demo: nothing is known of flu in its first round, and much in the second."""

DEMO_TRUTHS: Mapping[str, Mapping[Any, str]] = {
    "flu": {"none": "0.62", "cold": "0.22", "flu": "0.16"},
    "smoking": {"no": "0.78", "yes": "0.22"},
    "sleep": {5: "0.23", 6: "0.27", 7: "0.27", 8: "0.17", 9: "0.06"},
}
"""What the people of the demo would truly answer, which is not what the prior of sleep says."""


def new_survey(name: str = "health") -> str:
    """Return the text of a survey file to begin with, in YAML.

    >>> print(new_survey("town").splitlines()[3])
    survey: town                     # part of addresses: small letters, digits, - and _
    """
    try:
        return _NEW.format(name=read_name(name))
    except InputError as error:
        raise InputError("a survey cannot be called so", value=name, remedy=error.remedy) from None
