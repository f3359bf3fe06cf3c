"""Link chains: every shoe a body, integrated beside PyBullet (Omar 2014, section 6).

A chain is no part of PyBullet's world. Before each of PyBullet's steps it takes the poses and
velocities of the links that carry its wheels and goes through its own sub-steps, in which these
move as parts of one rigid vehicle. The mean of what it did to them is applied as a force for that
step, so that momentum is kept to rounding. Shoes touch the terrain as it is described; the
vehicle's body touches it as PyBullet has it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pybullet

from segtrack.bullet.belts.joints import free_joints
from segtrack.bullet.frames import link_mass, link_motion, vector
from segtrack.bullet.model import Belt, BeltGroup, BeltReading, TrackJoints
from segtrack.chain.advance import (
    KINEMATIC,
    MAX_TIME_STEP,
    DriveCommand,
    advance_tracks,
    tension_tracks,
)
from segtrack.chain.parent_frames import CompositeBody, ParentFrames
from segtrack.chain.readings import ChainReading
from segtrack.chain.shoes.measures import kinetic_energy
from segtrack.chain.track import TrackChain, TrackSnapshot
from segtrack.description.chain_layout import track_design
from segtrack.description.track import TrackSpec
from segtrack.engine import Bodies, FrameMotion
from segtrack.errors import InvalidValueError, UnknownNameError
from segtrack.geometry.links import SegmentLink
from segtrack.geometry.rotation import rotation_of
from segtrack.ground.pack import pack_ground
from segtrack.ground.vectors import cross
from segtrack.terrain import Terrain


def track_links(spec: TrackSpec) -> tuple[SegmentLink, ...]:
    """None: a chain's shoes and wheels are not PyBullet's."""
    return ()


def create_belt(client: int, track: TrackJoints) -> ChainBelt:
    """Lay a chain around the wheels of a loaded track."""
    return ChainBelt(client, track)


class ChainBelt(Belt):
    """A belt that is a link chain.

    Attributes:
        chain: What moves.
        carriers: Indices of the links that carry wheels; the drive is on the first.
    """

    chain: TrackChain

    def __init__(self, client: int, track: TrackJoints) -> None:
        """Lay the chain around its wheels."""
        self._client, self.track_joints = client, track
        self._target = self._limit = 0.0
        design = track_design(track.mounted.name, track.spec)
        assert track.spec.chain is not None
        self.carriers = (track.parent_link, *(link_index(track, name) for name in design.parent_link_names))
        # A vehicle is loaded with its joints at zero: there all carriers' track frames are one.
        motions, mount = self._motions(), track.spec.mount
        first = motions[track.parent_link]
        rotation = first.rotation @ rotation_of(mount.rpy)
        origin = first.position + first.rotation @ np.array(mount.xyz)
        carried = [motions[link] for link in self.carriers]
        self._rotations = [motion.rotation.T @ rotation for motion in carried]
        self._origins = [motion.rotation.T @ (origin - motion.position) for motion in carried]
        self.chain = TrackChain(design, self.frames(motions), track.spec.chain.sub_step)

    @property
    def shoes(self) -> Bodies:
        """All of the chain's."""
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
        """Per-shoe tension, contact and slip."""
        return self.chain.read(self.frames(self._motions()))

    def set_motor_command(self, speed: float, limit: float) -> None:
        """Command the drive: a target speed of the belt [m/s] and a force limit [N]."""
        self._target, self._limit = speed, limit

    def roll_back(self, phase: float) -> float:
        """Nothing: a chain goes round and round."""
        return phase

    def reset_to_mount(self) -> None:
        """Lay the chain around its wheels, where the vehicle is, at rest."""
        self.chain.assemble(self.frames(self._motions()))

    def set_friction(self, friction: float) -> None:
        """Set the track's friction against terrain of friction 1."""
        self.chain.set_friction(friction)

    def snapshot(self) -> TrackSnapshot:
        """The state of the chain, its wheels and its contacts."""
        return self.chain.snapshot()

    def restore(self, snapshot: TrackSnapshot) -> None:
        """Go back to a snapshot, with the vehicle where it was."""
        self.chain.restore(snapshot)
        self.chain.set_parent_motion(self.frames(self._motions()))

    @property
    def drive(self) -> DriveCommand:
        """What the drive is told."""
        return DriveCommand(self._target, self._limit)

    def _motions(self) -> dict[int, FrameMotion]:
        return {link: link_motion(self._client, self.track_joints.body, link) for link in self.carriers}

    def frames(self, motions: Mapping[int, FrameMotion]) -> ParentFrames:
        """The track frame on each link that carries wheels."""
        carried = [motions[link] for link in self.carriers]
        origins = [m.position + m.rotation @ own for m, own in zip(carried, self._origins, strict=True)]
        arms = [origin - motion.center for origin, motion in zip(origins, carried, strict=True)]
        return ParentFrames(
            np.array(origins),
            np.array([m.rotation @ own for m, own in zip(carried, self._rotations, strict=True)]),
            np.array([_velocity_at(arm, motion) for arm, motion in zip(arms, carried, strict=True)]),
            np.array([motion.angular_velocity for motion in carried]),
        )


def link_index(track: TrackJoints, name: str) -> int:
    """Index of a link of a track's vehicle.

    Raises:
        UnknownNameError: There is none of that name.
    """
    if name not in track.links:
        raise UnknownNameError(f"link for the chain of {track.mounted.name}", name, track.links)
    return track.links[name]


def _velocity_at(arm: np.ndarray, motion: FrameMotion) -> np.ndarray:
    """Velocity [m/s] of a link's point, `arm` (3,) from its centre of mass [m]; `np.cross` takes 20 us."""
    return motion.velocity + cross(vector(motion.angular_velocity), vector(arm))


class ChainBeltGroup(BeltGroup):
    """All the chains of a vehicle."""

    def __init__(self, client: int, body: int, belts: tuple[ChainBelt, ...]) -> None:
        """Note which links carry them."""
        self._client, self._body, self._belts = client, body, belts
        self._links = tuple(dict.fromkeys(link for belt in belts for link in belt.carriers))
        self._weigh()
        self._arms = {
            link_index(belt.track_joints, name): arm
            for belt in belts
            if belt.spec.chain is not None
            for name, arm in belt.spec.chain.suspension.items()
        }
        free_joints(client, body, self._arms)
        tension_tracks([belt.chain for belt in belts])
        for belt in belts:
            belt.reset_to_mount()

    def read(self) -> list[BeltReading]:
        """The belts, in the order of the tracks."""
        return [belt.read() for belt in self._belts]

    def advance(self, damping_rate: float) -> None:
        """Take all chains through the time of PyBullet's next step, and apply what they do to the vehicle.

        Args:
            damping_rate: Rate at which velocities decay besides [1/s].

        Raises:
            DivergedError: A link is lost.
            InvalidValueError: PyBullet's time step is too long.
        """
        engine = pybullet.getPhysicsEngineParameters(physicsClientId=self._client)
        if engine["fixedTimeStep"] > MAX_TIME_STEP:
            expected = f"at most {MAX_TIME_STEP:g} with link chains"
            raise InvalidValueError("time_step [s]", expected, engine["fixedTimeStep"])
        x, y, z = (engine[f"gravityAcceleration{axis}"] for axis in "XYZ")
        motions = {link: link_motion(self._client, self._body, link) for link in self._masses}
        wrenches = {link: np.zeros(6) for link in self._links}
        means = advance_tracks(
            [belt.chain for belt in self._belts],
            [belt.frames(motions) for belt in self._belts],
            [belt.drive for belt in self._belts],
            self._vehicle(motions, (x, y, z)),
            engine["fixedTimeStep"],
            damping_rate,
        )
        for belt, own in zip(self._belts, means, strict=True):
            for link, mean in zip(belt.carriers, own, strict=True):
                wrench, arm = wrenches[link], vector(mean.point - motions[link].center)
                wrench[:3] += mean.force
                wrench[3:] += mean.torque + cross(arm, vector(mean.force))
        self._spring()
        for link, wrench in wrenches.items():
            force, torque = vector(wrench[:3]), vector(wrench[3:])
            center = vector(motions[link].center)
            pybullet.applyExternalForce(
                self._body, link, force, center, pybullet.WORLD_FRAME, physicsClientId=self._client
            )
            pybullet.applyExternalTorque(
                self._body, link, torque, pybullet.WORLD_FRAME, physicsClientId=self._client
            )

    def _weigh(self) -> None:
        """Read the links' masses; what is changed of them later counts when the ground is set again."""
        links = range(-1, pybullet.getNumJoints(self._body, physicsClientId=self._client))
        self._masses = {link: link_mass(self._client, self._body, link) for link in links}

    def _spring(self) -> None:
        """Load the joints of sprung arms, whose links' numbers are theirs."""
        for joint, arm in self._arms.items():
            position, speed, *_ = pybullet.getJointState(self._body, joint, physicsClientId=self._client)
            load = -arm.stiffness * (position - arm.free_position) - arm.damping * speed
            pybullet.setJointMotorControl2(
                self._body, joint, pybullet.TORQUE_CONTROL, force=load, physicsClientId=self._client
            )

    def _vehicle(
        self, motions: Mapping[int, FrameMotion], gravity: tuple[float, float, float]
    ) -> CompositeBody:
        """All links together, as if no joint moved; one whose root has no mass is fixed to the world."""
        if self._masses[-1].mass == 0:
            return KINEMATIC._replace(gravity=gravity)
        mass = sum(own.mass for own in self._masses.values())
        center, inertia = np.zeros(3), np.zeros((3, 3))
        for link, motion in motions.items():
            center += self._masses[link].mass / mass * motion.center
        for link, motion in motions.items():
            own, arm = self._masses[link], motion.center - center
            inertia += motion.rotation @ own.inertia @ motion.rotation.T
            inertia += own.mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
        return CompositeBody(center, 1 / mass, np.asarray(np.linalg.inv(inertia), dtype=float), gravity)

    def update_terrain(self, terrains: Sequence[Terrain]) -> None:
        """Let the chains stand on these terrains."""
        ground = pack_ground(terrains)
        self._weigh()
        for belt in self._belts:
            belt.chain.set_ground(ground)
