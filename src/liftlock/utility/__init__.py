"""What a mechanism is good for."""

from liftlock.utility.distortion import Distortion
from liftlock.utility.mean import Mean
from liftlock.utility.own import Own
from liftlock.utility.profile_utility import ProfileErrors, ProfileUtility, profile_errors
from liftlock.utility.registry import REGISTRY, Entry, make_utility
from liftlock.utility.shape import Concave, Linear, Separable, Shape, Variance
from liftlock.utility.symmetric import Guess, Histogram, MutualInformation
from liftlock.utility.utility import (
    Utility,
    mean_cost,
    restricted,
    value,
    value_of_nothing,
    value_of_truth,
)

__all__ = [
    "REGISTRY",
    "Concave",
    "Distortion",
    "Entry",
    "Guess",
    "Histogram",
    "Linear",
    "Mean",
    "MutualInformation",
    "Own",
    "ProfileErrors",
    "ProfileUtility",
    "Separable",
    "Shape",
    "Utility",
    "Variance",
    "make_utility",
    "mean_cost",
    "profile_errors",
    "restricted",
    "value",
    "value_of_nothing",
    "value_of_truth",
]
