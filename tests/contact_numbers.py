"""Numbers of contact laws that several tests take, and the laws made of them."""

from segtrack.ground import contact_parameters

UP = (0.0, 0.0, 1.0)
ACROSS = (0.0, 1.0, 0.0)
NUMBERS = dict(stiffness=2e5, damping=50.0, tangential_stiffness=1e5, tangential_damping=20.0)
LIMIT = 30.0


def law(ratio=1.0):
    return contact_parameters(friction=0.5, lateral_ratio=ratio, **NUMBERS)
