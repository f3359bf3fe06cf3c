"""A track's wheels, compiled: where they are, how they move, and who bears what links do to them.

Wheels lie in the x-z plane of their carrier's track frame, their axles along its y. What a link
does to a wheel is shared out so that linear and angular momentum of links, wheels and carrier
together do not change: its moment about the axle turns the wheel, its component along a
tensioner's direction moves the wheel, and the carrier takes the rest. A wheel's speed is the
component of its angular velocity along the axle, seen from the world; turning its axle takes
gyroscopic moments. What the carrier's acceleration does to a wheel on its tensioner is left out.
"""

from __future__ import annotations

from segtrack.chain.parent_frames import Carriers, Reaction
from segtrack.chain.running_gear.arrays import WheelLoads, WheelMotion, Wheels
from segtrack.chain.running_gear.wheel_kinematics import hub_of
from segtrack.ground.vectors import axis, compiled, cross, dot, row


@compiled
def start_wheels(
    carriers: Carriers, wheels: Wheels, motion: WheelMotion, reaction: Reaction, wheel_loads: WheelLoads
) -> None:
    """Begin with what tensioners do to wheels and carrier, and nothing else."""
    for c in range(len(reaction.force)):
        for k in range(3):
            reaction.force[c, k] = reaction.torque[c, k] = 0.0
    for w in range(len(wheels.inertias)):
        wheel_loads.torques[w] = wheel_loads.slides[w] = 0.0
        if wheels.slide_masses[w] > 0:
            size = wheels.preloads[w] - wheels.slide_stiffness[w] * motion.slides[w]
            size -= wheels.slide_damping[w] * motion.slide_speeds[w]
            hub = hub_of(carriers, wheels, motion, w)
            c, a = wheels.carriers[w], hub.along
            p = carriers.position[c]
            turn = cross((hub.position[0] - p[0], hub.position[1] - p[1], hub.position[2] - p[2]), a)
            wheel_loads.slides[w] = size
            for k in range(3):
                reaction.force[c, k] -= size * a[k]
                reaction.torque[c, k] -= size * turn[k]


@compiled
def kick_wheels(
    carriers: Carriers,
    wheels: Wheels,
    motion: WheelMotion,
    wheel_loads: WheelLoads,
    reaction: Reaction,
    driven: int,
    target: float,
    limit: float,
    sub_step: float,
    kept: float,
) -> float:
    """Change the wheels' speeds by what acts on them for `sub_step` [s], and drive one of them.

    Args:
        carriers: Of the wheels.
        wheels: W of them.
        motion: The wheels'.
        wheel_loads: On the wheels.
        reaction: To which the drive's torque on the carrier is added.
        driven: The wheel on the drive.
        target: Its speed relative to the carrier, which the drive reaches at once if it can [rad/s].
        limit: Of the drive's torque, at least 0 [N m].
        sub_step: [s]
        kept: Share of speed that energy drainage leaves, 1 without.

    Returns:
        The drive's torque on the driven wheel [N m].
    """
    c = wheels.carriers[driven]
    axle = axis(carriers.rotation, c, 1)
    turning = dot(row(carriers.spin, c), axle)
    wanted = wheels.inertias[driven] * (target + turning - kept * motion.speeds[driven]) / sub_step
    torque = min(max(wanted - wheel_loads.torques[driven], -limit), limit)
    for k in range(3):
        reaction.torque[c, k] -= torque * axle[k]
    for w in range(len(wheels.inertias)):
        c, size = wheels.carriers[w], wheels.inertias[w] * motion.speeds[w]
        around = cross(row(carriers.spin, c), axis(carriers.rotation, c, 1))
        for k in range(3):
            reaction.torque[c, k] -= size * around[k]
        gained = wheel_loads.torques[w] + (torque if w == driven else 0.0)
        motion.speeds[w] = kept * motion.speeds[w] + sub_step / wheels.inertias[w] * gained
        if wheels.slide_masses[w] > 0:
            gained = sub_step / wheels.slide_masses[w] * wheel_loads.slides[w]
            motion.slide_speeds[w] = kept * motion.slide_speeds[w] + gained
    return torque


@compiled
def drift_wheels(carriers: Carriers, wheels: Wheels, motion: WheelMotion, duration: float) -> None:
    """Let wheels go on for `duration` [s] at the speeds that they have."""
    for w in range(len(wheels.inertias)):
        c = wheels.carriers[w]
        turning = dot(row(carriers.spin, c), axis(carriers.rotation, c, 1))
        motion.angles[w] += duration * (motion.speeds[w] - turning)
        motion.slides[w] += duration * motion.slide_speeds[w]
