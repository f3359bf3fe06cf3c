"""Vehicles, ground and commands that Hypothesis draws, their mirror images, and what laws speak of.

The mirror image has left and right swapped: y -> -y, and so the signs of yaw and roll.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from friction_in_change import rows_of_contacts
from hypothesis import strategies as st
from numpy.typing import NDArray

import segtrack
from segtrack import terrain
from segtrack.description import VehicleDescription
from segtrack.ground import active_contacts as contacts
from segtrack.robot import Robot

G = 9.81
DURATION = 2.0
Vector = NDArray[np.float64]


def between(low: float, high: float) -> st.SearchStrategy[float]:
    return st.floats(low, high)


@st.composite
def tracks(draw: st.DrawFn, friction: float, force: float) -> dict[str, Any]:
    """A track of two or three pulleys, smooth or with grousers; x, width and belt as they come."""
    radius = draw(between(0.05, 0.12))
    half = radius * draw(between(1.5, 4.0))
    pulleys = [{"x": -half, "z": 0.0, "radius": radius}, {"x": half, "z": 0.0, "radius": radius}]
    if draw(st.booleans()):
        pulleys[1] |= {"z": 0.3 * radius, "radius": 0.8 * radius}
    if draw(st.booleans()):
        pulleys.append({"x": 0.0, "z": 0.8 * radius, "radius": 0.5 * radius})
    contact = {"friction": friction, "restitution": draw(st.sampled_from([0.0, 0.0, 0.3]))}
    if draw(st.booleans()):
        contact["lateral_friction"] = friction * draw(between(0.4, 1.5))
    track = {
        "path": {"pulleys": pulleys},
        "width": draw(between(0.03, 0.12)),
        "belt": {"mass": draw(between(0.3, 3.0)), "thickness": 0.01},
        "drive": {
            "max_force": force * draw(between(0.2, 2.0)),
            "max_speed": draw(between(0.3, 1.5)),
            "reflected_mass": draw(between(0.0, 2.0)),
        },
        "contact": contact,
    }
    if draw(st.booleans()):
        height = draw(between(0.004, 0.015))
        shape = draw(
            st.sampled_from(
                [
                    {"box": {"length": 0.005, "height": height}},
                    {"trapezoid": {"base": 0.012, "top": 0.004, "height": height}},
                ]
            )
        )
        track["grousers"] = {"count": draw(st.integers(20, 40)), "shape": shape}
    return track


@st.composite
def vehicles(draw: st.DrawFn, pairs: int, flippers: bool) -> dict[str, Any]:
    """A vehicle file: pairs of tracks of the body, a pair of flippers or none, balanced to one side."""
    mass, friction = draw(between(8.0, 60.0)), draw(between(0.1, 1.0))
    data: dict[str, Any] = {
        "name": "drawn",
        "source": "hypothesis",
        "body": {
            "mass": mass,
            "size": [draw(between(0.3, 0.7)), draw(between(0.15, 0.3)), draw(between(0.05, 0.15))],
            "center_of_mass": [draw(between(-0.05, 0.05)), draw(between(-0.03, 0.03)), draw(between(0, 0.1))],
        },
        "tracks": {},
    }
    aside = 0.16
    for i in range(pairs):
        track = draw(tracks(friction, mass * G / (2 * pairs)))
        x, y = draw(between(-0.1, 0.1)), aside + track["width"] / 2
        aside += track["width"] + 0.01
        for side, sign in (("left", 1.0), ("right", -1.0)):
            data["tracks"][f"{side}_{i}"] = track | {"mount": {"xyz": [x, sign * y, 0.0]}}
    if flippers:
        track = draw(tracks(friction, mass * G / 4))
        for side, sign in (("left", 1.0), ("right", -1.0)):
            data.setdefault("flippers", {})[side] = {
                "mount": {"xyz": [0.2, sign * (aside + track["width"] / 2), 0.0]},
                "mass": 1.0 + track["drive"]["reflected_mass"],
                "size": [0.3, 0.02, 0.1],
                "center_of_mass": [0.05, 0.01 * sign, 0.0],
                "limits": [-1.5, 1.5],
                "max_torque": 20.0,
                "max_speed": 1.0,
                "tracks": {"belt": track},
            }
    return data


def mirrored(data: dict[str, Any]) -> dict[str, Any]:
    """A vehicle file with y -> -y: what is called left is on the right."""

    def flipped(part: dict[str, Any], *keys: str) -> dict[str, Any]:
        for key in keys:
            x, y, z = part[key]
            part = part | {key: [x, -y, z]}
        return part

    def mount(part: dict[str, Any]) -> dict[str, Any]:
        return part | {"mount": flipped(part["mount"], "xyz")}

    return data | {
        "body": flipped(data["body"], "center_of_mass"),
        "tracks": {name: mount(track) for name, track in data["tracks"].items()},
        "flippers": {
            name: mount(flipped(flipper, "center_of_mass"))
            for name, flipper in data.get("flippers", {}).items()
        },
    }


class Ground(NamedTuple):
    """Ground that can be mirrored and shifted along x.

    Attributes:
        kind: `plane`, `step`, `boxes`, `relief` or `soil`.
        friction: Friction [-].
        boxes: Their x, y, length, width, height [m] and yaw [rad].
        relief: Seed of a relief, whose heights by x and by y are added up: its cells are flat, so that
            it does not matter along which diagonal they are cut.
        is_mirrored: True if the relief is.
        slope: Slope of the gravity along x and y [-].
    """

    kind: str
    friction: float
    boxes: tuple[tuple[float, ...], ...]
    relief: int
    slope: tuple[float, float]
    is_mirrored: bool = False

    def mirrored(self) -> Ground:
        boxes = tuple((x, -y, *sizes, -yaw) for x, y, *sizes, yaw in self.boxes)
        slope = self.slope[0], -self.slope[1]
        return self._replace(boxes=boxes, slope=slope, is_mirrored=not self.is_mirrored)

    def terrain(self, shift: float) -> terrain.Terrain:
        """Terrain, moved along x [m]."""
        given = {"friction": self.friction}
        if self.kind == "step":
            return terrain.Step(height=0.08, distance=0.6 + shift, **given)
        if self.kind == "boxes":
            names = "x", "y", "length", "width", "height", "yaw"
            boxes = [dict(zip(names, (box[0] + shift, *box[1:]), strict=True)) for box in self.boxes]
            return terrain.Boxes(boxes=tuple(terrain.GroundBox(**box) for box in boxes), **given)
        if self.kind == "relief":
            ahead, across = np.random.default_rng(self.relief).uniform(0.0, 0.05, (2, 29))
            heights = np.add.outer(ahead, across[::-1] if self.is_mirrored else across)
            return terrain.Heightfield(heights=heights, spacing=0.25, center=(shift, 0.0), **given)
        soil = terrain.find_soil("sandy loam 15%") if self.kind == "soil" else None
        return terrain.Plane(soil=soil, **given)

    @property
    def shift(self) -> float:
        """Distance by which it can be moved [m]; floors under steps and boxes end 50 m from the origin."""
        return 30.0 if self.kind in ("step", "boxes") else 100.0

    @property
    def gravity(self) -> Vector:
        """Gravity in the world (3,) [m/s^2]."""
        return G * np.array((*self.slope, -1.0)) / math.hypot(*self.slope, 1.0)


@st.composite
def grounds(draw: st.DrawFn, *kinds: str) -> Ground:
    """Ground of one of the kinds, on a slope or not."""
    kind, level = draw(st.sampled_from(kinds)), draw(st.booleans())
    places, sizes = (between(-0.8, 0.8), between(-0.6, 0.6)), (between(0.05, 0.6), between(0.05, 0.6))
    boxes = st.lists(
        st.tuples(*places, *sizes, between(0.02, 0.12), between(-3.0, 3.0)), min_size=1, max_size=8
    )
    return Ground(
        kind,
        draw(between(0.3, 1.0)),
        tuple(draw(boxes)) if kind == "boxes" else (),
        draw(st.integers(0, 10**6)) if kind == "relief" else 0,
        (0.0, 0.0) if level else (draw(between(-0.5, 0.5)), draw(between(-0.5, 0.5))),
    )


@dataclass(frozen=True)
class Scene:
    """A vehicle that is dropped on ground and commanded at random.

    Attributes:
        vehicle: Its file.
        track_model: `compliant` or `surface`.
        ground: What it is dropped on.
        yaw: Heading at the start [rad].
        seed: Seed of the commands, of which each holds for 1 to 50 ms.
        step: Time step [s].
    """

    vehicle: dict[str, Any]
    track_model: str
    ground: Ground
    yaw: float
    seed: int
    step: float

    @property
    def description(self) -> VehicleDescription:
        return VehicleDescription.model_validate(self.vehicle)

    def mirrored(self) -> Scene:
        """With left and right swapped; commands have to be as well."""
        return replace(self, vehicle=mirrored(self.vehicle), ground=self.ground.mirrored(), yaw=-self.yaw)

    def begin(self, shift: float = 0.0, height: float | None = None) -> tuple[segtrack.World, Robot]:
        """A world with the vehicle 1 cm above the ground, or at a height [m]."""
        world = segtrack.World(engine="native", time_step=self.step)
        world.add_terrain(self.ground.terrain(shift))
        robot = world.add_vehicle(
            self.description, track_model=self.track_model, position=(shift, 0.0), yaw=self.yaw
        )
        x, y, z = robot.state.position
        above = z + 0.01 if height is None else height
        robot.reset_base_pose((x, y, above), robot.state.orientation)
        world.set_gravity(tuple(self.ground.gravity.tolist()))
        return world, robot

    def run(self, world: segtrack.World, robot: Robot, swapped: bool = False) -> Iterator[None]:
        """Take the steps of 2 s, one at a time, with left and right commands swapped or not."""
        draw, left = random.Random(self.seed), 0
        for _ in range(round(DURATION / self.step)):
            if left == 0:
                left = max(1, round(draw.uniform(0.001, 0.05) / self.step))
                command_at_random(robot, draw, swapped)
            left -= 1
            world.step()
            yield


def command_at_random(robot: Robot, draw: random.Random, swapped: bool) -> None:
    """Speeds, throttles, brakes or no drive at all of both sides; flippers that go elsewhere."""
    names = ("right", "left") if swapped else ("left", "right")
    sides = {name: draw.choice((draw.uniform(-1.5, 1.5), 0.0, 1.5, -1.5)) for name in names}
    if draw.random() < 0.7:
        robot.set_belt_speed(**sides)
    else:
        pedals = {name: min(max(value, -1.0), 1.0) for name, value in sides.items()}
        brakes = {f"{name}_brake": draw.choice((0.0, draw.random())) for name in names}
        robot.set_throttle(**pedals, **brakes)
    if robot.flippers and draw.random() < 0.3:
        robot.set_flippers(**{name: draw.uniform(-1.0, 1.0) for name in robot.flippers})


@st.composite
def scenes(draw: st.DrawFn, *kinds: str) -> Scene:
    """Scenes on ground of one of the kinds."""
    ground = draw(grounds(*kinds))
    return Scene(
        draw(vehicles(draw(st.integers(1, 3)), draw(st.booleans()))),
        "compliant" if ground.kind == "soil" else draw(st.sampled_from(["compliant", "surface"])),
        ground,
        draw(between(-math.pi, math.pi)),
        draw(st.integers(0, 10**6)),
        draw(st.sampled_from([0.001, 0.002, 0.004])),
    )


class Account(NamedTuple):
    """What a vehicle has.

    Attributes:
        momentum: (3,) [kg m/s]
        angular_momentum: About the world's origin (3,) [kg m^2/s].
        energy: Kinetic and potential [J].
        centers: Centres of its links in the world (L, 3) [m].
        turning: Largest angular velocity of a link [rad/s].
        internal: Sum of the sizes of the links' momenta that levers from the root on give them, each lever's
            own: a body and its flippers that turn against each other do not cancel [kg m/s].
        spins: Sum of the sizes of angular momenta, of links and belts each, alike [kg m^2/s].
    """

    momentum: Vector
    angular_momentum: Vector
    energy: float
    centers: Vector
    turning: float
    internal: float
    spins: float


def account_of(robot: Robot, gravity: Vector) -> Account:
    """Sums over all links and belts."""
    bodies, model = robot.bodies(), robot.model
    tree, work = model.tree, model._work
    turns, belts = work.rotations, tree.spin_momenta * model.state.speeds[0]
    own = np.einsum("lij,ljk,lmk,lm->li", turns, tree.inertias, turns, work.angular_velocities)
    momenta = bodies.masses[:, None] * bodies.velocities
    angular = np.sum(own + np.cross(bodies.positions, momenta), axis=0) + belts @ work.belt_rotations[:, :, 1]
    swept = np.zeros(len(tree.masses))
    for link, parent in enumerate(tree.joint_parents, start=1):
        point = work.joint_points[link - 1]
        out = np.cross(work.angular_velocities[parent], point - bodies.positions[parent])
        lever = np.cross(work.angular_velocities[link], bodies.positions[link] - point)
        swept[link] = swept[parent] + np.linalg.norm(out) + np.linalg.norm(lever)
    inner = bodies.masses * swept
    orbits = sizes(bodies.positions - bodies.positions[0]) * inner
    return Account(
        momenta.sum(axis=0),
        angular,
        bodies.kinetic_energy - bodies.masses @ bodies.positions @ gravity,
        bodies.positions,
        sizes(work.angular_velocities).max(),
        inner.sum(),
        sizes(own).sum() + orbits.sum() + np.abs(belts).sum(),
    )


def sizes(vectors: Vector) -> Vector:
    """Lengths of vectors (n, 3)."""
    return np.linalg.norm(vectors, axis=1)


class ContactForces(NamedTuple):
    """Forces of the ground in the last step, as it was solved.

    Attributes:
        links: Links that they act on (n,).
        levers: Places from the links' centres at its beginning (n, 3) [m].
        forces: (n, 3) [N]
        normal: Normal forces (n,) [N].
        friction: Sizes of friction, across the track over the lateral ratio (n,) [N].
        limits: Limits of friction (n,) [N].
        coefficients: Coulomb coefficients in the direction in which they are larger (n,) [-].
    """

    links: NDArray[np.intp]
    levers: Vector
    forces: Vector
    normal: Vector
    friction: Vector
    limits: Vector
    coefficients: Vector


def contact_forces(robot: Robot) -> ContactForces:
    """Anew from what the step's contacts hold, by the formulas at the head of `active_contacts`."""
    work, (rows, link, belt) = robot.model._work, rows_of_contacts(robot)

    def vectors(first: int) -> Vector:
        return rows[:, first : first + 3]

    lever, normal, less = vectors(contacts.LEVER), vectors(contacts.NORMAL), rows[:, contacts.LESS, None]
    of_belt = np.where(belt >= 0, work.belt_changes[belt], 0.0)[:, None]
    along = np.where(belt[:, None] >= 0, vectors(contacts.ALONG_BELT), 0.0)
    change = work.changes[link] + np.cross(work.turns[link], lever) + of_belt * along
    rising = np.sum(change * normal, axis=1)
    slip = change - rising[:, None] * normal
    across = np.where(less != 0.0, vectors(contacts.ACROSS), 0.0)
    # s = s_0 - D_t dv_t, with r^2 D_t across the track.
    grip = slip - less * np.sum(slip * across, axis=1, keepdims=True) * across
    holding = rows[:, contacts.CUT, None] * (vectors(contacts.HOLDING) - rows[:, contacts.GRIP, None] * grip)
    drag = rows[:, contacts.DRAG, None]
    dragging = np.where(drag != 0.0, vectors(contacts.DRAGGING), 0.0) - drag * slip
    pushing = rows[:, contacts.FORCE] - rows[:, contacts.RESISTANCE] * rising
    pressing = rows[:, contacts.ACTS] * pushing
    # The square of friction on the ellipse: what is across counts 1 / r^2 = 1 + less / (1 - less) times.
    aside = np.sum(holding * across, axis=1)
    square = np.sum(holding**2, axis=1) + (less / (1.0 - less))[:, 0] * aside**2
    limits = np.where(pushing > 0.0, rows[:, contacts.STRENGTH] + rows[:, contacts.FRICTION] * pushing, 0.0)
    forces = pressing[:, None] * normal + holding + dragging
    coefficients = rows[:, contacts.FRICTION] * np.sqrt(np.maximum(1.0 - less[:, 0], 1.0))
    return ContactForces(link, lever.copy(), forces, pressing, np.sqrt(square), limits, coefficients)
