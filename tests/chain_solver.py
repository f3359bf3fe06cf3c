"""One chain alone, between anchors or in free space: its steps, its momenta and its energy.

Vehicles step their chains with `track_step.run_tracks`, which shares the kernels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from segtrack.chain import Chain, kinetic_energy
from segtrack.chain.shoe_dynamics import (
    Frames,
    Loads,
    add_bushings,
    allocate_work_arrays,
    drift,
    joint_tension,
    kick,
    start_loads,
)
from segtrack.chain.shoe_state import ChainArrays, ChainState
from segtrack.chain.shoes import Constants, Joints
from segtrack.chain.stability import check_sub_step, max_sub_step
from segtrack.errors import DivergedError, InvalidValueError, Phrase, finite_vector
from segtrack.kernels import Vector, entry


class ChainSolver:
    """Advances states of one chain, in sub-steps of one size."""

    def __init__(self, chain: Chain, sub_step: float, gravity: Sequence[float] = (0.0, 0.0, -9.81)) -> None:
        """Allocate the work arrays of a sub-step.

        Args:
            chain: Chain whose states are advanced.
            sub_step: Size of all sub-steps [s].
            gravity: Gravity in the world (3,) [m/s^2].

        Raises:
            InvalidValueError: The sub-step is too large for the chain's stiffness.
        """
        check_sub_step(sub_step, max_sub_step(chain))
        self.chain, self.sub_step = chain, float(sub_step)
        x, y, z = finite_vector("gravity", gravity, 3)
        self.gravity = (x, y, z)
        self._weight = (chain.shoe.mass * x, chain.shoe.mass * y, chain.shoe.mass * z)
        self._frames, self._loads = allocate_work_arrays(chain)

    def advance(self, state: ChainState, count: int = 1, damping_rate: float = 0.0) -> None:
        """Take `count` sub-steps, in place.

        Args:
            state: State of the solver's chain.
            count: Number of sub-steps.
            damping_rate: Rate at which velocities decay besides [1/s], see `segtrack.world.placement`.

        Raises:
            InvalidValueError: The state has another number of shoes.
            DivergedError: A shoe's position is not finite; the state says when.
        """
        run_sub_steps(
            self._arrays(state),
            self.chain.joints,
            self._frames,
            self._loads,
            self.chain.constants,
            self._weight,
            self.sub_step,
            count,
            math.exp(-damping_rate * self.sub_step),
        )
        state.time += count * self.sub_step
        lost = ~np.isfinite(state.positions).all(axis=1)
        if lost.any():
            raise DivergedError(f"shoe {lost.argmax()}", state.time, "its position is not finite")

    def frames(self, state: ChainState) -> Frames:
        """Kinematics of a state's shoes and anchors, valid until the next call."""
        drift(self._arrays(state.copy()), self._frames, self.chain.constants, 0.0)
        return self._frames

    def loads(self, state: ChainState) -> Loads:
        """Loads on a state's shoes and anchors, weight included, valid until the next call."""
        frames = self.frames(state)
        gather_loads(self.chain.joints, frames, self._loads, self.chain.constants, self._weight)
        return self._loads

    def tension(self, state: ChainState) -> NDArray[np.float64]:
        """Tension in each joint (m,) [N], see `joint_tension`."""
        loads = self.loads(state)
        return joint_tension(self.chain, self._frames, loads.pin_forces)

    def _arrays(self, state: ChainState) -> ChainArrays:
        """A state's arrays; kernels do not look whether they are as long as they should be."""
        if len(state.positions) != self.chain.count:
            expected = f"of a chain of {self.chain.count} shoes"
            raise InvalidValueError("state", expected, Phrase(f"one of {len(state.positions)}"))
        return state.arrays


def strain_energy(solver: ChainSolver, state: ChainState) -> float:
    """Potential energy of all joints [J], of which `add_bushings` applies the negative gradient."""
    chain, bushing = solver.chain, solver.chain.bushing
    frames, (i, j) = solver.frames(state), chain.joints
    pins = frames.positions[i] + frames.rotations[i] @ chain.shoe.pin_position
    bushings = frames.positions[j] + frames.rotations[j] @ chain.shoe.bushing_position
    between = np.einsum("mka,mkb->mab", frames.rotations[i], frames.rotations[j])
    turns = np.arctan2(-between[:, 2, 0], between[:, 0, 0])
    beyond = np.maximum(0.0, -turns - bushing.back_bend)
    energies = (
        bushing.stiffness / 2 * np.sum((bushings - pins) ** 2, axis=1)
        + bushing.conical_stiffness * (1 - between[:, 1, 1])
        + bushing.stop_stiffness / 2 * beyond**2
        + bushing.pin_stiffness / 2 * turns**2
    )
    return float(energies.sum())


def weight_energy(solver: ChainSolver, state: ChainState) -> float:
    """Potential energy of all shoes' weight, over the world's origin [J]."""
    return float(-solver.chain.shoe.mass * np.sum(state.positions @ solver.gravity))


def total_energy(solver: ChainSolver, state: ChainState) -> float:
    """Kinetic energy, and potential energy of joints and weight [J]."""
    return kinetic_energy(solver.chain, state) + strain_energy(solver, state) + weight_energy(solver, state)


def linear_momentum(chain: Chain, state: ChainState) -> NDArray[np.float64]:
    """Momentum of all shoes in the world (3,) [kg m/s]."""
    return chain.shoe.mass * state.velocities.sum(axis=0)


def angular_momentum(chain: Chain, state: ChainState) -> NDArray[np.float64]:
    """Angular momentum of all shoes about the world's origin, in the world (3,) [kg m^2/s]."""
    orbital = chain.shoe.mass * np.cross(state.positions, state.velocities)
    own = np.einsum("nij,nj->ni", state.rotations, state.angular_velocities_body * chain.shoe.inertia)
    return (orbital + own).sum(axis=0)


@entry
def gather_loads(joints: Joints, frames: Frames, loads: Loads, constants: Constants, weight: Vector) -> None:
    """Find the loads on the shoes of a chain alone: weight and joints."""
    start_loads(loads, weight)
    add_bushings(joints, frames, loads, constants)


@entry
def run_sub_steps(
    shoes: ChainArrays,
    joints: Joints,
    frames: Frames,
    loads: Loads,
    constants: Constants,
    weight: Vector,
    sub_step: float,
    count: int,
    velocity_decay: float,
) -> None:
    """Take `count` sub-steps of `sub_step` [s]; between two of them the half drifts are one."""
    drift(shoes, frames, constants, sub_step / 2)
    for step in range(count):
        gather_loads(joints, frames, loads, constants, weight)
        kick(shoes, frames, loads, constants, sub_step, velocity_decay)
        drift(shoes, frames, constants, sub_step if step + 1 < count else sub_step / 2)
