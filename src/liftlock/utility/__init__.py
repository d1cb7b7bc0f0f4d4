"""What a mechanism is good for: a concave cost of posteriors for each utility."""

from liftlock.utility.base import (
    Concave,
    Linear,
    Precision,
    Separable,
    Shape,
    Utility,
    Variance,
    mean_cost,
    restrict,
    value,
    value_of_no_noise,
    value_of_no_release,
)
from liftlock.utility.custom import CustomUtility
from liftlock.utility.distortion import Distortion
from liftlock.utility.frequencies import Frequencies
from liftlock.utility.mean import Mean
from liftlock.utility.profile_utility import ProfileErrors, ProfileUtility, profile_errors
from liftlock.utility.registry import REGISTRY, UtilityKind, make_utility
from liftlock.utility.symmetric import Guess, Histogram, MutualInformation

__all__ = [
    "REGISTRY",
    "Concave",
    "CustomUtility",
    "Distortion",
    "Frequencies",
    "Guess",
    "Histogram",
    "Linear",
    "Mean",
    "MutualInformation",
    "Precision",
    "ProfileErrors",
    "ProfileUtility",
    "Separable",
    "Shape",
    "Utility",
    "UtilityKind",
    "Variance",
    "make_utility",
    "mean_cost",
    "profile_errors",
    "restrict",
    "value",
    "value_of_no_noise",
    "value_of_no_release",
]
