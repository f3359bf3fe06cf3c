"""Vehicles with an arm of six joints on their body, to see what joints cost."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from segtrack.description import Body, VehicleDescription
from segtrack.description.joints import JointSpec, ServoSpec

_PARTS = (
    ("yaw", "base", (0.1, 0.0, 0.1), "0 0 1", 1.5, 0.05),
    ("shoulder", "yaw_link", (0.0, 0.0, 0.1), "0 1 0", 2.0, 0.15),
    ("elbow", "shoulder_link", (0.0, 0.0, 0.3), "0 1 0", 1.5, 0.12),
    ("roll", "elbow_link", (0.0, 0.0, 0.25), "0 0 1", 0.8, 0.05),
    ("bend", "roll_link", (0.0, 0.0, 0.1), "0 1 0", 0.6, 0.05),
    ("flange", "bend_link", (0.0, 0.0, 0.1), "0 0 1", 0.4, 0.03),
)
"""Joints of an arm of 6.8 kg and 0.95 m: name, parent link, place [m], axis, mass [kg] of the link that it
moves, and height of that one's centre of mass [m]."""


@contextmanager
def with_arm(vehicle: VehicleDescription) -> Iterator[VehicleDescription]:
    """Yield a vehicle, whose body is a box, with an arm on it whose servos hold 60 N m each."""
    body = vehicle.body
    assert body.size is not None
    length, width, height = body.size
    third = body.total_mass / 12
    inertia = third * (width**2 + height**2), third * (length**2 + height**2), third * (length**2 + width**2)
    box = f'<collision><geometry><box size="{length} {width} {height}"/></geometry></collision>'
    urdf = _link("base", body.total_mass, body.center_of_mass, inertia, box)
    for name, parent, place, axis, mass, center in _PARTS:
        urdf += _link(f"{name}_link", mass, (0.0, 0.0, center), (0.01, 0.012, 0.005))
        urdf += (
            f'<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{name}_link"/>'
            f'<origin xyz="{_words(place)}"/><axis xyz="{axis}"/>'
            '<limit lower="-3" upper="3" effort="60" velocity="2"/></joint>'
        )
    with tempfile.TemporaryDirectory(prefix="segtrack_") as folder:
        file = Path(folder) / "armed.urdf"
        file.write_text(f'<robot name="armed">{urdf}</robot>')
        joints = {name: JointSpec(servo=ServoSpec()) for name, *_ in _PARTS}
        armed = Body.model_validate({"urdf": file.name}, context={"folder": Path(folder)})
        yield vehicle.model_copy(update={"body": armed, "joints": joints})


def _link(
    name: str,
    mass: float,
    center: tuple[float, ...],
    inertia: tuple[float, ...],
    collision: str = "",
) -> str:
    x, y, z = inertia
    return (
        f'<link name="{name}"><inertial><origin xyz="{_words(center)}"/><mass value="{mass}"/>'
        f'<inertia ixx="{x}" ixy="0" ixz="0" iyy="{y}" iyz="0" izz="{z}"/></inertial>{collision}</link>'
    )


def _words(numbers: tuple[float, ...]) -> str:
    return " ".join(map(str, numbers))
