"""Loads of joints: the pin-bushing and the back-bending stop (Omar 2014, section 4.1)."""

from __future__ import annotations

import math

from segtrack.chain.shoes.loads import Frames, Loads
from segtrack.chain.shoes.model import Constants, Joints
from segtrack.ground.vectors import add, arm, axis, compiled, cross, dot, row


@compiled
def add_bushings(joints: Joints, frames: Frames, loads: Loads, constants: Constants) -> None:
    """Add the forces and torques of all joints (Omar 2014, equations 21-25, and the back-bending stop).

    With d from pin to bushing, and v the velocity of the bushing's shoe relative to the pin's shoe
    at the pin, the force on the bushing is -K d - C v. It acts on both shoes at the pin (equation
    24), so that the two torques balance and a chain that turns as a whole feels no damping.

    With the pin axes a and b of the two shoes, the torque on the bushing is K_t b x a, where
    equation 25 takes components of the rotation vector. For a small angle between the axes
    they agree; but this one derives from the potential K_t (1 - a . b) and leaves the rotation about
    the pin free however far the joint is turned, which equations 22-25 do for small angles only.

    The stop's torque acts along the gradient of the joint's angle; it pushes, and never pulls.
    """
    cosine, sine = math.cos(constants.back_bend), math.sin(constants.back_bend)
    for joint in range(len(joints.pins)):
        i, j = joints.pins[joint], joints.bushings[joint]
        arm_i = arm(frames.rotations, i, constants.pin_position)
        arm_j = arm(frames.rotations, j, constants.bushing_position)
        dx = frames.positions[j, 0] - frames.positions[i, 0] + arm_j[0] - arm_i[0]
        dy = frames.positions[j, 1] - frames.positions[i, 1] + arm_j[1] - arm_i[1]
        dz = frames.positions[j, 2] - frames.positions[i, 2] + arm_j[2] - arm_i[2]
        arm_j = arm_j[0] - dx, arm_j[1] - dy, arm_j[2] - dz
        angular_i, angular_j = (
            row(frames.angular_velocities_world, i),
            row(frames.angular_velocities_world, j),
        )
        at_i, at_j = cross(angular_i, arm_i), cross(angular_j, arm_j)
        k, c = constants.stiffness, constants.damping
        force = (
            -k * dx - c * (frames.velocities[j, 0] + at_j[0] - frames.velocities[i, 0] - at_i[0]),
            -k * dy - c * (frames.velocities[j, 1] + at_j[1] - frames.velocities[i, 1] - at_i[1]),
            -k * dz - c * (frames.velocities[j, 2] + at_j[2] - frames.velocities[i, 2] - at_i[2]),
        )

        pin = axis(frames.rotations, i, 1)
        relative = angular_j[0] - angular_i[0], angular_j[1] - angular_i[1], angular_j[2] - angular_i[2]
        bent = cross(axis(frames.rotations, j, 1), pin)
        about = (constants.conical_damping - constants.pin_damping) * dot(relative, pin)
        kt, ct = constants.conical_stiffness, constants.conical_damping
        torque = (
            kt * bent[0] - ct * relative[0] + about * pin[0],
            kt * bent[1] - ct * relative[1] + about * pin[1],
            kt * bent[2] - ct * relative[2] + about * pin[2],
        )

        along_i, along_j = axis(frames.rotations, i, 0), axis(frames.rotations, j, 0)
        out_i = axis(frames.rotations, i, 2)
        ahead, down = dot(along_i, along_j), -dot(out_i, along_j)
        if down < 0 and down * cosine + ahead * sine < 0:
            size = ahead * ahead + down * down
            gradient = cross(
                along_j,
                (
                    -(ahead * out_i[0] + down * along_i[0]) / size,
                    -(ahead * out_i[1] + down * along_i[1]) / size,
                    -(ahead * out_i[2] + down * along_i[2]) / size,
                ),
            )
            beyond = -math.atan2(down, ahead) - constants.back_bend
            stop = max(
                0.0, constants.stop_stiffness * beyond - constants.stop_damping * dot(relative, gradient)
            )
            add(loads.torques, i, gradient, -stop)
            add(loads.torques, j, gradient, stop)

        loads.pin_forces[joint, 0], loads.pin_forces[joint, 1], loads.pin_forces[joint, 2] = force
        add(loads.forces, i, force, -1.0)
        add(loads.forces, j, force, 1.0)
        add(loads.torques, i, cross(arm_i, force), -1.0)
        add(loads.torques, j, cross(arm_j, force), 1.0)
        add(loads.torques, i, torque, -1.0)
        add(loads.torques, j, torque, 1.0)
