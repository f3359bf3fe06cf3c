"""A tracked robot in MuJoCo: driven wheels for tracks, on level ground, at a step or on a slope.

Nothing of it is segtrack's: rigid wheels in a row, MuJoCo's contacts, its own drives. It is the truth of
`segtrack reproduce verdict`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from segtrack.errors import MissingPackageError

Array = NDArray[np.float64]
MASS, CENTER, SIZE = 12.0, (0.02, 0.0, 0.015), (0.50, 0.28, 0.12)
"""Mass of the body [kg], its centre of mass and its size [m]; the wheels weigh 2 kg a side."""
RADIUS, BETWEEN, WIDTH, GAUGE = 0.088, 0.50, 0.09, 0.38
"""Radius of the wheels, first to last wheel, their width, and middle to middle of both sides [m]."""
NOSE_X, NOSE_Z, NOSE_RADIUS = 0.42, 0.11, 0.049
"""Foremost wheel: place in the body frame and radius [m]; others lead up to it from the front wheel."""
FRICTION, LAG = 0.9, 0.12
"""Friction of the wheels, and lag of the drives behind their commands [s]."""
_LEVEL, _RISING, _SIDE_MASS = 24, 10, 2.0
_WHEELS = _LEVEL + _RISING
_SIDES = ("left", GAUGE / 2), ("right", -GAUGE / 2)
_STEP, _SAMPLE, _COMMAND = 0.001, 5, 50
"""Time step [s], and steps from sample to sample and from command to command."""
_DAMPING, _STIFFNESS, _TORQUE = 40.0, 400.0, 90.0
"""Torque of a side's drive over its error of speed [N m s/rad] and of angle [N m/rad]; its limit [N m]."""
_DRIVEN = 12
"""Wheel that a side's drive turns; the others of the side are coupled to it."""


class RoverGround(NamedTuple):
    """Ground that rises once, at an x: a step, or a slope to a level top.

    Attributes:
        x: Place of the rise, along x [m].
        height: Height of a step [m].
        slope: Angle of a slope [rad]; 0 for a step.
        length: Length of the slope along it [m].
    """

    x: float = 0.0
    height: float = 0.0
    slope: float = 0.0
    length: float = 0.0


@dataclass(frozen=True, eq=False)
class Truth:
    """Motion of the robot.

    Attributes:
        times: Times (n,) [s].
        positions: Positions of the body frame in the world (n, 3) [m].
        orientations: Rotations from the body to the world, quaternions (x, y, z, w) (n, 4).
        rates: Angular velocities in the body frame (n, 3) [rad/s].
        travels: Travel of the belts, left and right (n, 2) [m].
        commands: Commanded speeds of the belts (n, 2) [m/s].
    """

    times: Array
    positions: Array
    orientations: Array
    rates: Array
    travels: Array
    commands: Array

    @property
    def turned_over_no_slip(self) -> float:
        """Yaw at the end over what belts without slip turn [-]."""
        yaw = np.unwrap(Rotation.from_quat(self.orientations).as_euler("ZYX")[:, 0])
        left, right = self.travels[-1] - self.travels[0]
        return float((yaw[-1] - yaw[0]) / ((right - left) / GAUGE))


def drive(ground: RoverGround, command: Callable[[float], tuple[float, float]], duration: float) -> Truth:
    """Simulate a drive.

    Args:
        ground: Ground that it drives on.
        command: Speeds of the left and right belt at a time [m/s]; held for 50 ms.
        duration: Duration [s].

    Raises:
        MissingPackageError: MuJoCo is not installed.
    """
    try:
        import mujoco
    except ImportError:
        raise MissingPackageError("the truth of this experiment", "mujoco", "mujoco") from None
    model = mujoco.MjModel.from_xml_string(_xml(ground))
    data = mujoco.MjData(model)
    driven = np.array([_DRIVEN, _WHEELS + _DRIVEN])
    speeds, behind, rows = np.zeros(2), np.zeros(2), []
    told = command(0.0)
    share = 1.0 - math.exp(-_STEP / LAG)
    for step in range(round(duration / _STEP) + 1):
        if step % _COMMAND == 0:
            told = command(step * _STEP)
        if step % _SAMPLE == 0:
            rows.append(_sample(step * _STEP, data, RADIUS * data.qpos[7 + driven], told))
        speeds += (np.array(told) - speeds) * share
        error = speeds / RADIUS - data.qvel[6 + driven]
        behind += error * _STEP
        data.ctrl[:] = _DAMPING * error + _STIFFNESS * behind
        mujoco.mj_step(model, data)
    times, positions, orientations, rates, travels, commands = np.split(
        np.array(rows), np.cumsum([1, 3, 4, 3, 2]), axis=1
    )
    return Truth(times[:, 0], positions, orientations, rates, travels, commands)


def _sample(time: float, data: Any, travels: Array, told: tuple[float, float]) -> Array:
    """Time, pose, rates, travels and commands, before the step (15,)."""
    w, x, y, z = data.qpos[3:7]
    return np.array([time, *data.qpos[:3], x, y, z, w, *data.qvel[3:6], *travels, *told])


class _Wheel(NamedTuple):
    x: float
    z: float
    radius: float


def _row_of_wheels() -> list[_Wheel]:
    """Wheels of a side, from the rear one to the nose."""
    level = [_Wheel(x, 0.0, RADIUS) for x in np.linspace(-BETWEEN / 2, BETWEEN / 2, _LEVEL).tolist()]
    shares = np.linspace(0.0, 1.0, _RISING + 1)[1:].tolist()
    front = BETWEEN / 2
    rising = [
        _Wheel(front + share * (NOSE_X - front), share * NOSE_Z, RADIUS + share * (NOSE_RADIUS - RADIUS))
        for share in shares
    ]
    return level + rising


def _xml(ground: RoverGround) -> str:
    named = [(f"{side}{i}", y, wheel) for side, y in _SIDES for i, wheel in enumerate(_row_of_wheels())]
    wheels = "".join(_wheel(name, y, wheel) for name, y, wheel in named)
    drives = "".join(
        f'<motor joint="{side}{_DRIVEN}" ctrlrange="-{_TORQUE} {_TORQUE}"/>' for side, _ in _SIDES
    )
    coupled = "".join(
        f'<joint joint1="{side}{i}" joint2="{side}{_DRIVEN}" polycoef="0 {RADIUS / wheel.radius} 0 0 0" '
        f'solref="0.002 1" solimp="0.9995 0.9999 0.001 0.5 2"/>'
        for side, _ in _SIDES
        for i, wheel in enumerate(_row_of_wheels())
        if i != _DRIVEN
    )
    length, width, height = SIZE
    squares = (width**2 + height**2, length**2 + height**2, length**2 + width**2)
    inertia = " ".join(f"{MASS / 12 * square:g}" for square in squares)
    return f"""<mujoco><option timestep="{_STEP}" integrator="Euler" cone="elliptic" impratio="3"/>
<default><geom solref="0.003 1" contype="2" conaffinity="1" friction="0.01 0.002 0.0001"/></default>
<worldbody><geom type="plane" size="40 40 .1"/>{_rise(ground)}
<body name="body" pos="0 0 {RADIUS}"><freejoint/>
<inertial pos="{CENTER[0]} {CENTER[1]} {CENTER[2]}" mass="{MASS}" diaginertia="{inertia}"/>{wheels}</body>
</worldbody><equality>{coupled}</equality><actuator>{drives}</actuator></mujoco>"""


def _wheel(name: str, y: float, wheel: _Wheel) -> str:
    return (
        f'<body pos="{wheel.x} {y} {wheel.z}">'
        f'<joint name="{name}" type="hinge" axis="0 1 0" damping="0.02" armature="0.002"/>'
        f'<geom type="cylinder" size="{wheel.radius} {WIDTH / 2}" euler="90 0 0" '
        f'mass="{_SIDE_MASS / _WHEELS}" contype="1" conaffinity="2" '
        f'friction="{FRICTION} 0.002 0.0001"/></body>'
    )


def _rise(ground: RoverGround) -> str:
    """Boxes of a step, its edge rounded, or of a slope and its top."""
    half, edge = 3.0, 0.008
    if ground.height > 0:
        lower = (ground.height - edge) / 2
        axis = f"{ground.x + edge} {{}} {ground.height - edge}"
        return (
            f'<geom type="box" pos="{ground.x + edge + half} 0 {ground.height / 2}" '
            f'size="{half} 1.2 {ground.height / 2}"/>'
            f'<geom type="box" pos="{ground.x + half} 0 {lower}" size="{half} 1.2 {lower}"/>'
            f'<geom type="capsule" fromto="{axis.format(-1.2)} {axis.format(1.2)}" size="{edge}"/>'
        )
    if ground.slope <= 0:
        return ""
    cos, sin, run, thick = math.cos(ground.slope), math.sin(ground.slope), ground.length / 2, 0.5
    x, z = ground.x + run * cos + thick * sin, run * sin - thick * cos
    top = ground.length * sin
    return (
        f'<geom type="box" pos="{x} 0 {z}" euler="0 {-math.degrees(ground.slope)} 0" '
        f'size="{run} 1.2 {thick}"/>'
        f'<geom type="box" pos="{ground.x + ground.length * cos + half} 0 {top / 2}" '
        f'size="{half} 1.2 {top / 2}"/>'
    )
