"""Numbers printed in the text of Koerner 2024; its curves and vendors' limits exist in figures only."""

from __future__ import annotations

STEP_PASSED, STEP_FAILED = 0.78, 0.80
"""Heights of the steps that the base model passes and fails (4.2.2) [m]."""
EVALUATION_STEP = 0.76
"""Largest step of the evaluation model with its sprocket where it is by default (5.2) [m]."""
GAP_PASSED, GAP_FAILED = 2.08, 2.11
"""Lengths of the gaps that the base model passes and fails (4.2.3) [m]."""
STEP_INCREMENT, GAP_INCREMENT = 0.02, 0.03
"""Increments of the searches (4.2.2, 4.2.3) [m]."""
FRICTION = 0.8
"""Friction of ground and obstacles (4.2)."""
SOFTENED_FRICTION = FRICTION / 2
"""Friction of a softened grip: section 4.3 estimates that the pads' soft material may halve the force of \
friction, which an elastic contact of Mindlin's form limits before Coulomb's law does."""
HALF_ROUNDS = (0.1016, 0.1524, 0.2032, 0.254, 0.3048)
"""Heights of half-rounds, 4 to 12 in (4.2.1) [m]."""
BARRIERS = {
    "NRMM": "SSSFSSSSSSSS",
    "A": "SSSSSSSSSSSS",
    "B": "SSSFSSSFSSSF",
    "C": "SSSSSSSSSSSS",
    "D": "SSSSSSSSSSSS",
    "Koerner": "SSSSSSSSSSSS",
}
"""Trapezoid barriers 1 to 12 (figure 4.18): S passed, F failed, by software or vendor."""
DITCHES = {
    "NRMM": "SSSSSSSSSSSF",
    "A": "SSSSSSSSSSSS",
    "B": "SSSSSSSSSSSS",
    "C": "SSSSSSSSSSSF",
    "D": "SSSSSSSSSSSF",
    "Koerner": "SSSSSSSSSSSF",
}
"""Trapezoid ditches (figure 4.19)."""
PLACES = 69
"""Places of the sprocket of 81 that the front road wheel leaves (5.2)."""
