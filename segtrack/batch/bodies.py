"""Changes of the bodies' mass properties in a batch."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from segtrack.batch.fleet import Fleet
from segtrack.errors import InvalidValueError


def weigh_bodies(
    fleet: Fleet,
    chosen: NDArray[np.intp],
    mass: NDArray[np.float64] | None,
    center: NDArray[np.float64] | None,
    inertia: NDArray[np.float64] | None,
) -> None:
    """Set mass properties of bodies in a fleet, see `BeltKind.weigh_body`.

    Args:
        fleet: Fleet of vehicles.
        chosen: Indices of the vehicles to change (n,).
        mass: Masses without belts (n,) [kg].
        center: Centres of mass without belts, in the body frames (n, 3) [m].
        inertia: Inertia about these centres, without belts (n, 3, 3) [kg m^2].
    """
    given = [[None] * len(chosen) if each is None else each for each in (mass, center, inertia)]
    with fleet.changing():
        arrays = fleet.own.masses, fleet.own.centers, fleet.own.inertias, fleet.own.reaches
        for i, *own in zip(chosen.tolist(), *given, strict=True):
            fleet.kinds[fleet.kind_of[i]].weigh_body(arrays, fleet.state, i, *own)


def check_bodies(
    fleet: Fleet,
    chosen: NDArray[np.intp],
    mass: NDArray[np.float64] | None,
    inertia: NDArray[np.float64] | None,
) -> None:
    """Refuse physically impossible mass properties; arguments as in `weigh_bodies`.

    Raises:
        InvalidValueError: A mass that does not outweigh what the drives of the body's tracks reflect, or an
            inertia that is not symmetric or breaks the triangle inequality of its principal moments.
    """
    if mass is not None:
        for i, weight in zip(chosen.tolist(), mass.tolist(), strict=True):
            least = fleet.kinds[fleet.kind_of[i]].reflected_mass
            if not weight > least:
                expected = f"above {least:g}, what its drives reflect"
                raise InvalidValueError(f"mass of the body of vehicle {i} [kg]", expected, weight)
    if inertia is not None:
        for i, tensor in zip(chosen.tolist(), inertia, strict=True):
            moments = np.linalg.eigvalsh(tensor)
            if not (np.allclose(tensor, tensor.T) and 0.0 < moments[2] <= (1 + 1e-9) * moments[:2].sum()):
                expected = "symmetric, no principal moment above the sum of the others"
                got = tensor.round(6).tolist()
                raise InvalidValueError(f"inertia of the body of vehicle {i} [kg m^2]", expected, got)
