"""A vehicle whose belts are link chains: track model `chain`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from segtrack.chain import (
    ChainPose,
    ChainReading,
    TrackChain,
    TrackDesign,
    TrackSnapshot,
    check_track,
    kinetic_energy,
    sub_steps_held,
    tension_tracks,
    warn,
)
from segtrack.description import VehicleDescription, vehicle_links
from segtrack.description.chain import track_design, weight_on_chains
from segtrack.engine import Bodies
from segtrack.ground import ContactHistory, Ground, ParentFrames
from segtrack.kernels import Packed, Vector, exponential, overwrite, power, rounded
from segtrack.native.chain_step import ChainVehicleArrays, advance_chains
from segtrack.native.kinematics import set_velocity
from segtrack.native.layout import (
    drive_table,
    hull_arrays,
    hull_points,
    parent_mounts,
    root_points,
    tree_arrays,
)
from segtrack.native.step import CROWDED
from segtrack.native.tree import VehicleState
from segtrack.native.vehicle import NativeVehicle


@dataclass(frozen=True)
class SavedChainVehicle:
    """Everything of a vehicle that changes, with arrays of its own."""

    state: VehicleState
    history: ContactHistory
    chains: tuple[TrackSnapshot, ...]


class ChainVehicle(NativeVehicle):
    """A vehicle with link chains.

    Attributes:
        arrays: Arrays that kernels read, besides the chains.
        chains: Its chains, in the order of its tracks.
    """

    def __init__(
        self,
        description: VehicleDescription,
        track_model: str,
        time_step: float,
        flippers: Mapping[str, float],
    ) -> None:
        """Lay a vehicle out, its body frame at the origin; see `BeltVehicle`.

        Raises:
            InvalidValueError: A chain cannot be closed or does not fit around its wheels.
            UnknownNameError: A chain's wheels or springs are on a link that there is not.
        """
        mounted = tuple(description.mounted_tracks())
        weight = weight_on_chains(description)
        designs = [track_design(track.name, track.spec, weight) for track in mounted]
        sprung = description.with_suspension()
        links = vehicle_links(sprung.without_belts())
        tree = tree_arrays(sprung, links, *np.zeros((2, 0)))
        shoes = sum(design.chain.mass for design in designs)
        self._mass = links.mass + shoes
        hull = hull_arrays(sprung, self._mass)
        reach = float(np.linalg.norm(root_points(hull) - tree.centers[0], axis=1).max(initial=0.0))
        radii = np.array([design.pitch_radius for design in designs])
        mounts = parent_mounts(sprung, links, designs)
        self.arrays = rounded(ChainVehicleArrays(tree, hull, drive_table(sprung), radii, reach, mounts))
        tree, hull, joints = self.arrays.tree, self.arrays.hull, sprung.joint_tree
        super().__init__(description, track_model, tree, hull, reach, 0.0, 0, 0, joints)
        self._designs = designs
        self.chains = tuple(
            TrackChain(
                design, self._parent_frames(t), track.spec.chain.sub_step, track.spec.chain.sub_steps_held
            )
            for t, (design, track) in enumerate(zip(designs, mounted, strict=True))
            if track.spec.chain is not None
        )
        self._failures = np.zeros((len(mounted), 2), dtype=np.intp)
        warn(tension_tracks(self.chains, self._tension))
        self._place_joints(flippers)

    @property
    def mass(self) -> float:
        """Mass of all its links and shoes [kg]."""
        return self._mass

    def set_velocity(self, forward: float) -> None:
        """Let all its parts move forward along the body's x axis [m/s], shoes and wheels with the belts."""
        self._commanded("move")
        self.place_links()
        set_velocity(self.state, self._work, forward)
        for t, chain in enumerate(self.chains):
            chain.set_speed(forward, self._parent_frames(t))

    def _take_steps(self, gravity: Vector, time_step: float, count: int, decay: float) -> None:
        for chain, friction in zip(self.chains, self.state.frictions[0].tolist(), strict=True):
            chain.set_friction(friction)
        self._advance_chains(gravity, time_step, count, decay, still=False)

    def _advance_chains(
        self, gravity: Vector, time_step: float, count: int, decay: float, *, still: bool
    ) -> None:
        longest = min(chain.max_sub_step for chain in self.chains)
        sub_steps = math.ceil(time_step / longest * (1 - 1e-9))
        advance_chains(
            self.arrays,
            self._ground,
            self.state,
            self._history,
            self._candidates,
            self._work,
            Packed.joined([chain.packed for chain in self.chains]),
            self._failures,
            self.done,
            self._outcome,
            gravity,
            time_step,
            sub_steps,
            sub_steps_held(time_step, sub_steps, min(chain.max_sub_steps_held for chain in self.chains)),
            count,
            power(decay, 1 / sub_steps),
            still,
        )
        if decay < 1:
            for chain in self.chains:
                chain.set_tension()

    def _tension(self, duration: float, damping_rate: float) -> None:
        """Take the chains alone through a step, see `tension_tracks`; by the kernel that is needed anyway."""
        before = self.state.copy()
        self.done[0] = 0
        self._advance_chains((0.0, 0.0, 0.0), duration, 1, exponential(-damping_rate * duration), still=True)
        assert self._outcome[0, 0] != CROWDED  # Nothing is near a vehicle that is being built.
        for mine, values in zip(self.state, before, strict=True):
            mine[...] = values
        for t, chain in enumerate(self.chains):
            check_track(chain, *self._failures[t].tolist())

    def advance(self, gravity: Vector, time_step: float, count: int, decay: float, time: float) -> None:
        """Take steps, see `NativeVehicle.advance`, and check that the chains hold."""
        super().advance(gravity, time_step, count, decay, time)
        for t, chain in enumerate(self.chains):
            chain.state.time = time + count * time_step
            chain.torque = float(self.state.forces[0, t]) * chain.design.pitch_radius
            check_track(chain, *self._failures[t].tolist())

    def set_ground(self, ground: Ground) -> None:
        """Stand on other ground; contacts are forgotten."""
        super().set_ground(ground)
        for chain in self.chains:
            chain.set_ground(ground)

    def reset_belts(self) -> None:
        """Assemble the chains where their links are, at rest, touching nothing yet."""
        super().reset_belts()
        for t, chain in enumerate(self.chains):
            chain.assemble(self._parent_frames(t))

    def _parent_frames(self, track: int) -> ParentFrames:
        """Track frame on each of the chain's parent links."""
        self.place_links()
        work, mounts = self._work, self.arrays.mounts
        rows = slice(*mounts.starts[track : track + 2].tolist())
        links = mounts.links[rows]
        turns = work.rotations[links]
        out = mounts.origins[rows] - self.tree.centers[links]
        levers = np.einsum("pij,pj->pi", turns, out)
        spins = work.angular_velocities[links]
        return ParentFrames(
            work.centers[links] + levers,
            turns @ mounts.rotations[rows],
            work.velocities[links] + np.cross(spins, levers),
            spins,
        )

    def bodies(self) -> Bodies:
        """All links and shoes."""
        links = super().bodies()
        states = [(chain.design.chain, chain.state) for chain in self.chains]
        masses = [np.full(chain.count, chain.shoe.mass) for chain, _ in states]
        return Bodies(
            np.concatenate([links.masses, *masses]),
            np.concatenate([links.positions, *(state.positions for _, state in states)]),
            np.concatenate([links.velocities, *(state.velocities for _, state in states)]),
            links.kinetic_energy + sum(kinetic_energy(*own) for own in states),
        )

    def _outer_points(self) -> NDArray[np.float64]:
        shoes = [chain.contact_points for chain in self.chains]
        return np.concatenate([hull_points(self.arrays.hull, self.tree, self._work), *shoes])

    @property
    def has_chains(self) -> bool:
        """True for link chains."""
        return True

    def chain_design(self, track: int) -> TrackDesign:
        """Design of the link chain of one track."""
        return self.chains[track].design

    def read_chain(self, track: int) -> ChainReading:
        """Per-shoe tension, contact and slip of one track, after the latest step."""
        return self.chains[track].read(self._parent_frames(track))

    def read_chain_pose(self, track: int) -> ChainPose:
        """Return the poses of shoes and wheels of one track."""
        return self.chains[track].read_pose(self._parent_frames(track))

    def save(self) -> SavedChainVehicle:
        """Return everything that changes."""
        chains = tuple(chain.snapshot() for chain in self.chains)
        return SavedChainVehicle(self.state.copy(), self._history.copy(), chains)

    def restore(self, saved: SavedChainVehicle) -> None:
        """Go back to a saved state on the same ground."""
        overwrite((*self.state, *self._history), (*saved.state, *saved.history))
        for chain, snapshot in zip(self.chains, saved.chains, strict=True):
            chain.restore(snapshot)
