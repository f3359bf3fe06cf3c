"""Body shapes that reach the ground beside the belts, and so carry weight that the belts should."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

from segtrack.description.placement import belt_corners, place_tracks
from segtrack.description.vehicle import VehicleDescription
from segtrack.errors import InvalidValueError

_BARELY_ABOVE = 1e-3
"""Height above the belts' tips within which a shape carries weight all the same, as grousers sink in [m]."""


class LowShape(NamedTuple):
    """Collision shape of a body that reaches as low as the tips of its belts.

    Attributes:
        link: Name of its link; `body` for a body without a URDF.
        shape: Number among the link's collision shapes and kind, in words.
        depth: Depth of its lowest point below the lowest tip, with the body level and all joints at 0 [m];
            slightly negative for a shape that ends just above.
    """

    link: str
    shape: str
    depth: float

    def __str__(self) -> str:
        """Shape and depth in words."""
        beyond = round(self.depth * 1e3, 1)
        how = f"{beyond:g} mm lower than" if beyond > 0 else "as low as"
        return f"link {self.link!r}: {self.shape} reaches {how} the belts' tips"


def low_shapes(vehicle: VehicleDescription) -> tuple[LowShape, ...]:
    """Find the body shapes that reach as low as the belts' tips, in the order of the file.

    Tips are those of the tracks on the body; of a vehicle without any, those of its flippers at angle 0. On
    flat ground such shapes carry the vehicle beside its belts, which then hardly drive it. Meshes that cannot
    be read are left out.
    """
    placed = place_tracks(vehicle, {})
    on_body = [track for track in placed if track.mounted.flipper is None] or placed
    ground = min(float(belt_corners(track)[:, 2].min()) for track in on_body)
    low = (LowShape(link, shape, ground - lowest) for link, shape, lowest in _lowest_points(vehicle))
    return tuple(shape for shape in low if shape.depth > -_BARELY_ABOVE)


def _lowest_points(vehicle: VehicleDescription) -> Iterator[tuple[str, str, float]]:
    """Link, shape in words, and smallest z of each collision shape in the body frame [m]."""
    counts: dict[str, int] = {}
    for link, shape in vehicle.body.contact_shapes():
        counts[link] = counts.get(link, 0) + 1
        words = f"collision {counts[link]} ({shape.tag.tag})" if vehicle.body.urdf is not None else "its box"
        with suppress(InvalidValueError):  # An engine that needs the mesh says so.
            yield link, words, shape.lowest


def warn_of_low_shapes(vehicle: VehicleDescription) -> None:
    """Warn by the logger `segtrack` of body shapes that would carry weight beside the belts.

    Nothing is said of a body that is fixed.
    """
    if vehicle.body.fixed:
        return
    low = low_shapes(vehicle)
    if low:
        links = ", ".join(repr(link) for link in dict.fromkeys(shape.link for shape in low))
        logging.getLogger("segtrack").warning(
            "%s: %d collision shapes of its body (link %s) reach down to the belts' tips, %.1f mm lower at "
            "most, and carry it beside them; `segtrack validate` names them, body.without_contact leaves "
            "them out",
            vehicle.name,
            len(low),
            links,
            1e3 * max(0.0, *(shape.depth for shape in low)),
        )


@contextmanager
def without_warning_of_low_shapes() -> Iterator[None]:
    """Context without the warning of `warn_of_low_shapes`, where such shapes are expected."""

    def is_other(record: logging.LogRecord) -> bool:
        return record.funcName != warn_of_low_shapes.__name__

    logger = logging.getLogger("segtrack")
    logger.addFilter(is_other)
    try:
        yield
    finally:
        logger.removeFilter(is_other)
