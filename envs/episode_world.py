"""Worlds of environments, single or batched, set up anew for each episode."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.description import Links, VehicleDescription, vehicle_links
from segtrack.engine import EngineName
from segtrack.envs.actuators import ActionMapping
from segtrack.envs.parameters import (
    BODY_PARAMETERS,
    COURSE_SOIL,
    GROUSER_PARAMETERS,
    LOAD_PARAMETERS,
    ROBOT_PARAMETERS,
    Values,
)
from segtrack.envs.task import EpisodeCourse, reach_of
from segtrack.errors import InvalidValueError, NotReadyError
from segtrack.experiments import with_body, with_grousers
from segtrack.geometry import MassProperties
from segtrack.robot import Robot
from segtrack.world import World

if TYPE_CHECKING:
    from segtrack.batch import Batch


_BULLET_PRESET = "coarse"


class EpisodeWorld:
    """World with one robot, set up anew for each episode.

    The robot is loaded before any terrain. At each episode the state right after loading is
    restored and the terrain put under it, so that an episode does not depend on those before it.
    The native engine then lets its body weigh otherwise, as a batch does; it is loaded anew with other
    grousers, and with another body or flippers where the belt is a chain or the engine PyBullet.

    Attributes:
        MAX_SOLIDS: Number of terrain solids after which the world is rebuilt: PyBullet keeps 4 kB of each
            removed one.
        world: World with the robot and the episode's terrain; empty before the first.
        preset: Name of the engine's preset.
        time_step: Time step of the world [s].
        robot: Robot of the world.
    """

    MAX_SOLIDS: ClassVar[int] = 2000
    robot: Robot

    def __init__(
        self,
        vehicle: VehicleDescription,
        *,
        engine: EngineName,
        track_model: str,
        preset: str | None,
        time_step: float | None,
        period: float,
        gui: bool,
    ) -> None:
        """Open an empty world, with a window if `gui`.

        Args:
            vehicle: Vehicle to load.
            engine: Name of the engine.
            track_model: Track model of the vehicle.
            preset: Name of the engine's preset; by default the engine's own, for PyBullet `coarse`.
            time_step: Time step in place of the preset's [s].
            period: Control period [s]; the time step is reduced so that a whole number fits.
            gui: True to show PyBullet's window.

        Raises:
            UnknownNameError: No such preset.
            InvalidValueError: A window for an engine that has none, or no time step.
            SegtrackError: There is no display for a window.
        """
        self._preset = _BULLET_PRESET if preset is None and engine == "pybullet" else preset
        self._vehicle, self._engine, self._track_model = vehicle, engine, track_model
        self.world = World(self._preset, engine=engine, time_step=time_step, gui=gui)
        self.preset = self.world.preset
        self._window, self._period = self.world if gui else None, period
        self.time_step = period / math.ceil(period / self.world.time_step - 1e-9)
        self._at_run_time = engine == "native" and track_model != "chain"
        self._own_contacts = engine == "pybullet" and track_model not in ("compliant", "surface", "chain")
        body = () if self._at_run_time else (*BODY_PARAMETERS, "flipper_torque")
        self._reach = reach_of(vehicle)
        self._shaping, self._mass_of = (*body, *GROUSER_PARAMETERS), BodyMass(vehicle)
        self._pushed = False
        self._loaded: dict[str, Any] | None = None
        self._solids = 0

    def close(self) -> None:
        """Close the world and the window; may be called again."""
        self.world.close()
        if self._window is not None:
            self._window.close()

    def invalidate(self) -> None:
        """Let the next episode load the robot anew, because the simulation diverged."""
        self._loaded = None

    def set_up(self, course: EpisodeCourse, values: Mapping[str, Any]) -> None:
        """Place the robot at the start of a course.

        Args:
            course: Terrain and path.
            values: Values of `ROBOT_PARAMETERS`.

        Raises:
            InvalidValueError: The vehicle cannot be changed like that, or not in this engine.
        """
        self._refuse_loads(values)
        loaded = {name: values[name] for name in self._shaping if name in values}
        if loaded != self._loaded or self._solids > self.MAX_SOLIDS:
            self._load(loaded)
        self.world.clear_terrain()
        self.world.restore(self._bare)
        self.world.set_gravity((0.0, 0.0, -values["gravity"]))
        if self._at_run_time:
            self._set_body(values)
        self.world.add_terrain(course.terrain)
        self._solids += len(course.terrain.solids())
        frictions = frictions_of(self._vehicle, values)
        for track, friction in zip(self.robot.tracks.values(), frictions, strict=True):
            track.set_friction(friction)
            track.scale_drive(values["drive_force"])
        self._pushed = False
        start = EpisodeStart.of(course, values, self._reach)
        for name, angle in start_angles(self._vehicle, values).items():
            if angle != 0.0:
                self.robot.flippers[name].place(angle)
        lean = {"roll": start.roll, "pitch": start.pitch}
        self.world.place_on_terrain(self.robot, start.x, start.y, start.yaw, **lean)
        if start.speed != 0.0:
            self.robot.set_velocity(start.speed)

    def act(self, actuators: ActionMapping, action: NDArray[np.float64], real_time: bool) -> None:
        """Command the robot, and simulate one control step.

        Args:
            actuators: Mapping of actions to commands.
            action: Action (n,), in [-1, 1].
            real_time: True to keep pace with the wall clock.

        Raises:
            DivergedError: The simulation has diverged.
        """
        actuators.command(self.robot, action)
        self.world.run(self._period, real_time=real_time)
        if self._pushed:
            self.robot.apply_force((0.0, 0.0, 0.0))
            self._pushed = False

    def push(self, change: NDArray[np.float64]) -> None:
        """Let a force in the next control step alone change the robot's velocity by so much (3,) [m/s]."""
        self._pushed = True
        force = change * self.robot.mass / self._period
        self.robot.apply_force(force.tolist(), self.robot.body_motion().center.tolist())

    def loads(self, robots: NDArray[np.intp]) -> NDArray[np.float64]:
        """Normal forces of each track and of all else of the robot (1, T + 1) [N], see `RobotReader`.

        Raises:
            NotReadyError: Not the native engine's track models `compliant` or `surface`.
        """
        if not self._at_run_time:
            reason = "they are those of belts compliant or surface in the engine native"
            raise NotReadyError("read loads of tracks", reason)
        model: Any = self.robot.model
        report, count = model.read_contacts(), len(self.robot.tracks) + 1
        return np.asarray(np.bincount(report.groups, report.normal_forces, count)[None], dtype=float)

    def slips(self, robots: NDArray[np.intp]) -> NDArray[np.float64]:
        """Longitudinal slip of each track of the robot (1, T) [-]."""
        return np.array([[track.slip for track in self.robot.tracks.values()]])

    def _refuse_loads(self, values: Mapping[str, Any]) -> None:
        """Refuse what the engine would ignore: soil under rigid contacts, loads that no vehicle file can say.

        Raises:
            InvalidValueError: There is such a change.
        """
        if values["soil"] != COURSE_SOIL and self._own_contacts:
            expected = f"{COURSE_SOIL!r} with PyBullet's own contacts, which no soil gives way to"
            raise InvalidValueError("soil", expected, values["soil"])
        for name in () if self._at_run_time else LOAD_PARAMETERS:
            default: Any = ROBOT_PARAMETERS[name].default
            if values[name] != default:
                expected = f"{default:g} but for belts compliant or surface in the engine native"
                raise InvalidValueError(name, expected, values[name])

    def _load(self, values: dict[str, Any]) -> None:
        """Load the robot anew with the parameter values that change its shape."""
        vehicle = self._vehicle
        if not self._at_run_time:
            vehicle = _with_torque(_balanced(vehicle, values), values.get("flipper_torque", 1.0))
        if values["grouser_height"] != 1.0 or values["grouser_count"] != 1.0:
            vehicle = with_grousers(vehicle, values["grouser_height"], values["grouser_count"])
        self._loaded = None
        self.world = self._open()
        self.robot = self.world.add_vehicle(vehicle, track_model=self._track_model)
        self._bare = self.world.save()
        self._loaded, self._solids = values, 0

    def _set_body(self, values: Mapping[str, Any]) -> None:
        """Set mass properties of the body, and the flippers' torque, from parameter values."""
        from segtrack.native import BeltVehicle  # With numba, which PyBullet does without.

        model, changed = self.robot.model, self._mass_of.changed(values)
        assert isinstance(model, BeltVehicle)
        if changed is not None:
            model.set_body(*changed)
        model.scale_flippers(values.get("flipper_torque", 1.0))

    def _open(self) -> World:
        """Open an empty world, with a window if there is to be one."""
        client = None
        if self._window is None:
            self.world.close()
        else:
            client = self._window.client
            client.resetSimulation()
        return World(
            self._preset, engine=self._engine, time_step=self.time_step, client=client, resettable=False
        )


def _balanced(vehicle: VehicleDescription, values: Mapping[str, Any]) -> VehicleDescription:
    """Copy of a vehicle whose body's mass properties follow parameter values."""
    mass, *offset = (values[name] for name in BODY_PARAMETERS)
    return with_body(vehicle, mass, offset) if mass != 1.0 or any(offset) else vehicle


def _with_torque(vehicle: VehicleDescription, factor: float) -> VehicleDescription:
    """Copy of a vehicle whose flippers' motors are `factor` times as strong."""
    flippers = {
        name: flipper.model_copy(update={"max_torque": factor * flipper.max_torque})
        for name, flipper in vehicle.flippers.items()
    }
    return vehicle.model_copy(update={"flippers": flippers}) if factor != 1.0 else vehicle


def frictions_of(vehicle: VehicleDescription, values: Mapping[str, Any]) -> list[float]:
    """Friction of each track of a vehicle by parameter values (T,)."""
    sides = {"left": values["friction_left"], "right": values["friction_right"]}
    given = values["friction"]
    return [
        (track.spec.contact.friction if given is None else given) * sides.get(track.side, 1.0)
        for track in vehicle.mounted_tracks()
    ]


_Body = tuple[float, NDArray[np.float64], NDArray[np.float64] | None]


def start_angles(vehicle: VehicleDescription, values: Mapping[str, Any]) -> dict[str, float]:
    """Angle of each flipper of a vehicle at the start of an episode, by name [rad]."""
    flippers = vehicle.flippers.items()
    return {name: values[f"initial_flippers_{flipper.tip_direction}"] for name, flipper in flippers}


class EpisodeStart(NamedTuple):
    """Start of an episode.

    Attributes:
        x: World x of the body frame [m].
        y: World y of the body frame [m].
        yaw: Heading [rad].
        roll: Roll [rad].
        pitch: Elevation of the body's x axis, nose up positive [rad].
        speed: Forward speed [m/s].
    """

    x: float
    y: float
    yaw: float
    roll: float
    pitch: float
    speed: float

    @classmethod
    def of(cls, course: EpisodeCourse, values: Mapping[str, Any], reach: float) -> EpisodeStart:
        """Start on a course by parameter values; within the path it leans as the ground does.

        Args:
            course: Terrain and path.
            values: Values of `ROBOT_PARAMETERS`.
            reach: Distance ahead and behind at which the ground's height tells how it leans [m].
        """
        ahead, aside, yaw = (values[f"initial_{name}"] for name in ("x", "y", "yaw"))
        roll, pitch, speed = (values[f"initial_{name}"] for name in ("roll", "pitch", "speed"))
        if values["initial_progress"] == 0.0:
            x, y = course.path.points[0].tolist()
            return cls(x + ahead, y + aside, yaw, roll, pitch, speed)
        x, y = course.path.at(values["initial_progress"] * course.path.length)
        heading = course.path.locate(x, y).heading
        cosine, sine = math.cos(heading), math.sin(heading)
        x, y, yaw = x + cosine * ahead - sine * aside, y + sine * ahead + cosine * aside, yaw + heading
        forward = reach * np.array([math.cos(yaw), math.sin(yaw)])
        behind, before = course.terrain.height_at(
            *(np.array([[x, y]]) + [[-1.0], [1.0]] * forward).T
        ).tolist()
        rise = math.atan2(before - behind, 2 * reach)
        return cls(x, y, yaw, roll, pitch + (rise if math.isfinite(rise) else 0.0), speed)


class BodyMass:
    """Mass properties of a vehicle's body, without belts and flippers, by parameter values."""

    def __init__(self, vehicle: VehicleDescription) -> None:
        """Start from a vehicle."""
        self._vehicle = vehicle

    @cached_property
    def _links(self) -> Links:
        return vehicle_links(self._vehicle)

    @property
    def file(self) -> _Body:
        """Mass properties by the vehicle's file."""
        return self._links.body.mass, self._links.body.center, None

    def changed(self, values: Mapping[str, Any]) -> _Body | None:
        """Mass [kg], centre of mass (3,) [m] and inertia about it (3, 3) [kg m^2]; None if unchanged.

        The inertia is None where it is the vehicle's, in proportion to the mass.

        Raises:
            InvalidValueError: The vehicle cannot be changed like that.
        """
        body = _balanced(self._vehicle, values).body
        inertia, payload, *place = (values[name] for name in LOAD_PARAMETERS)
        if inertia == 1.0 and payload == 0.0:
            if body is self._vehicle.body or body.mass is None:
                return None
            return body.mass, np.array(body.center_of_mass), None
        given = self._links.body
        mass = given.mass if body.mass is None else body.mass
        center = given.center if body.mass is None else body.center_of_mass
        loaded = MassProperties.of(mass, center, given.inertia * (mass / given.mass) * inertia)
        loaded += MassProperties.of(payload * self._links.mass, place, np.zeros((3, 3)))
        return loaded.mass, loaded.center, loaded.inertia


class EpisodeBatch:
    """Batch whose robots are placed at the start of episodes one by one."""

    def __init__(self, vehicle: VehicleDescription, batch: Batch, period: float) -> None:
        """Wrap a batch of unchanged vehicles, except for grousers; a control step lasts `period` [s]."""
        self._period, self._reach = period, reach_of(vehicle)
        self._vehicle, self._batch, self._mass_of = vehicle, batch, BodyMass(vehicle)
        start = tuple(_default(name) for name in _WEIGHING)
        self._bodies: list[tuple[float, ...]] = [start] * len(batch)
        self._torques, self._pushed = np.ones(len(batch)), False

    def set_up(
        self, chosen: NDArray[np.intp], courses: Sequence[EpisodeCourse], values: Sequence[Values]
    ) -> None:
        """Place robots at the start of courses.

        Args:
            chosen: Indices of the robots (n,).
            courses: Terrain and path of each robot (n,).
            values: Values of `ROBOT_PARAMETERS` for each robot (n,).

        Raises:
            InvalidValueError: The vehicle cannot be changed like that.
        """
        batch, indices = self._batch, chosen.tolist()
        bodies = [tuple(own[name] for name in _WEIGHING) for own in values]
        changed = [k for k, i in enumerate(indices) if bodies[k] != self._bodies[i]]
        self._weigh(chosen[changed], [values[k] for k in changed])
        for k in changed:
            self._bodies[indices[k]] = bodies[k]
        batch.set_friction(np.array([frictions_of(self._vehicle, own) for own in values]), chosen)
        batch.scale_drives([v["drive_force"] for v in values], chosen)
        torques = np.array([v.get("flipper_torque", 1.0) for v in values])
        others = torques != self._torques[chosen]
        if others.any():
            batch.scale_flippers(torques[others], chosen[others])
            self._torques[chosen] = torques
        batch.set_gravity([v["gravity"] for v in values], chosen)
        pairs = zip(courses, values, strict=True)
        starts = np.array([EpisodeStart.of(course, own, self._reach) for course, own in pairs])
        angles = [start_angles(self._vehicle, own) for own in values]
        made = np.array([course.index is not None for course in courses])
        for rows, indexed in ((np.flatnonzero(made), True), (np.flatnonzero(~made), False)):
            if len(rows):
                some = [courses[k] for k in rows.tolist()]
                grounds: dict[str, Any] = (
                    {"terrain_index": [course.index for course in some]}
                    if indexed
                    else {"terrain": [course.terrain for course in some]}
                )
                given = dict(zip(EpisodeStart._fields, starts[rows].T, strict=True))
                flippers = {name: [angles[k][name] for k in rows.tolist()] for name in self._vehicle.flippers}
                batch.reset(chosen[rows], **given, flippers=flippers, **grounds)

    @property
    def memory(self) -> dict[str, Any]:
        """State of the robots besides the batch's own, for `recall`."""
        return {name: vars(self)[name] for name in ("_bodies", "_torques", "_pushed")}

    def recall(self, memory: Mapping[str, Any]) -> None:
        """Take a copy of `memory` again, once the batch is as it was then."""
        vars(self).update(memory)

    def push(self, chosen: NDArray[np.intp], changes: NDArray[np.float64] | None) -> None:
        """Let forces in the next control step change velocities.

        Args:
            chosen: Indices of the robots (n,); the others are not pushed.
            changes: Changes of their velocities (n, 3) [m/s]; None for no forces.
        """
        if changes is None and not self._pushed:
            return
        self._pushed, batch = changes is not None, self._batch
        forces = np.zeros((len(batch), 3))
        if changes is not None:
            forces[chosen] = changes * batch.mass[chosen, None] / self._period
        batch.apply_force(forces, batch.state.center)

    def loads(self, robots: NDArray[np.intp]) -> NDArray[np.float64]:
        """Normal forces of each track and of all else of robots (n, T + 1) [N], see `RobotReader`."""
        contacts, count = self._batch.read_contacts(robots), len(self._batch.track_names) + 1
        row = np.searchsorted(robots, contacts.vehicle)
        places = row * count + contacts.track % count
        sums = np.bincount(places, contacts.normal_force, len(robots) * count)
        return np.asarray(sums.reshape(-1, count), dtype=float)

    def slips(self, robots: NDArray[np.intp]) -> NDArray[np.float64]:
        """Longitudinal slip of each track of robots (n, T) [-]."""
        return np.asarray(self._batch.tracks.slip[robots])

    def _weigh(self, chosen: NDArray[np.intp], values: Sequence[Values]) -> None:
        """Set the mass properties of bodies from parameter values of their robots (n,)."""
        bodies = [self._mass_of.changed(own) or self._mass_of.file for own in values]
        for loaded in (False, True):
            rows = [k for k, (*_, inertia) in enumerate(bodies) if (inertia is not None) == loaded]
            if rows:
                mass, center, inertia = zip(*(bodies[k] for k in rows), strict=True)
                inertias = {"inertia": np.array(inertia)} if loaded else {}
                self._batch.set_body(
                    chosen[rows], mass=np.array(mass), center_of_mass=np.array(center), **inertias
                )


_WEIGHING = (*BODY_PARAMETERS, *LOAD_PARAMETERS)


def _default(name: str) -> Any:
    return ROBOT_PARAMETERS[name].default
