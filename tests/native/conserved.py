"""What a free vehicle on link chains keeps: momentum, and angular momentum about its centre of mass."""

import math
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from chain_solver import angular_momentum, linear_momentum

import segtrack
from segtrack.chain import TrackChain, slide_offset
from segtrack.native.kinematics import turn
from segtrack.robot import Robot


@contextmanager
def half_a_step_back(world: segtrack.World, robot: Robot) -> Iterator[None]:
    """Put all parts where they were when they had the velocities that they have, half a sub-step ago."""
    model = robot.model
    count = math.ceil(world.time_step / min(chain.max_sub_step for chain in model.chains) * (1 - 1e-9))
    half, saved, state = world.time_step / count / 2, model.save(), model.state
    state.position[0] -= half * state.velocity[0]
    turn(state.orientation[0], state.angular_velocity[0], -half)
    state.joint_angles[0] -= half * state.joint_speeds[0]
    for chain in model.chains:
        chain.state.positions -= half * chain.state.velocities
        chain.wheels.slide_positions[:] -= half * chain.wheels.slide_speeds
    model.place_links()
    yield
    model.restore(saved)
    model.place_links()


def momenta(world: segtrack.World, robot: Robot) -> tuple[np.ndarray, np.ndarray]:
    """Momentum [kg m/s], and angular momentum about the centre of mass [kg m^2/s], half a sub-step ago.

    Wheels are part of the links' masses; they have a spin of their own. So are sliding idlers, where they are
    drawn: they count there as a negative mass, and where they are as their mass, with the momentum that their
    links have felt. What the last change of a link's acceleration adds to it, the link feels in the next
    sub-step; see `test_sliding_idlers_have_the_momentum_that_their_links_have_felt`.
    """
    with half_a_step_back(world, robot):
        return _momenta(robot)


def slide_of(chain: TrackChain, w: int) -> tuple[np.ndarray, np.ndarray]:
    """Way (x, z) of what slides on wheel w's tensioner [m], and its direction, by a central difference."""
    wheels, slide = (
        chain.arrays.running_gear.wheels,
        chain.wheels.slide_positions[w] + 1e-6 * np.arange(-1, 2),
    )
    ways = slide_offset(wheels.slide_directions[[w] * 3], wheels.slide_curvatures[[w] * 3], slide)
    return ways[1], (ways[2] - ways[0]) / 2e-6


def _momenta(robot: Robot) -> tuple[np.ndarray, np.ndarray]:
    model = robot.model
    tree, work = model.tree, model._work
    masses, points, momenta, spin = [], [], [], np.zeros(3)
    for link, mass in enumerate(tree.masses):
        r = work.rotations[link]
        masses.append(mass)
        points.append(work.centers[link].copy())
        momenta.append(mass * work.velocities[link])
        spin += r @ tree.inertias[link] @ r.T @ work.angular_velocities[link]
    for t, chain in enumerate(model.chains):
        shoes, state, gear = chain.design.chain, chain.state, chain.wheels
        wheels, rotation, link = chain.arrays.running_gear.wheels, work.belt_rotations[t], tree.belt_links[t]
        center, momentum = state.positions.mean(axis=0), linear_momentum(shoes, state)
        masses.append(shoes.mass)
        points.append(center)
        momenta.append(momentum)
        spin += angular_momentum(shoes, state) - np.cross(center, momentum)
        own = wheels.inertias.copy()
        own[chain.design.running_gear.driven] -= wheels.reflected_inertia  # Its rotor turns across the axle.
        spin += rotation[:, 1] * np.sum(own * gear.speeds)
        plane, turning = rotation[:, [0, 2]], work.angular_velocities[link]
        for w in np.flatnonzero(wheels.slide_masses):
            mass, drawn = wheels.slide_masses[w], work.belt_origins[t] + plane @ wheels.positions[w]
            slid, _ = slide_of(chain, w)
            at_drawn = work.velocities[link] + np.cross(turning, drawn - work.centers[link])
            masses += [-mass, mass]
            points += [drawn, drawn + plane @ slid]
            momenta += [-mass * at_drawn, mass * at_drawn + gear.slide_momenta[w]]
    m, x, p = np.array(masses), np.array(points), np.array(momenta)
    return p.sum(axis=0), spin + np.cross(x - m @ x / m.sum(), p).sum(axis=0)
