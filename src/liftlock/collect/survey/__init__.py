"""Surveys: what is asked and promised, the mechanisms for it, and what the reports say."""

from __future__ import annotations

from liftlock.collect.survey.collection import CollectedMechanism, Collection
from liftlock.collect.survey.estimate import Estimated
from liftlock.collect.survey.fields import SurveyError
from liftlock.collect.survey.question import Answer, Level, Question
from liftlock.collect.survey.survey import Survey

__all__ = [
    "Answer",
    "CollectedMechanism",
    "Collection",
    "Estimated",
    "Level",
    "Question",
    "Survey",
    "SurveyError",
]
