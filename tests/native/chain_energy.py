"""Mechanical energy of a vehicle on link chains in the air; and its dampers let go.

Potentials of springs are written anew here; which contacts there are is read from the kernels.
"""

import numpy as np
from native.conserved import half_a_step_back, slide_of
from scenes import GRAVITY

import segtrack
from segtrack.chain import Bushing, TrackChain, kinetic_energy
from segtrack.chain.contact_rows import DEPTH
from segtrack.chain.shoe_dynamics import drift
from segtrack.chain.sprocket_contact import FACTOR, STIFFNESS, find_sprocket_contacts
from segtrack.chain.wheel_contact import find_wheel_candidates, find_wheel_contacts
from segtrack.native.joint_arrays import DAMPER, LOWER, SPRING, UPPER
from segtrack.robot import Robot


def let_dampers_go(robot: Robot) -> None:
    """Take damping and friction from joints, bushings, wheels, teeth and tensioners."""
    robot.model.tree.joints.curves[:, DAMPER, :, 1] = 0.0
    for chain in robot.model.chains:
        none = dict.fromkeys(("damping", "conical_damping", "pin_damping", "stop_damping"), 0.0)
        chain._constants = chain._constants._replace(**none)
        gear = chain._running_gear
        gear.wheels.slide_damping[:] = 0.0
        gear.wheels.contacts[:, 1:3] = 0.0
        chain._running_gear = gear._replace(teeth=gear.teeth._replace(damping=0.0, friction=0.0))
        chain._packed = None


def energy(world: segtrack.World, robot: Robot) -> tuple[float, float]:
    """Kinetic energy, and that with all potentials, half a sub-step ago [J]."""
    model = robot.model
    with half_a_step_back(world, robot):
        tree, work, state = model.tree, model._work, model.state
        moving = stored = 0.0
        for link, mass in enumerate(tree.masses):
            rotation, spin = work.rotations[link], work.angular_velocities[link]
            moving += mass * work.velocities[link] @ work.velocities[link] / 2
            moving += spin @ rotation @ tree.inertias[link] @ rotation.T @ spin / 2
            stored += mass * GRAVITY * work.centers[link][2]
        for j, position in enumerate(state.joint_angles[0]):
            (x, force), (later, more) = tree.joints.curves[j, SPRING, :2]
            slope = (more - force) / (later - x)
            stored -= slope * (position - x + force / slope) ** 2 / 2
            for first, side in ((UPPER, 1), (LOWER, -1)):
                place, stiffness = tree.joints.settings[j, first : first + 2]
                stored += stiffness * max(0.0, side * (position - place)) ** 2 / 2
        for t, chain in enumerate(model.chains):
            chain.set_parent_motion(model._parent_frames(t))
            shoes, shoe = chain.design.chain, chain.design.chain.shoe
            moving += kinetic_energy(shoes, chain.state)
            moving += np.sum(chain._running_gear.wheels.inertias * chain.wheels.speeds**2) / 2
            stored += shoe.mass * GRAVITY * chain.state.positions[:, 2].sum()
            stored += _in_bushings(chain, shoes.bushing) + _in_contacts(chain)
            kinetic, potential = _of_slides(chain)
            moving, stored = moving + kinetic, stored + potential
    return moving, moving + stored


def _of_slides(chain: TrackChain) -> tuple[float, float]:
    """Energy of what slides on tensioners beyond that at their places on the link, and in their springs."""
    moving = stored = 0.0
    parents, wheels, state = chain.arrays.parents, chain._running_gear.wheels, chain.wheels
    plane, spin = parents.rotations[0][:, [0, 2]], parents.angular_velocities_world[0]
    for w in np.flatnonzero(wheels.slide_masses):
        mass, (slid, along) = wheels.slide_masses[w], (plane @ part for part in slide_of(chain, w))
        drawn = parents.velocities[0] + np.cross(spin, plane @ wheels.positions[w])
        own = drawn + state.slide_speeds[w] * along + np.cross(spin, slid)
        moving += mass * (own @ own - drawn @ drawn) / 2
        beyond = state.slide_positions[w] - state.slide_origins[w]
        stored += mass * GRAVITY * slid[2]
        stored += wheels.slide_stiffness[w] * beyond**2 / 2 - wheels.preloads[w] * beyond
    return moving, stored


def _in_bushings(chain: TrackChain, bushing: Bushing) -> float:
    rotations, shoe = chain.state.rotations, chain.design.chain.shoe
    following, places = np.roll(rotations, -1, axis=0), chain.state.positions
    pins = places + rotations @ np.array(shoe.pin_position)
    gaps = np.roll(places, -1, axis=0) + following @ np.array(shoe.bushing_position) - pins
    axes = np.sum(rotations[:, :, 1] * following[:, :, 1], axis=1)
    ahead = np.sum(rotations[:, :, 0] * following[:, :, 0], axis=1)
    down = -np.sum(rotations[:, :, 2] * following[:, :, 0], axis=1)
    bends = np.arctan2(down, ahead)
    stored = bushing.stiffness * np.sum(gaps**2) / 2 + bushing.conical_stiffness * np.sum(1 - axes)
    beyond = np.maximum(0.0, -bends - bushing.back_bend)
    return stored + (bushing.pin_stiffness * bends @ bends + bushing.stop_stiffness * beyond @ beyond) / 2


def _in_contacts(chain: TrackChain) -> float:
    """In rails on wheels, K d^2.5 / 2.5, and bushings on teeth, k d^2 / 2."""
    arrays = chain.arrays
    gear, parents, frames = arrays.running_gear, arrays.parents, arrays.frames
    drift(arrays.shoes, frames, arrays.constants, 0.0)
    find_wheel_candidates(gear, parents, frames)
    find_wheel_contacts(gear, parents, frames, 0.0)
    find_sprocket_contacts(gear, parents, frames, arrays.constants, 0.0)
    stored, begin, rails, bushings = 0.0, 0, gear.rails, gear.bushings
    for w, last in enumerate(rails.pair_ends):
        end = rails.ends[last - 1] if last else 0
        depths = np.maximum(0.0, rails.numbers[begin:end, DEPTH])
        stored, begin = stored + gear.wheels.contacts[w, 0] * np.sum(depths**2.5) / 2.5, end
    count = bushings.pair_ends[0]
    rows = bushings.numbers[: bushings.ends[count - 1] if count else 0]
    depths = np.maximum(0.0, rows[:, DEPTH])
    return stored + float(np.sum(rows[:, STIFFNESS] * rows[:, FACTOR] * depths**2)) / 2
