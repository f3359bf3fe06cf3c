"""One vehicle in PyBullet: its bodies, and what happens to it before each step."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from functools import cached_property, wraps
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pybullet
from numpy.typing import NDArray

from segtrack.bullet.belts import ChainView
from segtrack.bullet.client import connection_required, require_body
from segtrack.bullet.frames import (
    LoopGuard,
    link_mass,
    link_motion,
    links_beyond,
    move_bodies,
    moving_joints,
    place_base,
    read_belt_contacts,
    scale_velocities,
    step_duration,
    vector,
)
from segtrack.bullet.joints import BulletJoint, Mechanism
from segtrack.bullet.loader import load, track_builder
from segtrack.bullet.loose_bodies import LooseBodyWatch
from segtrack.bullet.model import BeltReading, Push
from segtrack.bullet.surface_watch import SurfaceWatch, thinnest_part
from segtrack.bullet.track import BulletFlipper, BulletTrack
from segtrack.description import (
    Frame,
    PlacedTrack,
    VehicleDescription,
    belt_corners,
    farthest_reach,
    shapes_on_links,
)
from segtrack.engine import (
    ABSURD_SPEED,
    ActuatorState,
    BeltContacts,
    BeltState,
    Bodies,
    FrameMotion,
    JointState,
    Lifetime,
    Pedals,
    VehicleModel,
    what_diverged,
)
from segtrack.errors import DivergedError, NotReadyError, SegtrackError
from segtrack.terrain import Terrain

if TYPE_CHECKING:
    from segtrack.chain import ChainPose, ChainReading, TrackDesign
    from segtrack.compliant import GrouserReading

_FAR = 1e3
"""Distance at which bodies touch nothing [m]."""

Vector = tuple[float, ...]
Read = TypeVar("Read", bound=Callable[..., Any])
_KEPT: list[tuple[Callable[..., Any], Callable[[BulletVehicle], Iterable[Any]] | None]] = []
"""Readings of a vehicle that outlive its world, and what each of them is of."""


def kept(each: Callable[[BulletVehicle], Iterable[Any]] | None = None) -> Callable[[Read], Read]:
    """Let a reading, of `each` part of a vehicle, stay what it was when the vehicle's world was closed."""

    def decorate(read: Any) -> Any:
        _KEPT.append((read, each))

        @wraps(read)
        def reading(vehicle: BulletVehicle, *part: Any) -> Any:
            last = vehicle.last_readings
            if last is None or (read.__name__, part) not in last:
                return read(vehicle, *part)
            result = last[read.__name__, part]
            if isinstance(result, SegtrackError):
                raise result
            return deepcopy(result)  # The reader's own, as any other.

        return reading

    return decorate


def _tracks(vehicle: BulletVehicle) -> range:
    return range(len(vehicle.tracks))


def _joints(vehicle: BulletVehicle) -> range:
    return range(len(vehicle.flippers) + len(vehicle.joints))


class BulletVehicle(VehicleModel):
    """A vehicle that has been loaded into PyBullet.

    Attributes:
        physics_client_id: PyBullet's id of its client.
        body_id: PyBullet's unique id of its multibody.
        links: Link index by link name; the root is -1.
        body_ids: `body_id`, and those of belts' own bodies.
        tracks: Tracks in the order of the description.
        flippers: Flippers in the order of the description.
        joints: Joints of the body's URDF that move.
        last_readings: Readings and errors of when its world was closed; None before, and in nobody's world.
    """

    last_readings: dict[Any, Any] | None = None

    def __init__(
        self,
        client: int,
        description: VehicleDescription,
        track_model: str,
        position: Sequence[float],
        orientation: Sequence[float],
        flippers: Mapping[str, float],
    ) -> None:
        """Load the vehicle, see `Engine.add_vehicle`."""
        loaded = load(client, description, track_model, position, orientation)
        self.physics_client_id, self.description = client, description
        self.joint_designs = [joint.design for joint in loaded.joints]
        self.body_id, self.links = loaded.body, loaded.links
        self.body_ids = (self.body_id, *(body for belt in loaded.belts for body in belt.bodies))
        self._guard = LoopGuard(client, self.body_ids, description.name)
        self.tracks = tuple(BulletTrack(belt) for belt in loaded.belts)
        self.flippers = tuple(
            BulletFlipper(client, self.body_id, flipper, self._guard, self._reset_belts_beyond)
            for flipper in loaded.flippers
        )
        # Duration of the latest step, or of that which is prepared; 0 once its work is booked.
        self._step = 0.0
        self._belts = loaded.belt_group
        self._kept: list[BeltReading] | None = None
        self._force: Push | None = None
        self._watch = LooseBodyWatch(client, self.body_ids, description.name)
        links_of = track_builder(track_model).track_links
        thinnest = min(thinnest_part(links_of(track.spec)) for track in description.mounted_tracks())
        self._surfaces = SurfaceWatch(client, self.body_ids, description.name, thinnest)
        self._is_rigid = False
        for flipper in self.flippers:
            flipper.place(flippers[flipper.name])
        self._mechanism = Mechanism(client, loaded, self._guard, self._reset_belts_beyond)
        self._reset_belts(self.tracks)
        self.joints = self._mechanism.joints
        self._moving: tuple[BulletFlipper | BulletJoint, ...] = (*self.flippers, *self.joints)
        motors = {flipper.joint: flipper.motor for flipper in self.flippers}
        self._belts.connect(motors | {joint.joint: joint.motor for joint in self._mechanism.joints})
        self._view = ChainView(client, loaded.belts)

    def join_world(self, lifetime: Lifetime) -> None:
        """Let a world prepare its steps, and nobody else's loop, as long as that is open."""
        self._guard.lifetime = lifetime

    def keep_readings_for_good(self) -> None:
        """Keep all that can be read of it: its world is about to be closed."""
        last: dict[Any, Any] = {}
        for read, each in _KEPT:
            for part in [()] if each is None else [(one,) for one in each(self)]:
                with suppress(pybullet.error), np.errstate(all="ignore"):  # It may have diverged.
                    try:
                        last[read.__name__, part] = read(self, *part)
                    except SegtrackError as error:
                        last[read.__name__, part] = error.with_traceback(None)
        self.last_readings = last

    @property
    @kept()
    def mass(self) -> float:
        """Total mass, including chains and plates that are not PyBullet links [kg]."""
        client = self.physics_client_id
        self._guard.require_present(f"weigh {self.description.name}")
        with connection_required(client, f"weigh {self.description.name}", self.body_id):
            infos = [pybullet.getDynamicsInfo(*link, physicsClientId=client) for link in self.all_links()]
        shoes = sum(track.belt.shoes.masses.sum() for track in self.tracks)
        return float(sum(info[0] for info in infos) + shoes)

    @kept()
    def body_motion(self) -> FrameMotion:
        """Pose and velocity of the body frame."""
        self._guard.check()
        return link_motion(self.physics_client_id, self.body_id, -1)

    @kept(_tracks)
    def track_motion(self, track: int) -> FrameMotion:
        """Pose and velocity of the link that a track is mounted on."""
        joints = self.tracks[track].belt.track_joints
        self._guard.require_present(f"read the link of {joints.mounted.name}")
        return link_motion(self.physics_client_id, joints.body, joints.parent_link)

    @kept(_tracks)
    def belt_state(self, track: int) -> BeltState:
        """A belt as it was read last, which is before the latest step."""
        self._guard.check()
        drive = self.tracks[track].drive
        return BeltState(drive.travel, drive.speed, drive.force, drive.energy)

    def belt_command(self, track: int) -> float:
        """Commanded belt speed [m/s], the last one while pedals rule."""
        return self.tracks[track].drive.command

    def belt_pedals(self, track: int) -> Pedals | None:
        """Throttle and brake that rule a belt's drive; None where a commanded speed does."""
        return self.tracks[track].drive.pedals

    @kept(_joints)
    def joint_state(self, joint: int) -> JointState:
        """A joint after the latest step."""
        return self._moving[joint].state

    def read_actuators(self) -> ActuatorState:
        """Return the state of all belts, flippers and joints in one reading."""
        belts = np.reshape([self.belt_state(track) for track in _tracks(self)], (-1, 4))
        joints = np.reshape([self.joint_state(joint) for joint in _joints(self)], (-1, 3))
        flippers = len(self.flippers)
        return ActuatorState(*belts.T, *joints[:flippers].T, *joints[flippers:].T)

    def command_belts(self, tracks: slice, speeds: NDArray[np.float64] | Sequence[Any]) -> None:
        """Command speeds of some tracks [m/s]."""
        self._guard.check()
        for track, speed in zip(self.tracks[tracks], speeds, strict=True):
            track.drive.command, track.drive.pedals = float(speed), None

    def command_pedals(self, tracks: slice, pedals: NDArray[np.float64] | Sequence[Any]) -> None:
        """Let throttle and brake rule the drives of some tracks."""
        self._guard.check()
        for track, own in zip(self.tracks[tracks], pedals, strict=True):
            track.drive.pedals = Pedals(*map(float, own))

    def command_joint(self, joint: int, as_speed: bool, value: float) -> None:
        """Let a flipper's motor, or a servo, move a joint."""
        self._moving[joint].move(as_speed, value)

    def place_joint(self, joint: int, position: float) -> None:
        """Set a joint to a position [rad] or [m] at once, at rest."""
        self._moving[joint].place(position)

    def set_friction(self, track: int, friction: float) -> None:
        """Set a track's friction against terrain of friction 1."""
        self._guard.require_present(f"set the friction of {self.tracks[track].mounted.name}")
        self.tracks[track].set_friction(friction)

    def scale_drive(self, track: int, factor: float) -> None:
        """Make a track's drive `factor` times as strong as described."""
        self._guard.require_present(f"scale the drive of {self.tracks[track].mounted.name}")
        self.tracks[track].drive.factor = factor

    @property
    def has_chains(self) -> bool:
        """True if its belts are link chains."""
        return any(track.belt.chain is not None for track in self.tracks)

    def chain_design(self, track: int) -> TrackDesign:
        """Design of a link chain: shoes, bushings and wheels."""
        chain = self.tracks[track].belt.chain
        return super().chain_design(track) if chain is None else chain.design

    @kept(_tracks)
    def read_chain(self, track: int) -> ChainReading:
        """Return per-shoe tension, contact and slip, after the latest step."""
        self._guard.require_present(f"read the chain of {self.tracks[track].mounted.name}")
        reading = self.tracks[track].belt.read_chain()
        return super().read_chain(track) if reading is None else reading

    @kept(_tracks)
    def read_chain_pose(self, track: int) -> ChainPose:
        """Return the poses of shoes and wheels of a link chain."""
        self._guard.require_present(f"read the chain of {self.tracks[track].mounted.name}")
        pose = self.tracks[track].belt.read_chain_pose()
        return super().read_chain_pose(track) if pose is None else pose

    @kept(_tracks)
    def read_grousers(self, track: int) -> GrouserReading:
        """Return per-grouser load, slip and sinkage, after the latest step."""
        self._guard.require_present(f"read the grousers of {self.tracks[track].mounted.name}")
        reading = self.tracks[track].belt.read_grousers()
        return super().read_grousers(track) if reading is None else reading

    @property
    def pybullet_body(self) -> tuple[int, Mapping[str, int]]:
        """PyBullet's unique id of the vehicle's own body, and its link index by link name."""
        return self.body_id, self.links

    @kept()
    def read_belt_contacts(self) -> list[BeltContacts]:
        """Read contacts of belts that PyBullet collides; see `Robot.read_belt_contacts`."""
        self._guard.require_present(f"read the contacts of {self.description.name}")
        owners = {
            joint: track.mounted.name for track in self.tracks for joint in track.belt.track_joints.joints
        }
        name, client = self.description.name, self.physics_client_id
        return read_belt_contacts(client, self.body_id, name, self.links, owners)

    @kept(lambda vehicle: vehicle.link_names)
    def link_frame(self, name: str) -> Frame:
        """Frame of a link of `link_names` in the world, wherever its joints are."""
        self._guard.require_present(f"read link {name} of {self.description.name}")
        link = -1 if name == "body" and name not in self.links else self.links[name]
        motion = link_motion(self.physics_client_id, self.body_id, link)
        return Frame(motion.rotation, motion.position)

    @kept()
    def bodies(self) -> Bodies:
        """All links, and the shoes of link chains."""
        self._guard.require_present(f"read the bodies of {self.description.name}")
        links, kinetic = self.all_links(), 0.0
        masses, positions, velocities = np.zeros(len(links)), np.zeros((len(links), 3)), []
        for i, (body, link) in enumerate(links):
            own = link_mass(self.physics_client_id, body, link)
            motion = link_motion(self.physics_client_id, body, link)
            spin = motion.rotation.T @ motion.angular_velocity
            masses[i], positions[i] = own.mass, motion.center
            velocities.append(motion.velocity)
            kinetic += float(own.mass * motion.velocity @ motion.velocity + spin @ own.inertia @ spin) / 2
        shoes = [track.belt.shoes for track in self.tracks]
        return Bodies(
            np.concatenate([masses, *(s.masses for s in shoes)]),
            np.concatenate([positions, *(s.positions for s in shoes)]),
            np.concatenate([velocities, *(s.velocities for s in shoes)]),
            kinetic + sum(s.kinetic_energy for s in shoes),
        )

    @kept()
    def bounds(self) -> tuple[Vector, Vector]:
        """Smallest and largest corner of the box around what can touch, in the world [m].

        Belts that PyBullet collides count with grousers everywhere. Bullet's own boxes are no measure: a
        link that is turned has the box around its box; they stand in for meshes that only PyBullet can use.
        """
        client = self.physics_client_id
        self._guard.require_present(f"measure {self.description.name}")
        parts = []
        for link, frame, corners in shapes_on_links(self.description):
            if corners is None:
                box = pybullet.getAABB(self.body_id, self.links[link], physicsClientId=client)
                parts.append(np.array(box))
            else:
                parts.append((self.link_frame(link) @ frame).points(corners))
        for t, track in enumerate(self.tracks):
            points = track.belt.points
            if not len(points):
                parent = self.track_motion(t)
                frame = Frame(parent.rotation, parent.position) @ track.mounted.spec.mount.frame
                points = belt_corners(PlacedTrack(track.mounted, frame))
            parts.append(points)
        points = np.concatenate(parts)
        return tuple(points.min(axis=0).tolist()), tuple(points.max(axis=0).tolist())

    def place(self, position: Sequence[float], orientation: Sequence[float]) -> None:
        """Set the body frame's pose in the world, at rest; joints stay as they are."""
        self._guard.require_present(f"place {self.description.name}")
        with connection_required(self.physics_client_id, f"place {self.description.name}", self.body_id):
            place_base(self.physics_client_id, self.body_id, position, orientation)
        self._reset_belts(self.tracks)

    def _reset_belts_beyond(self, joint: int) -> None:
        """Reset the belts of which a joint that was placed carries the mount or a wheel."""
        moved = links_beyond(self.physics_client_id, self.body_id, joint)
        self._reset_belts([track for track in self.tracks if not moved.isdisjoint(track.belt.parent_links)])

    def _reset_belts(self, tracks: Sequence[BulletTrack]) -> None:
        before = self._readings()
        self._book_work()
        for track in tracks:
            track.reset_to_mount()
        at_rest = self._read_at_rest()
        pairs = zip(self.tracks, at_rest, before, strict=True)
        self._kept = [rest if track in tracks else reading for track, rest, reading in pairs]

    def _book_work(self) -> None:
        """Record the latest step before poses or speeds are set: it has done no work at those.

        The next one is then to be prepared, wherever the vehicle stands.
        """
        for track, reading in zip(self.tracks, self._readings(), strict=True):
            track.book(reading, self._step)
        self._step, self._guard.prepared = 0.0, None

    def _read_at_rest(self) -> list[BeltReading]:
        """The belts after their speeds have been set: no step has led to those, and no force."""
        return [reading._replace(force=0.0) for reading in self._belts.read()]

    def _readings(self) -> list[BeltReading]:
        """The belts after the latest step."""
        return self._belts.read() if self._kept is None else self._kept

    def set_velocity(self, forward: float) -> None:
        """Let all its parts move forward along the body's x axis [m/s], belts running so that none slips."""
        self._guard.check()
        axis = self.body_motion().rotation[:, 0]
        self._book_work()
        move_bodies(self.physics_client_id, self.moving_joints, vector(forward * axis))
        for track in self.tracks:
            track.run_belt(forward)
        self._kept = self._read_at_rest()

    def apply_force(self, force: Sequence[float], point: Sequence[float]) -> None:
        """Apply a force to the body in each step from now on, until it is set again."""
        self._guard.require_present(f"push {self.description.name}")
        (x, y, z), (u, v, w) = map(float, force), map(float, point)
        self._force = Push((x, y, z), (u, v, w)) if x or y or z else None

    def before_step(self) -> None:
        """Prepare for the next step of somebody else's loop; to be called exactly once before each.

        Raises:
            DivergedError: A body or belt is not finite, or absurdly fast.
            NotReadyError: A world takes the steps, or no step has been taken since the last call.
            DisconnectedError: The client is gone.
        """
        if self._guard.lifetime is not None:
            self._guard.require_present(f"step {self.description.name}")
            raise NotReadyError(f"step {self.description.name}", "its world does, see World.step")
        self._guard.begin_step(self._step)
        self.check_speed()
        if self._watch.is_due():
            self.warn_of_loose_bodies()
        step = step_duration(self.physics_client_id)
        self._surfaces.warn(self.approach_surfaces(step, {}), step)
        self.prepare_step(step)

    def approach_surfaces(self, step: float, terrain: Mapping[int, bool]) -> float:
        """Let its tracks' contacts be rigid in the next step if it falls on ground of triangles.

        Args:
            step: Duration that the step is meant to have [s].
            terrain: True for bodies of triangles, by PyBullet's id, as far as they are known.

        Returns:
            Longest duration of the step in which its tracks do not pass such ground [s]; infinite where there
            is none within reach.
        """
        try:  # As in `prepare_step`.
            longest, falls = self._surfaces.look(step, terrain)
            if falls != self._is_rigid:
                for track in self.tracks:
                    track.belt.set_rigid(falls)
                self._is_rigid = falls
        except pybullet.error:
            require_body(self.physics_client_id, f"step {self.description.name}", self.body_id)
            raise
        return longest

    def keep_readings(self) -> None:
        """Read the belts before PyBullet is told another duration, by which it divides impulses."""
        self._kept = self._readings()

    def prepare_step(self, step: float, damping_rate: float = 0.0) -> None:
        """Read the belts, roll back those that are due, and command the drives.

        Args:
            step: Duration of the step that follows [s].
            damping_rate: Rate at which the speed of a chain's shoes and wheels decays besides [1/s]; that
                of PyBullet's own links is up to `damp`.

        Raises:
            DisconnectedError: The client is gone.
        """
        self._guard.require_present(f"step {self.description.name}")
        self._guard.is_prepared = True
        # Called each step: a plain `try` is a microsecond cheaper than `connection_required`.
        try:
            readings, self._kept = self._readings(), None
            taken, self._step = self._step, step
            self._mechanism.apply(step)
            for track, reading in zip(self.tracks, readings, strict=True):
                track.record_step(reading, taken, step)
            self._belts.advance(damping_rate, self._force)
            if self._force is not None:
                pybullet.applyExternalForce(
                    self.body_id,
                    -1,
                    *self._force,
                    pybullet.WORLD_FRAME,
                    physicsClientId=self.physics_client_id,
                )
        except pybullet.error:
            require_body(self.physics_client_id, f"step {self.description.name}", self.body_id)
            raise
        self._view.refresh()

    def damp(self, remaining: float) -> None:
        """Scale the velocities of all of PyBullet's bodies and joints, by a factor [-]."""
        scale_velocities(self.physics_client_id, self.moving_joints, remaining)

    def check_speed(self, time: float | None = None) -> None:
        """Refuse to go on with what is not physical.

        Args:
            time: Simulated time, for the message [s]; None in somebody else's loop, whose time it is.

        Raises:
            DivergedError: A body or belt is not finite, or absurdly fast.
        """
        client = self.physics_client_id
        with connection_required(client, f"step {self.description.name}", self.body_id):
            moving = [pybullet.getBaseVelocity(body, physicsClientId=client) for body in self.body_ids]
            place = pybullet.getBasePositionAndOrientation(self.body_id, physicsClientId=client)[0]
            flippers = [abs(flipper.state.speed) for flipper in self.flippers]
        (velocity, spin), *loose = moving
        reach = self._farthest_reach
        speeds = {"its body": math.hypot(*velocity), "the rotation of its body": reach * math.hypot(*spin)}
        for flipper, rate in zip(self.flippers, flippers, strict=True):
            speeds[f"joint {flipper.name}"] = reach * rate
        # As in the native engine all of these may add up at one point.
        fastest = sum(list(speeds.values())[:2]) + reach * max(flippers, default=0.0)
        others = {f"body {k} of it": math.hypot(*linear) for k, (linear, _) in enumerate(loose, start=2)}
        others |= {f"belt {track.mounted.name}": abs(track.drive.speed) for track in self.tracks}
        speeds |= others
        finite, fastest = all(map(math.isfinite, speeds.values())), max(fastest, *others.values())
        if finite and fastest < ABSURD_SPEED:
            return
        how = f"a part of it is faster than {ABSURD_SPEED:g} m/s, up to {fastest:.3g} m/s"
        reason = f"{how if finite else 'its state is not finite'}: {what_diverged(speeds, place, velocity)}"
        raise DivergedError(self.description.name, time, reason)

    @cached_property
    def _farthest_reach(self) -> float:
        """Farthest of what can touch from the body's centre of mass [m]."""
        return farthest_reach(self.description)

    def warn_of_loose_bodies(self) -> None:
        """Warn of loose bodies that have come near belts which PyBullet does not collide."""
        self._watch.look(lambda: (points for t in self.tracks if len(points := t.belt.points) > 0))

    def update_terrain(self, terrains: Sequence[Terrain]) -> None:
        """Let belts that find their contacts themselves stand on these terrains."""
        self._guard.require_present(f"put {self.description.name} on other terrain")
        self._belts.update_terrain(terrains)

    def clear_contact_cache(self) -> None:
        """Clear Bullet's cache of this vehicle's contacts; to be called before a state is restored.

        A saved state holds contact points, but not the order of contacts between the parts of two
        links, on which what the solver finds depends. New contacts always come in one order.
        """
        self._guard.require_present(f"restore {self.description.name}")
        for body in self.body_ids:
            far = (0.0, 0.0, _FAR * (1 + body))
            place_base(self.physics_client_id, body, far, (0.0, 0.0, 0.0, 1.0))
        pybullet.performCollisionDetection(physicsClientId=self.physics_client_id)

    def snapshot(self) -> dict[str, Any]:
        """Return the state that PyBullet's own saved state lacks: commands, travel and work."""
        self._guard.require_present(f"save {self.description.name}")
        with connection_required(self.physics_client_id, f"save {self.description.name}", self.body_id):
            readings = self._readings()
        return {
            "readings": readings,
            "step": self._step,
            "prepared": self._guard.prepared,
            "force": self._force,
            "tracks": [track.snapshot() for track in self.tracks],
            "belts": self._belts.snapshot(),
            "flippers": [flipper.command for flipper in self.flippers],
            "joints": self._mechanism.snapshot(),
        }

    def restore(self, saved: dict[str, Any]) -> None:
        """Go back to a snapshot, together with PyBullet's own state."""
        self._guard.require_present(f"restore {self.description.name}")
        self._guard.prepared = saved["prepared"]
        # PyBullet's saved state lacks the motors' forces of the last step.
        self._kept, self._force = saved["readings"], saved["force"]
        self._step = saved["step"]
        for track, values in zip(self.tracks, saved["tracks"], strict=True):
            track.restore(values)
        self._belts.restore(saved["belts"])
        for flipper, command in zip(self.flippers, saved["flippers"], strict=True):
            flipper.set_motor_command(command)
        self._mechanism.restore(saved["joints"])

    def all_links(self) -> list[tuple[int, int]]:
        """PyBullet's body id and link index of each of its links."""
        client = self.physics_client_id
        return [
            (body, link)
            for body in self.body_ids
            for link in range(-1, pybullet.getNumJoints(body, physicsClientId=client))
        ]

    @cached_property
    def moving_joints(self) -> dict[int, list[int]]:
        """PyBullet's indices of the joints that can move, by body id."""
        return {body: moving_joints(self.physics_client_id, body) for body in self.body_ids}
