"""What each measure is called when people read it."""

from __future__ import annotations

NAMES = {
    "lip": "LIP",
    "eps_lower": "eps_lower (min-lift)",
    "eps_upper": "eps_upper (max-lift)",
    "ldp": "LDP",
    "identifiability": "identifiability",
    "mutual_information": "mutual information",
    "maximal_leakage": "maximal leakage",
    "total_variation": "total variation",
    "chi2": "chi2-divergence",
    "l1_lift": "l1-lift",
    "chi2_lift": "chi2-lift",
    "l1_lift_inverse": "l1-lift-inverse",
    "chi2_lift_inverse": "chi2-lift-inverse",
    "alpha_lift": "alpha-lift",
    "alpha_lift_inverse": "alpha-lift-inverse",
    "sibson": "Sibson information",
    "arimoto": "Arimoto information",
    "crowd_mass": "crowd mass",
    "delta_def5": "delta (def5)",
    "delta_ediv": "delta (ediv)",
    "delta_joint": "delta (joint)",
    "delta_ldp": "delta (LDP)",
    "lip_def5": "delta (def5)",
    "lip_ediv": "delta (ediv)",
    "lip_joint": "delta (joint)",
    "ldp_delta": "delta (LDP)",
}
