"""Attia's vehicle in the native engine, as a tree: mimic joints stand in for its closed loops.

Arms of equal length and parallel keep their knuckle upright. So the knuckle turns on the lower arm by minus
that one's angle, and the upper arm turns like the lower one: exactly what URDF's `<mimic>` says. A tyre is
a belt at rest below its wheel with one long grouser, which has the tyre's stiffness and damping. Its wheel
turns freely, so that the grouser lies flat, and presses on the middle of the wheel like a tyre.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from segtrack import terrain
from segtrack.description import VehicleDescription, load_vehicle
from segtrack.reproduce.attia import vehicle
from segtrack.reproduce.attia.vehicle import FRONT, REAR, Axle, HeaveReading, WheelRest
from segtrack.robot import Robot
from segtrack.world import World

_PAD, _PULLEY, _PAD_HEIGHT = 0.2, 0.05, 0.1
"""Length of a pad's line, radius of its ends and height of its grouser [m]."""
_BELT = 1e-6
"""Mass of a pad's belt, which stands for none [kg]."""


@contextmanager
def native_vehicle() -> Iterator[VehicleDescription]:
    """Yield the vehicle; its release pose has the body at `REST_HEIGHT` + `RELEASE`."""
    front, rear = vehicle.rest()
    urdf = [_link("chassis", vehicle.CHASSIS, (0, 0, 0))]
    joints: dict[str, Any] = {}
    tracks: dict[str, Any] = {}
    for name, side in (("left", 1), ("right", -1)):
        urdf += [*_front(f"front_{name}", side, front), *_rear(f"rear_{name}", side, rear)]
        joints |= _corner_joints(f"front_{name}", FRONT, front)
        joints |= _corner_joints(f"rear_{name}", REAR, rear)
        joints[f"rear_{name}_wheel"] = {"initial_position": -rear.start_angle}
        tracks |= {f"{end}_{name}": _tyre(f"{end}_{name}_wheel_link") for end in ("front", "rear")}
    with tempfile.TemporaryDirectory(prefix="segtrack_") as folder:
        (Path(folder) / "attia.urdf").write_text(f'<robot name="attia">{"".join(urdf)}</robot>')
        data = {
            "name": "attia",
            "source": "Attia 2005, tables 2.1 to 2.3",
            "body": {"urdf": "attia.urdf"},
            "joints": joints,
            "tracks": tracks,
        }
        file = Path(folder) / "attia.yaml"
        file.write_text(yaml.safe_dump(data))
        yield load_vehicle(file)


def release(times: Sequence[float], time_step: float) -> tuple[HeaveReading, ...]:
    """Release the vehicle, and return its states at evenly spaced times (n,) [s] from 0."""
    with native_vehicle() as description, World(engine="native", time_step=time_step) as world:
        world.add_terrain(terrain.Plane())
        height = vehicle.REST_HEIGHT + vehicle.RELEASE
        robot = world.add_vehicle(description, position=(0, 0, height), track_model="compliant")
        found = [_read(robot)]
        for before, after in zip(times, times[1:], strict=False):
            world.run(after - before)
            found.append(_read(robot))
    return tuple(found)


def _read(robot: Robot) -> HeaveReading:
    state = robot.state
    loads = [
        float(robot.tracks[f"{end}_left"].read_grousers().normal_force.sum()) for end in ("front", "rear")
    ]
    struts = [
        -robot.joints[f"{end}_left_arm"].passive_force / axle.lever
        for end, axle in (("front", FRONT), ("rear", REAR))
    ]
    return HeaveReading(float(state.position[2]), float(state.pitch), *loads, *struts)


def _corner_joints(name: str, axle: Axle, state: WheelRest) -> dict[str, Any]:
    """Joints of a corner for the vehicle file: the strut at the arm, and a wheel that turns freely."""
    spring = {"stiffness": vehicle.STRUT_STIFFNESS * axle.lever**2, "preload": -state.strut * axle.lever}
    damper = {"damping": vehicle.STRUT_DAMPING * axle.lever**2}
    arm = {"spring": spring, "damper": damper, "initial_position": state.start_angle}
    return {f"{name}_arm": arm, f"{name}_wheel": {}}


def _front(name: str, side: int, state: WheelRest) -> Iterator[str]:
    """Links and joints of one front corner as URDF text."""
    length, up, arm = FRONT.arm, vehicle.BALL_HEIGHT, f"{name}_arm"
    across, middle = (0, side * length, 0), (0, side * length / 2, 0)
    place = FRONT.x, side * (vehicle.HALF_TRACK - length), state.hub_height - vehicle.REST_HEIGHT
    axis, (x, y, z) = (side, 0, 0), place
    yield _link(f"{arm}_link", vehicle.ARM, middle)
    yield _link(f"{name}_upper_link", vehicle.ARM, middle)
    yield _link(f"{name}_knuckle_link", vehicle.KNUCKLE, (0, 0, up))
    yield _link(f"{name}_wheel_link", FRONT.wheel, (0, 0, 0))
    yield _joint(arm, "chassis", (x, y, z - up), axis)
    yield _joint(f"{name}_upper", "chassis", (x, y, z + up), axis, (arm, 1))
    yield _joint(f"{name}_knuckle", f"{arm}_link", across, axis, (arm, -1))
    yield _joint(f"{name}_wheel", f"{name}_knuckle_link", (0, 0, up), (0, 1, 0))


def _rear(name: str, side: int, state: WheelRest) -> Iterator[str]:
    place = REAR.x + REAR.arm, side * vehicle.HALF_TRACK, state.hub_height - vehicle.REST_HEIGHT
    yield _link(f"{name}_arm_link", vehicle.ARM, (-REAR.arm / 2, 0, 0))
    yield _link(f"{name}_wheel_link", REAR.wheel, (0, 0, 0))
    yield _joint(f"{name}_arm", "chassis", place, (0, 1, 0))
    yield _joint(f"{name}_wheel", f"{name}_arm_link", (-REAR.arm, 0, 0), (0, 1, 0))


def _tyre(parent: str) -> dict[str, Any]:
    """Pad that stands for a tyre: a track with its only grouser below the wheel."""
    height = _PAD_HEIGHT + _PULLEY - vehicle.TYRE_RADIUS
    ends = [{"x": x, "z": height, "radius": _PULLEY} for x in (-_PAD / 2, _PAD / 2)]
    return {
        "mount": {"parent": parent},
        "path": {"pulleys": ends},
        "width": _PAD,
        "belt": {"mass": _BELT},
        "grousers": {"count": 1, "shape": {"box": {"length": _PAD, "height": _PAD_HEIGHT}}},
        "drive": {"max_force": 1.0, "max_speed": 1.0},
        "contact": {
            "friction": 0.0,
            "stiffness": vehicle.TYRE_STIFFNESS,
            "damping": vehicle.TYRE_DAMPING,
        },
    }


def _link(name: str, properties: tuple[float, tuple[float, float, float]], center: Sequence[float]) -> str:
    mass, (x, y, z) = properties
    return (
        f'<link name="{name}"><inertial><origin xyz="{_words(center)}"/><mass value="{mass!r}"/>'
        f'<inertia ixx="{x!r}" ixy="0" ixz="0" iyy="{y!r}" iyz="0" izz="{z!r}"/></inertial></link>'
    )


def _joint(
    name: str,
    parent: str,
    place: Sequence[float],
    axis: Sequence[float],
    follows: tuple[str, int] | None = None,
) -> str:
    mimic = "" if follows is None else f'<mimic joint="{follows[0]}" multiplier="{follows[1]}"/>'
    return (
        f'<joint name="{name}" type="continuous"><parent link="{parent}"/><child link="{name}_link"/>'
        f'<origin xyz="{_words(place)}"/><axis xyz="{_words(axis)}"/>{mimic}</joint>'
    )


def _words(numbers: Sequence[float]) -> str:
    return " ".join(repr(float(number)) for number in numbers)
