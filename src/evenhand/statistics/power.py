"""What can be seen at all with so many answers."""

from __future__ import annotations

import math

from scipy import special


def smallest_difference(n: int, n_clusters: int, intraclass_correlation: float, share: float = 0.5) -> float:
    """The smallest difference of two independent shares, in points, that is found with 80 % power at the 5 % level.

    n answers in n_clusters equal clusters, whose answers correlate by `intraclass_correlation` (0: not at all, 1: a
    cluster answers as one); design effect 1 + (n / n_clusters - 1) times it (Kish 1965).
    """
    design_effect = 1 + (n / n_clusters - 1) * intraclass_correlation
    standard_error = math.sqrt(2 * share * (1 - share) * design_effect / n)
    return float(100 * (special.ndtri(0.975) + special.ndtri(0.8)) * standard_error)
