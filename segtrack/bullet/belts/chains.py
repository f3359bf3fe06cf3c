"""Link chains: every shoe a body, integrated beside PyBullet (Omar 2014, section 6), with bodies to look at.

A link chain is no part of PyBullet's world. Where there is a window, each shoe gets a body that has
nothing but a shape to see, and is put where the shoe is.

A chain is no part of PyBullet's world: it goes through sub-steps of its own before each of PyBullet's
steps (`parent_links`). Shoes touch the terrain as it is described; the vehicle's body touches it as
PyBullet has it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import pybullet

from segtrack.bullet.belts.parent_links import ParentLinks, frames_on, next_step
from segtrack.bullet.frames import vector
from segtrack.bullet.model import Belt, BeltGroup, BeltReading, Push, TrackBuilder, TrackJoints, no_links
from segtrack.chain import (
    MAX_TIME_STEP,
    ChainPose,
    ChainReading,
    DriveCommand,
    TrackChain,
    TrackSnapshot,
    advance_tracks,
    kinetic_energy,
    tension_tracks,
    warn,
)
from segtrack.description.chain import check_links, track_design, weight_on_chains
from segtrack.engine import Bodies
from segtrack.ground import ParentFrames, pack_ground
from segtrack.kernels import cross
from segtrack.terrain import Terrain

if TYPE_CHECKING:  # Numba takes half a second to import.
    from segtrack.ground import Tread

_INTERVAL = 1 / 30
"""Between two pictures of a window, by the wall clock [s]."""
_PLATE, _GROUSER = [0.18, 0.21, 0.23, 1.0], [0.08, 0.09, 0.1, 1.0]


class ChainView:
    """The shoes of a vehicle's link chains, as they are seen."""

    def __init__(self, client: int, belts: Sequence[Belt]) -> None:
        """Begin with nothing to see; a window gets its bodies at once."""
        self._client = client
        self._chains = [belt.chain for belt in belts if belt.chain is not None]
        self._bodies: list[int] = []
        self._next = 0.0
        self._windowed = pybullet.getConnectionInfo(client)["connectionMethod"] == pybullet.GUI
        if self._windowed and self._chains:
            with self._undrawn():
                self._show()

    def refresh(self) -> None:
        """Let a window follow, if it is time."""
        if self._windowed and self._chains and time.monotonic() >= self._next:
            with self._undrawn():
                self._move()
            self._next = time.monotonic() + _INTERVAL

    @contextmanager
    def _undrawn(self) -> Iterator[None]:
        """Keep a window from drawing between each body and the next, which takes it seconds."""
        visualizer, drawing = pybullet.configureDebugVisualizer, pybullet.COV_ENABLE_RENDERING
        visualizer(drawing, 0, physicsClientId=self._client)
        yield
        visualizer(drawing, 1, physicsClientId=self._client)

    def _show(self) -> None:
        for chain in self._chains:
            shapes = [self._shape(tread) for tread in chain.design.treads]
            poses = zip(chain.state.positions.tolist(), chain.state.orientations.tolist(), strict=True)
            for kind, (position, orientation) in zip(chain.design.kinds, poses, strict=True):
                self._bodies.append(
                    pybullet.createMultiBody(
                        baseMass=0.0,
                        baseCollisionShapeIndex=-1,
                        baseVisualShapeIndex=shapes[kind],
                        basePosition=position,
                        baseOrientation=orientation,
                        physicsClientId=self._client,
                    )
                )

    def _move(self) -> None:
        states = [chain.state for chain in self._chains]
        poses = (
            pose
            for state in states
            for pose in zip(state.positions.tolist(), state.orientations.tolist(), strict=True)
        )
        for body, pose in zip(self._bodies, poses, strict=True):
            pybullet.resetBasePositionAndOrientation(body, *pose, physicsClientId=self._client)

    def _shape(self, tread: Tread) -> int:
        """A plate, and a bar for its grouser; returns PyBullet's id."""
        plate = [tread.length / 2, tread.width / 2, tread.thickness / 2]
        boxes = [(plate, [tread.x, 0.0, tread.outer - tread.thickness / 2], _PLATE)]
        bar = tread.grouser
        if bar is not None:
            half = [(bar.base + bar.top) / 4, tread.width / 2, bar.height / 2]
            boxes.append((half, [tread.x + bar.x, 0.0, tread.outer + bar.height / 2], _GROUSER))
        sizes, places, colours = map(list, zip(*boxes, strict=True))  # PyBullet crashes over tuples.
        return int(
            pybullet.createVisualShapeArray(
                shapeTypes=[pybullet.GEOM_BOX] * len(boxes),
                halfExtents=sizes,
                visualFramePositions=places,
                rgbaColors=colours,
                physicsClientId=self._client,
            )
        )


def chain_builder(name: str) -> TrackBuilder:
    """Return the builder of the track model `chain`."""
    return TrackBuilder(no_links, ChainBelt, ChainBeltGroup, has_own_bodies=True)


class ChainBelt(Belt):
    """A belt that is a link chain.

    Attributes:
        chain: Shoes and wheels, with their state.
        links: All links of the vehicle.
    """

    chain: TrackChain

    def __init__(self, client: int, track: TrackJoints) -> None:
        """Assemble the chain around its wheels."""
        self.track_joints = track
        self._target = self._limit = 0.0
        design = track_design(track.mounted.name, track.spec, weight_on_chains(track.vehicle))
        assert track.spec.chain is not None
        check_links(design, track.links)
        self._parent_links = track.parent_link, *(track.links[name] for name in design.parent_link_names)
        self.links = ParentLinks(client, track.body)
        self.mounts = self.links.mount(self.parent_links, track.spec.mount)
        given = track.spec.chain
        self.chain = TrackChain(design, self.frames, given.sub_step, given.sub_steps_held)

    @property
    def parent_links(self) -> tuple[int, ...]:
        """Indices of the links that carry wheels; the drive is on the first."""
        return self._parent_links

    @property
    def shoes(self) -> Bodies:
        """Bodies of all shoes."""
        chain, state = self.chain.design.chain, self.chain.state
        masses = np.full(chain.count, chain.shoe.mass)
        return Bodies(masses, state.positions, state.velocities, kinetic_energy(chain, state))

    @property
    def segment_phases(self) -> list[float]:
        """The travel of the driven wheel [m]: a chain has no segments."""
        return [self.chain.travel]

    @property
    def points(self) -> np.ndarray:
        """Corners of all shoes in the world (n, 3) [m]."""
        return self.chain.contact_points

    def read(self) -> BeltReading:
        """The belt, as its driven wheel moves it."""
        chain = self.chain
        return BeltReading(chain.travel, chain.speed, chain.torque / chain.design.pitch_radius)

    def read_chain(self) -> ChainReading:
        """Return per-shoe tension, contact and slip."""
        return self.chain.read(self.frames)

    def read_chain_pose(self) -> ChainPose:
        """Return the poses of shoes and wheels."""
        return self.chain.read_pose(self.frames)

    def set_motor_command(self, speed: float, limit: float) -> None:
        """Command the drive: a target speed of the belt [m/s] and a force limit [N]."""
        self._target, self._limit = speed, limit

    def roll_back(self, phase: float) -> float:
        """Return the phase unchanged: a chain is never set back."""
        return phase

    def set_speed(self, speed: float) -> None:
        """Let shoes and wheels run at a speed [m/s], where they are."""
        self.chain.set_speed(speed, self.frames, self.links.behind)

    def reset_to_mount(self) -> None:
        """Assemble the chain around its wheels, where the vehicle is, at rest."""
        self.chain.assemble(self.frames)

    def set_friction(self, friction: float) -> None:
        """Set the track's friction against terrain of friction 1."""
        self.chain.set_friction(friction)

    def snapshot(self) -> TrackSnapshot:
        """The state of the chain, its wheels and its contacts."""
        return self.chain.snapshot()

    def restore(self, snapshot: TrackSnapshot) -> None:
        """Go back to a snapshot, with the vehicle where it was."""
        self.chain.restore(snapshot)

    @property
    def drive(self) -> DriveCommand:
        """Command of the drive."""
        return DriveCommand(self._target, self._limit)

    @property
    def frames(self) -> ParentFrames:
        """The track frame on each link that carries wheels, now."""
        return frames_on(self.links.read(), self.mounts)


class ChainBeltGroup(BeltGroup):
    """All the chains of a vehicle."""

    def __init__(self, client: int, body: int, belts: tuple[ChainBelt, ...]) -> None:
        """Note which links carry them."""
        self._client, self._belts, self._links = client, belts, belts[0].links
        for belt in belts:  # All of them remember the last step alike.
            belt.links = self._links
        warn(tension_tracks([belt.chain for belt in belts]))
        for belt in belts:
            belt.reset_to_mount()

    def read(self) -> list[BeltReading]:
        """Read the state of all belts, in track order."""
        return [belt.read() for belt in self._belts]

    def advance(self, damping_rate: float, push: Push | None) -> None:
        """Take all chains through the time of PyBullet's next step, and apply what they do to the vehicle."""
        duration, gravity = next_step(self._client, MAX_TIME_STEP, "link chains")
        motions = self._links.read()
        vehicle, behind = self._links.compose(motions, gravity), self._links.behind
        self._links.feel(motions, vehicle, duration, damping_rate, push)
        span, wrenches = behind + duration / 2, np.zeros((len(motions), 6))
        means = advance_tracks(
            [belt.chain for belt in self._belts],
            [frames_on(motions, belt.mounts) for belt in self._belts],
            [belt.drive for belt in self._belts],
            vehicle,
            span,
            damping_rate,
            behind,
        )
        for belt, own in zip(self._belts, means, strict=True):
            for link, mean in zip(belt.mounts.links.tolist(), own, strict=True):
                arm, force = vector(mean.point - motions[link, :3]), vector(mean.force)
                wrenches[link, :3] += force
                wrenches[link, 3:] += mean.torque + cross(arm, force)
        self._links.apply(motions, vehicle, wrenches, span, duration)

    def snapshot(self) -> Any:
        """Memory of what has acted on the vehicle from outside."""
        return self._links.snapshot()

    def restore(self, snapshot: Any) -> None:
        """Go back to a snapshot, with the vehicle where it was."""
        self._links.restore(snapshot)

    def update_terrain(self, terrains: Sequence[Terrain]) -> None:
        """Let the chains stand on these terrains."""
        ground = pack_ground(terrains)
        self._links.weigh()
        for belt in self._belts:
            belt.chain.set_ground(ground)
