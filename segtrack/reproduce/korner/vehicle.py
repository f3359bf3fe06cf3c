"""Koerner 2024's evaluation model (5.1): symmetric sides, stiffening dampers, sprocket at any place."""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import numpy as np
import yaml

from segtrack.description import VehicleDescription, find_vehicle, load_vehicle
from segtrack.description.chain import ChainLayout, fit_loop
from segtrack.errors import InvalidValueError
from segtrack.experiments import with_sub_steps

BASE = "m113"
SIDE = "right"
"""Side that the other one mirrors; the paper does not say which."""
NEAREST = 0.672
"""Least distance of the sprocket's axle from that of the first road wheel as drawn [m]. The paper does not \
give its threshold; any from 0.671 to 0.675 leaves its 69 of 81 places."""
STIFF_SPEED, STIFF_DAMPING, LEVER = 1.27, 1e5, 0.275
"""Vertical speed of a road wheel from which its damper is stiff [m/s], and that damping [N s/m] (5.1); \
lever of the wheel about its arm's pivot [m] (urdf/m113/README.md)."""
PRINTED_TORQUES = (
    (0, 9519),
    (0.88, 9519),
    (2.51, 7140),
    (5.01, 3570),
    (7.52, 2379),
    (10.02, 1784),
    (20.04, 892),
)
"""Speed [rad/s] and torque [N m] of a sprocket as table 3.10 prints them; urdf/m113/README.md says why the \
file has speeds 3.58 times as large."""
PRINTED_TOP_SPEED = 13.4
"""Top speed of the paper's model (3.2.3) [m/s]."""
_COUNTS = range(58, 71)
"""Numbers of shoes that are tried."""


class SprocketPlace(NamedTuple):
    """Offset of both sprockets from their default place.

    Attributes:
        x: Forward offset [m].
        z: Upward offset [m].
    """

    x: float
    z: float


class ModelChange(NamedTuple):
    """Change of the paper's model (which has the torques printed in table 3.10).

    Attributes:
        hull: False for a hull without contact.
        pads: Factor on the shoes' contact stiffness on the ground [-].
        bushings: Factor on the bushings' stiffness [-].
        power: True for the torques of urdf/m113, which agree with the engine's power.
        sub_steps: Number of parts into which each sub-step of chains is divided.
    """

    hull: bool = True
    pads: float = 1.0
    bushings: float = 1.0
    power: bool = False
    sub_steps: int = 1

    @property
    def words(self) -> str:
        """Suffix for names; empty without a change."""
        factors = ("pads", self.pads), ("bushings", self.bushings)
        found = ["hull free"] * (not self.hull)
        found += [f"{what} {factor:g} times as stiff" for what, factor in factors if factor != 1.0]
        found += ["the engine's power"] * self.power
        found += [f"sub-steps of 1/{self.sub_steps}"] * (self.sub_steps != 1)
        return "".join(f", {each}" for each in found)


AS_PAPER = ModelChange()
"""No change of the paper's model."""


class FittedChain(NamedTuple):
    """Chain with the number of shoes that needs the least idler slide to close.

    Attributes:
        shoes: Number of shoes.
        slide: Slide of the idler away from the sprocket [m].
    """

    shoes: int
    slide: float


def grid_places(per_axis: int) -> tuple[SprocketPlace, ...]:
    """Return a grid of sprocket places from -0.2 to 0.2 m, except those that hit the front road wheel."""
    offsets = np.round(np.linspace(-0.2, 0.2, per_axis), 9).tolist()
    places = [SprocketPlace(x, z) for x in offsets for z in offsets]
    track = load_vehicle(BASE).tracks[SIDE]
    assert track.chain is not None and track.chain.road_wheels is not None and track.path.pulleys is not None
    wheel, sprocket = track.chain.road_wheels[0], track.path.pulleys[0]
    return tuple(
        place
        for place in places
        if math.hypot(sprocket.x + place.x - wheel.x, sprocket.z + place.z - wheel.z) >= NEAREST
    )


def fit_shoes(vehicle: VehicleDescription) -> FittedChain:
    """Find the number of shoes with which a track's chain closes nearest to the file's idler place.

    Raises:
        InvalidValueError: None closes.
    """
    track = vehicle.tracks[SIDE]
    assert track.chain is not None
    fits = []
    for count in _COUNTS:
        layout = ChainLayout(SIDE, track, track.chain).with_count(count)
        with suppress(InvalidValueError):
            slide = (layout.place_of("tensioned") or (0.0, 0.0))[0] - fit_loop(layout).idler.center[0]
            fits.append(FittedChain(count, float(slide)))
    if not fits:
        raise InvalidValueError("place of the sprocket", "one with which a chain closes", vehicle.name)
    return min(fits, key=lambda fit: abs(fit.slide))


@contextmanager
def base_model(change: ModelChange) -> Iterator[VehicleDescription]:
    """Build the base model; its files exist within the block."""
    data, urdf = _source()
    for track in data["tracks"].values():
        _change_track(track, change)
    with tempfile.TemporaryDirectory(prefix="segtrack_") as folder:
        if not change.hull:
            _free_hull(urdf)
        yield with_sub_steps(_written(data, urdf, Path(folder)), change.sub_steps)


@contextmanager
def evaluation_model(
    place: SprocketPlace, change: ModelChange
) -> Iterator[tuple[VehicleDescription, FittedChain]]:
    """Build the evaluation model with its sprockets at a place; its files exist within the block.

    Its hull touches nothing: beside sprockets that are moved back or down it would touch first.

    Args:
        place: Place of both sprockets.
        change: Change of the paper's model.

    Raises:
        InvalidValueError: No number of shoes closes.
    """
    data, urdf = _source()
    right = data["tracks"][SIDE]
    _change_track(right, change)
    right["path"]["pulleys"][0]["x"] += place.x
    right["path"]["pulleys"][0]["z"] += place.z
    for joint in data["joints"].values():
        if "table" in joint["damper"]:
            _stiffen(joint["damper"]["table"])
    _mirror_and_move(urdf, place)
    _free_hull(urdf)
    with tempfile.TemporaryDirectory(prefix="segtrack_") as folder:
        data["tracks"]["left"] = _mirrored(right)
        fit = fit_shoes(_written(data, urdf, Path(folder)))
        right["chain"]["shoes"]["count"] = fit.shoes
        right["belt"]["mass"] = fit.shoes * right["chain"]["shoes"]["mass"]
        data["tracks"]["left"] = _mirrored(right)
        yield with_sub_steps(_written(data, urdf, Path(folder)), change.sub_steps), fit


def _source() -> tuple[dict[str, Any], ElementTree.ElementTree[ElementTree.Element]]:
    """Data of the base model's vehicle file (copied, without shared anchors), and its URDF."""
    file = find_vehicle(BASE)
    data: dict[str, Any] = json.loads(json.dumps(yaml.safe_load(file.read_text())))
    return data, ElementTree.parse(file.parent / data["body"]["urdf"])


def _written(
    data: dict[str, Any], urdf: ElementTree.ElementTree[ElementTree.Element], folder: Path
) -> VehicleDescription:
    """Vehicle written to files in a folder, and read from them."""
    urdf.write(folder / data["body"]["urdf"])
    file = folder / f"{BASE}.yaml"
    file.write_text(yaml.safe_dump(data))
    return load_vehicle(file)


def _mirrored(track: dict[str, Any]) -> dict[str, Any]:
    """Left track with the data of a right one."""
    left: dict[str, Any] = json.loads(json.dumps(track).replace("_right_", "_left_"))
    left["mount"]["xyz"][1] *= -1
    return left


def _change_track(track: dict[str, Any], change: ModelChange) -> None:
    """Apply the model's torques and stiffness to a track."""
    track["chain"]["shoe_contact"]["stiffness"] *= change.pads
    track["chain"]["bushing"]["stiffness"] *= change.bushings
    if not change.power:
        track["drive"]["torque_table"]["rows"] = [list(row) for row in PRINTED_TORQUES]
        track["drive"]["max_speed"] = PRINTED_TOP_SPEED


def _stiffen(table: list[list[float]]) -> None:
    """Extend a damper table at both ends by as much again, so that damping stays stiff there."""
    for end, (speed, torque) in ((0, table[0]), (len(table) + 1, table[-1])):
        more = math.copysign(STIFF_DAMPING * STIFF_SPEED * LEVER, torque)
        table.insert(end, [2 * speed, torque + more])


def _free_hull(urdf: ElementTree.ElementTree[ElementTree.Element]) -> None:
    """Remove the hull's collision shapes."""
    for link in urdf.iter("link"):
        for collision in link.findall("collision"):
            link.remove(collision)


def _mirror_and_move(urdf: ElementTree.ElementTree[ElementTree.Element], place: SprocketPlace) -> None:
    """Mirror arms, sprocket and idler from right to left, and move both sprockets to a place."""
    origins = {joint.get("name", ""): joint.find("origin") for joint in urdf.iter("joint")}
    for name, origin in origins.items():
        other = origins.get(name.replace("left", SIDE))
        if name.startswith(("arm_left", "sprocket_left", "idler_left")) and None not in (origin, other):
            assert origin is not None and other is not None
            x, y, z = other.attrib["xyz"].split()
            origin.set("xyz", f"{x} {-float(y)} {z}")
    for name, origin in origins.items():
        if name.startswith("sprocket_") and origin is not None:
            ahead, y, up = origin.attrib["xyz"].split()
            origin.set("xyz", f"{float(ahead) + place.x} {y} {float(up) + place.z}")
